"""Texts that stand where a value is missing."""

from __future__ import annotations

import re

from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.value_words import NO_VALUE

_PLACEHOLDERS = frozenset(squash(text) for text in NO_VALUE)


def is_placeholder(text: str) -> bool:
    """Whether `text` stands where a value is missing: "n/a", "TBD", a dash, or nothing at all."""
    said = text.strip()
    return not said.strip("-–—_.… /") or squash(said.strip("<>[]() ")) in _PLACEHOLDERS


_STAND_IN = re.compile(
    r"(?:^|[-_.])(?:blank|spacer|pixel|transparent|placeholder|lazy|loading|loader)(?=[-_.]|$)", re.I
)
"""Words in the name of a file that is shown until the picture itself is loaded."""


def is_no_picture(address: str) -> bool:
    """Whether an address stands where a picture's is missing: data in itself, or a file that is called blank."""
    return address.startswith("data:") or _STAND_IN.search(re.split(r"[?#]", address)[0].rpartition("/")[2]) is not None
