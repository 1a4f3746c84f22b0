"""Handling of every request: callers, limits, bodies, problems."""
