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


_STAND_INS = frozenset({"blank", "spacer", "pixel", "transparent", "placeholder", "lazy", "loading", "loader", "1x1"})
"""Words of which the name of a file is made that is shown until the picture itself is loaded."""
_OF_ANY_PICTURE = re.compile(r"images?|img|pictures?|photo|thumb(?:nail)?|icon|default|load|\d{1,5}x\d{1,5}(?:px)?")
"""What such a name may say beside them: that it is a picture, and its size."""


def is_no_picture(address: str) -> bool:
    """Whether an address stands where a picture's is missing: data in itself, or a file that is called blank alone."""
    if address.startswith("data:"):
        return True
    file = re.split(r"[?#]", address)[0].rpartition("/")[2].lower()
    words = re.split(r"[-_. ]+", re.sub(r"\.\w{1,5}$", "", file))
    others = [word for word in words if word not in _STAND_INS]
    return len(others) < len(words) and all(map(_OF_ANY_PICTURE.fullmatch, others))
