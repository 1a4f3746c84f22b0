"""Elements: every way to find one again, and finding one by ways that agree."""
