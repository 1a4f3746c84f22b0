"""Redaction of traces and recordings as they leave their worker: nothing that may be a secret stays in them."""
