"""The tasks of a session, one file for each kind, and what they do on a page."""
