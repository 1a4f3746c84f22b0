"""Schedules without a store: what one says, when it fires, and how a run compares with those before it."""
