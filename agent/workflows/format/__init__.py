"""The format of a workflow: frozen records, read from JSON and written to it."""
