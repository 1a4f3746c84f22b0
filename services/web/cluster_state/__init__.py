"""The state of the cluster, for status, metrics and pages."""
