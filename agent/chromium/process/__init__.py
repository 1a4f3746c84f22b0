"""Chromium's processes: found, started, measured and ended."""
