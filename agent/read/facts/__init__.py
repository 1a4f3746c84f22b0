"""Statements of a page about its record: labels with values, named elements, headings, texts, and fetched JSON."""
