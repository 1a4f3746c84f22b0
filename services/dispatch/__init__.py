"""Hands ready sessions to browser workers, and writes what became of them."""
