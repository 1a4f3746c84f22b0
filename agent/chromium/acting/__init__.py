"""Contexts that act, through Playwright."""
