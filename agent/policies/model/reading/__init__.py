"""Data read by a model: records, whole lists, loop values."""
