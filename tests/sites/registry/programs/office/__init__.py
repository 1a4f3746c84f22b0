"""The books of a small library, for Django's admin."""
