"""Checks of a model's reply."""
