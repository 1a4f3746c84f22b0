"""Which sessions are claimed next."""
