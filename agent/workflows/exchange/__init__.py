"""Workflows of other programs, read and written. What a format cannot say is named, and never dropped in silence."""
