"""What must not be shown: secret by its name or by its value, how texts spell it, and what stands in its place."""
