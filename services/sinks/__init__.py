"""Sinks: the records of jobs that have ended, written to where their owners want them."""
