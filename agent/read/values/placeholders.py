"""Texts that stand where a value is missing."""

from __future__ import annotations

import re

from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.value_words import NO_VALUE

_PLACEHOLDERS = frozenset(squash(text) for text in NO_VALUE)


def is_placeholder(text: str) -> bool:
    """Return whether `text` stands where a value is missing: "n/a", "TBD", a dash, or nothing at all."""
    stripped = text.strip()
    return not stripped.strip("-–—_.… /") or squash(stripped.strip("<>[]() ")) in _PLACEHOLDERS


_STAND_INS = frozenset({"placeholder", "spacer"})
"""Words of a file's name that is shown until the picture itself is loaded, or where there is none."""
_PERHAPS = frozenset({"blank", "pixel", "transparent", "lazy", "lazyload", "loading", "loader", "1x1"})
"""Words of such a name that may be a thing's as well: a loader, a transparent case."""
_OF_ANY_PICTURE = re.compile(
    r"images?|img|pictures?|photo|thumb(?:nail)?|icon|default|load|ajax|spinner|gr[ae]y"
    r"|\d{1,5}x\d{1,5}(?:px)?|\d{1,5}px|v\d{1,3}|(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[a-f\d]{6,40}"
)
"""Further words in the name of such a picture: that it is a picture, its look, size, version or checksum."""


def is_no_picture(address: str, *, of: str = "logo") -> bool:
    """Return whether an address stands where a picture's is missing: data in itself, or a file that is called so.

    Args:
        of: the word for what is to be seen in it: a site's logo is no picture of anything else.
    """
    if address.startswith("data:"):
        return True
    file = re.split(r"[?#]", address)[0].rpartition("/")[2].lower()
    words = re.split(r"[-_. ]+", re.sub(r"\.\w{1,5}$", "", file))
    if any(word.rstrip("0123456789") in _STAND_INS for word in words) or (of != "logo" and "logo" in words):
        return True
    others = [word for word in words if word not in _PERHAPS]
    return len(others) < len(words) and all(map(_OF_ANY_PICTURE.fullmatch, others))
