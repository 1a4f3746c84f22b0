"""Workflows: what was worked out once, as declarative JSON; how it is learned, replayed, judged and exchanged."""
