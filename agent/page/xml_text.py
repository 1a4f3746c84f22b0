"""XML that libxml2 reads in C: names, texts and values as it allows them, and the tree that it makes."""

from __future__ import annotations

import re
from functools import lru_cache

from lxml import etree, html

_CLASSES = etree.ElementDefaultClassLookup(
    element=html.HtmlElement, comment=html.HtmlComment, pi=html.HtmlProcessingInstruction, entity=html.HtmlEntity
)
"""lxml.html's classes without those of fields and forms: its own lookup asks Python for each element."""
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@lru_cache(maxsize=4096)
def xml_name(name: str) -> str:
    """A name that XML allows without namespaces; each character that it forbids is `_`."""
    if _NAME.fullmatch(name):
        return name
    mended = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return mended if _NAME.fullmatch(mended) else "_" + mended[1:]


def xml_text(text: str) -> str:
    """Text between tags."""
    if "&" in text or "<" in text or ">" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;")


def xml_value(value: str) -> str:
    """Text within double quotes."""
    if not value.isalnum():
        value = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        value = value.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")
    return value


def parse_xml(xml: str | bytes, base_url: str, lookup: etree.ElementClassLookup | None = None) -> html.HtmlElement:
    """The tree of an XML text; characters that XML forbids are left out.

    Args:
        xml: The document as XML.
        base_url: What `root.base_url` says, by which lxml and libraries on it resolve links.
        lookup: Classes of the elements, where they are not those of all of lxml.html's elements.
    """
    data = xml if isinstance(xml, bytes) else _FORBIDDEN.sub("", xml).encode("utf-8")
    # Undeclared prefixes are no error with `recover`; deep trees and long texts want `huge_tree`.
    parser = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True, encoding="utf-8")
    parser.set_element_class_lookup(lookup or _CLASSES)
    root = etree.fromstring(data, parser, base_url=base_url) if data else None
    if root is None:
        root = etree.fromstring(b"<html/>", parser, base_url=base_url)
    return root
