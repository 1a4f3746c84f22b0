"""Grounding: evidence on the page for the values that were read from it."""
