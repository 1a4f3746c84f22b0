"""Loops: their children, concurrency and summaries."""
