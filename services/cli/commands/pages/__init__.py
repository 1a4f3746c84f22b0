"""Commands that work on one page, without a cluster."""
