"""Learning: what is kept at execution, and how it becomes a workflow."""
