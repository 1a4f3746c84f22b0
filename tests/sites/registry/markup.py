"""HTML files read by lxml, for the truth."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import html

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)


def parsed(path: Path) -> html.HtmlElement:
    """The file's root element."""
    return html.fromstring(path.read_bytes())


def text(element: html.HtmlElement, *, without: str = "") -> str:
    """Return what the element says, as words in one line; `without` is an XPath of what is left out."""
    left_out = set(element.xpath(without)) if without else set()
    parts: list[str] = []

    def walk(node: html.HtmlElement) -> None:
        if node in left_out or not isinstance(node.tag, str) or node.tag in ("script", "style"):
            return
        around = " " if node.tag in _BLOCKS else ""
        parts.append(around + (node.text or ""))
        for child in node:
            walk(child)
            parts.append(child.tail or "")
        parts.append(around)

    walk(element)
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def has_class(name: str) -> str:
    """The XPath condition that an element has this class."""
    return f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')"
