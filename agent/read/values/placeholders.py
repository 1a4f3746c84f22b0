"""Texts that stand where a value is missing."""

from __future__ import annotations

from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.value_words import NO_VALUE

_PLACEHOLDERS = frozenset(squash(text) for text in NO_VALUE)


def is_placeholder(text: str) -> bool:
    """Whether `text` stands where a value is missing: "n/a", "TBD", a dash, or nothing at all."""
    said = text.strip()
    return not said.strip("-–—_.… /") or squash(said.strip("<>[]() ")) in _PLACEHOLDERS
