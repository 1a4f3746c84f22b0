"""Schedules with their runs, by tenant."""
