"""Texts of elements as values: single spaces, and what is passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

LONGEST_TEXT = 20_000
"""Characters of one value: longer texts are whole or none, and those of an article are read as its main text."""
SKIPPED = frozenset(
    {*("script", "style", "noscript", "template", "iframe", "object", "canvas", "video", "audio", "head")}
    | {"select", "option", "textarea", "datalist"}
)
"""Elements whose text is no text of the page."""
_MESSY = re.compile(r"[^\S\n ]|  | \n|\n[ \n]")


_AVATAR = re.compile(r"(?<![a-z])(avatar|initials|monogram|userpic)(?![a-z])", re.I)
_MOST_INITIALS, _MOST_TEXTS = 3, 20
_NOTE = re.compile(r"\[ ?(?:\w{1,3}|note \d{1,3}) ?\]|[*†‡]{1,3}")


def is_note_mark(el: HtmlElement) -> bool:
    """True for the mark of a note, "[1]" or a raised link to another place of the page: it is no part of a value."""
    text = one_line(el.text_content()) if el.tag == "sup" else ""
    if not text or _NOTE.fullmatch(text):
        return bool(text)
    return len(text) <= 4 and any((link.get("href") or "").startswith("#") for link in el.iterdescendants("a"))


def is_initials(el: HtmlElement) -> bool:
    """True for initials in place of a person's picture: they are no part of the name that stands beside them."""
    if not _AVATAR.search(el.get("class") or ""):
        return False
    letters = 0
    for text in islice(el.itertext("*"), _MOST_TEXTS):  # a page may have a thousand such elements in each other
        letters += len(text.strip())
        if letters > _MOST_INITIALS:
            return False
    return letters > 0


def one_line(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def names_of(el: HtmlElement) -> str:
    """The id and the classes of an element."""
    return f"{el.get('id') or ''} {el.get('class') or ''}".strip()


def clean(text: str) -> str:
    """A text with single spaces and line ends."""
    bare = text.strip()
    if not _MESSY.search(bare):
        return bare
    lines = (" ".join(line.split()) for line in bare.split("\n"))
    return "\n".join(line for line in lines if line)


def leaves(el: HtmlElement) -> Iterator[tuple[str, HtmlElement]]:
    """The texts in an element, each with the element that it stands right in."""
    for event, inner in etree.iterwalk(el, events=("start", "end")):
        if not isinstance(inner.tag, str):
            continue
        if event == "start" and inner.text and inner.text.strip():
            yield inner.text.strip(), inner
        elif event == "end" and inner is not el and inner.tail and inner.tail.strip():
            yield inner.tail.strip(), inner.getparent()
