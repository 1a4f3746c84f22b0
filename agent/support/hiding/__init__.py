"""Values that must not be shown: how texts spell them, and how they are found."""
