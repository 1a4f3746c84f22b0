"""A page's own words inside a rendering, so that none of them can be read as the rendering's structure.

In a rendering `[` with an id behind it begins an element, quotes hold what it says, and a line is a block. So where a
page says such a thing itself it gets a backslash, and what would end a line is written as a space.
"""

from __future__ import annotations

import re

ID = r"[A-Za-z]*\d+"
ELEMENT = re.compile(rf"(?<!\\)\[({ID})\b")
"""The beginning of an element in a rendering, with its id; the page's own words never match."""

_BEGINS = re.compile(rf"\[(?={ID})")
_TO_QUOTE = re.compile(rf'\[(?={ID})|["\\]')
_TO_HOLD = re.compile(rf"\[(?={ID})|\]")
# What Python and terminals take for the end of a line; a plain newline in running text is kept by `words`.
_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_ODD_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_NO_NAME = re.compile(r"[^\w.:-]")


def words(text: str) -> str:
    """Running text: it may have several lines, and no element begins in it."""
    return _BEGINS.sub(r"\\[", _ODD_ENDS.sub(" ", text))


def line(text: str) -> str:
    """The same on one line."""
    return _BEGINS.sub(r"\\[", _ENDS.sub(" ", text))


def quoted(text: str) -> str:
    """One line between quotes, which only their own end ends."""
    return '"' + _TO_QUOTE.sub(r"\\\g<0>", _ENDS.sub(" ", text)) + '"'


def value(text: str) -> str:
    """Return what a field holds, between quotes: a new line in it is written as a backslash and `n`."""
    return '"' + "\\n".join(quoted(part)[1:-1] for part in text.split("\n")) + '"'


def escape_in_brackets(text: str) -> str:
    """One line inside an element's brackets without quotes, which it does not end."""
    return _TO_HOLD.sub(r"\\\g<0>", _ENDS.sub(" ", text))


def plain_name(text: str) -> str:
    """A tag or a role, which a page may choose freely, with nothing in it but what names have."""
    return _NO_NAME.sub("_", text)
