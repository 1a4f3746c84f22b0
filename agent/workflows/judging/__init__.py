"""Judging a version: audits and their bound, promotion and rollback, and what a repair must not change.

Figures in, a decision out: nothing here acts or asks.
"""
