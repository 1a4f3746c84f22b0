"""What pages say, as text that every program can read."""

from __future__ import annotations


def readable(text: str) -> str:
    """`text` with U+FFFD for halves of characters, which JavaScript's strings may hold and UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
