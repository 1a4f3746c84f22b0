"""The durable truth: jobs, sessions, events, keys."""
