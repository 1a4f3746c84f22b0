"""The operators' web pages."""
