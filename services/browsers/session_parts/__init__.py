"""What a worker supplies to a session."""
