"""The routes of the API and their models."""
