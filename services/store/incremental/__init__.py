"""Runs that follow each other: which was the one before, what changed since, which items need not be read again."""
