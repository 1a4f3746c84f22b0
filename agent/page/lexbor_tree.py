"""Raw HTML as lexbor parses it, which is as browsers do, and the same tree as lxml's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin

from lxml import html
from selectolax.lexbor import LexborHTMLParser, SelectolaxError
from w3lib.encoding import html_to_unicode

from shoal.agent.page.xml_text import parse_xml, xml_name, xml_text, xml_value

_DEEPEST = 512
"""Levels of a tree, as in Chromium; libxml2 stops at some 2,000. What lies deeper is told on the last level."""


@dataclass(slots=True)
class ParsedHtml:
    """A document, and its elements by number: their places in document order."""

    tree: LexborHTMLParser  # finds elements by selectors
    root: html.HtmlElement
    tags: list[str]
    attributes: list[Mapping[str, str | None]]
    parents: list[int]  # the number of the parent; -1 of the root
    numbers: dict[int, int]  # by lexbor's `mem_id`

    def find(self, selector: str) -> list[int] | None:
        """The numbers of the elements that a CSS selector finds, in document order; None where it is no CSS."""
        try:
            nodes = self.tree.css(selector)
        except SelectolaxError:
            return None
        return sorted({self.numbers[node.mem_id] for node in nodes if node.mem_id in self.numbers})


def parse_html(data: bytes | str, url: str, charset: str | None = None) -> ParsedHtml:
    """The document that a browser would make of it, before scripts run.

    Args:
        data: The document. Bytes are read by a byte-order mark, `charset`, or what the document declares; otherwise as
            UTF-8, or as windows-1252 where they are none. What cannot be read is U+FFFD.
        url: The address of the document.
        charset: What the server declared.
    """
    text = data if isinstance(data, str) else _decoded(data, charset)
    tree = LexborHTMLParser(text.encode("utf-8", "replace"), scripting=True)
    tags: list[str] = []
    attributes: list[Mapping[str, str | None]] = []
    parents: list[int] = []
    numbers: dict[int, int] = {}
    xml: list[str] = []
    opened: list[tuple[int, str, int]] = [(0, "", -1)]  # lexbor's id, the end tag, the number
    # One loop without calls: it takes half of the time that a page takes.
    for node in tree.root.traverse(include_text=True) if tree.root is not None else ():
        above = node.parent
        above_id = 0 if above is None else above.mem_id
        while opened[-1][0] != above_id and len(opened) > 1:
            xml.append(opened.pop()[1])
        if node.is_element_node:
            tag, stated = xml_name(node.tag or "_"), node.attributes
            end = f"</{tag}>"
            xml.append(f"<{tag}{_written(stated)}>" if stated else f"<{tag}>")
            if len(opened) > _DEEPEST:
                xml.append(end)
                end = ""
            parents.append(opened[-1][2])
            opened.append((node.mem_id, end, len(tags)))
            numbers[node.mem_id] = len(tags)
            tags.append(tag)
            attributes.append(stated)
        elif node.is_text_node and not (
            tags and tags[opened[-1][2]] == "style"
        ):  # `styles` reads them in lexbor's tree
            xml.append(xml_text(node.text_content or ""))
    xml.extend(end for _, end, _ in reversed(opened))
    base = next(
        (
            stated["href"] or ""
            for tag, stated in zip(tags, attributes, strict=True)
            if tag == "base" and "href" in stated
        ),
        "",
    )
    root = parse_xml("".join(xml), _resolved(base, url))
    if not tags:  # an empty document has a root, too
        tags, attributes, parents = [str(root.tag)], [{}], [-1]
    return ParsedHtml(tree, root, tags, attributes, parents, numbers)


def _resolved(base: str, url: str) -> str:
    try:
        return urljoin(url, base.strip())
    except ValueError:  # no address: browsers pass over it
        return url


def _decoded(data: bytes, charset: str | None) -> str:
    header = f"text/html; charset={charset}" if charset else None
    _, text = html_to_unicode(header, data, auto_detect_fun=_undeclared)
    return str(text)


def _undeclared(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _written(attributes: Mapping[str, str | None]) -> str:
    """Attributes as XML."""
    names = _names(tuple(attributes))
    if names is None:
        names, attributes = _mended(attributes)
    values = attributes.values()
    return "".join([f' {name}="{xml_value(value or "")}"' for name, value in zip(names, values, strict=True)])


@lru_cache(maxsize=4096)
def _names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The names as XML has them; None where two are one there, or where one declares a namespace."""
    xml_names = tuple(xml_name(name) for name in names)
    is_plain = len(set(xml_names)) == len(xml_names) and not any(name.startswith("xmlns") for name in names)
    return xml_names if is_plain else None


def _mended(attributes: Mapping[str, str | None]) -> tuple[tuple[str, ...], dict[str, str | None]]:
    """Attributes with prefixes told as RDFa tells them without namespaces; plain names win over mended ones."""
    prefixes = {name: value for name, value in attributes.items() if name.startswith("xmlns")}
    mended: dict[str, str | None] = {}
    for name in sorted(attributes.keys() - prefixes.keys(), key=lambda name: xml_name(name) != name):
        mended.setdefault(xml_name(name), attributes[name])
    named = [f"{name.removeprefix('xmlns:')}: {value or ''}" for name, value in prefixes.items() if name != "xmlns"]
    if named:
        mended.setdefault("prefix", " ".join(named))
    return tuple(mended), mended
