"""Reports of workers, committed in groups."""
