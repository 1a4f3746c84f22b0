"""The workers of one dispatcher, and how many there should be."""
