"""What callers read."""
