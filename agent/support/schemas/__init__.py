"""JSON Schemas that callers write: what may be in one, what a check costs, and the check itself.

A schema is hostile until its bounds are known. Nothing else in the product gives a caller's schema or pattern to an
engine: `bounds` refuses when a job is submitted, `checking` checks values, `patterns` matches and searches text.
"""
