"""Pages of sessions."""
