"""Redaction: values that are secret by name or by content, their spellings in texts, and what stands in their place."""
