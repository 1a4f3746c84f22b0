"""Small helpers without knowledge of browsers or policies."""
