"""Parts that a worker supplies to a session."""
