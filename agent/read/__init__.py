"""Readers: what one page states, as records. Pure functions over a page's tree; no browser, no model."""
