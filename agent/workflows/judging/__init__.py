"""Judging a version: audits and their bound, drift over a batch, promotion and rollback, and whether a repair counts.

Figures in, a decision out: nothing here acts or asks.
"""
