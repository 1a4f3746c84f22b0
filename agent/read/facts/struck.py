"""Texts that a page shows as no longer valid: drawn with a line through them, or called an old price."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from shoal.agent.page import marks as m
from shoal.agent.page.page import Page
from shoal.agent.read.word_lists.labels import NEUTRAL, STRUCK_WORDS
from shoal.agent.support.bounded_cache import bounded_cache

_TAGS = frozenset({"del", "s", "strike"})
_CALLED = re.compile("|".join(STRUCK_WORDS), re.I)
_LINED = re.compile(r"(?:^|[-_:])line-through$", re.I)
"""A class of style sheets whose classes are called as what they do."""
_WORD = re.compile(r"[A-Z]?[a-z]+")
_BESIDE = frozenset({*NEUTRAL, *STRUCK_WORDS, "price", "through"})
"""Words that leave a class name about what is struck: `price-old`; but not `was-validated`."""
_MOST_PARTS = 4
"""Elements within one that is struck as a whole."""


def is_struck(page: Page, el: HtmlElement) -> bool:
    """True for an element that is struck through by its tag, by how it is drawn, or by its class."""
    if el.tag in _TAGS:
        return True
    if len(el) >= _MOST_PARTS:
        return False
    return bool(page.marks[page.number(el)] & m.STRUCK) or any(map(_is_called_so, (el.get("class") or "").split()))


@bounded_cache(4_000, longest=100)
def _is_called_so(name: str) -> bool:
    if _LINED.search(name) is not None:
        return True
    if _CALLED.search(name) is None:
        return False
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & set(STRUCK_WORDS)) and words <= _BESIDE
