"""Workflows by doing: what a person did on the live view, as evidence that is compiled."""
