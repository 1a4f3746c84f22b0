"""Schedules through the API."""
