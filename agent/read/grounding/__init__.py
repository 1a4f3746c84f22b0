"""Whether the page states what was read from it."""
