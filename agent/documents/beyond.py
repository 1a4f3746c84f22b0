"""The error for questions that a raw document does not answer."""

from __future__ import annotations


class BeyondDocument(Exception):
    """Only a browser can tell what the page says here; the message says why."""
