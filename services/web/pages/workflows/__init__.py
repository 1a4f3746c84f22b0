"""Pages of workflows: what was learned, in versions."""
