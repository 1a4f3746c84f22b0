"""Texts as values: numbers, dates, currencies, words."""
