"""What holds for every request: callers, limits, bodies, problems."""
