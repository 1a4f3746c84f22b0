"""Hallam & Rook, a shop that does not exist: the site that Shoal's tests and benchmarks work on."""

from __future__ import annotations
