"""A first job that works everywhere."""
