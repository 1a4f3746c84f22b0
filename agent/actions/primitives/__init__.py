"""The primitives: one function each, a file per group."""
