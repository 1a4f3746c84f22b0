"""Reads for callers."""
