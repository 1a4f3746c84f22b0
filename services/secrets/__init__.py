"""Stored secrets: where they lie, and the sites where each may be filled in."""
