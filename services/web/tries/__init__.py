"""Tries: a sample of a job is run at once, told in full, and kept nowhere."""
