"""What a page states, read in one call of a script."""
