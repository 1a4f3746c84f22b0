"""Decides by rules: what a page says by structure, and what the job says by name. No word of any site is in here."""
