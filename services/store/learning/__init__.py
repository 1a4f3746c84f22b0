"""Loops that learn: how far they have come, what their items come to, and what is decided."""
