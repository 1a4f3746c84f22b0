"""What a raw document does not tell."""

from __future__ import annotations


class BeyondDocument(Exception):
    """Only a browser can tell what the page says here; the message says why."""
