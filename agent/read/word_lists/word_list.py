"""The notation of word lists."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list: easier to read and to extend than quoted tuples."""
    return tuple(dict.fromkeys(" ".join(part.split()) for part in text.split(",")))
