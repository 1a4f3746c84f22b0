"""People beside running sessions: what a worker tells their gateway, and what it is told."""
