"""The records of a list page."""
