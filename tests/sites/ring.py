"""Sweeps that take minutes, which `make test-sites` runs beyond `make test`."""

from __future__ import annotations

import os

import pytest

EVERYTHING = os.environ.get("REGISTRY_SITES") == "all"
"""True: the sweeps are asked for. `make test` proves each behaviour once."""
sweep = pytest.mark.skipif(not EVERYTHING, reason="takes minutes: make test-sites")
"""A test that only `make test-sites` runs."""
