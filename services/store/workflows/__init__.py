"""Workflows with their versions: what was learned, by tenant."""
