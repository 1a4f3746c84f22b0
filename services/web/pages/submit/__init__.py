"""The page on which people hand in jobs."""
