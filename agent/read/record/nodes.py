"""Structured data of a page as nodes of schema.org: JSON-LD, microdata, RDFa, and item properties without an item."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.vocabulary import Types, known_type
from shoal.agent.support.json_value import Json

Node = Mapping[str, Json]
"""One thing: its `@type`, and its properties by name."""

_MAX_DEPTH = 12
_MOST_NODES = 2_000
_LONGEST_SCRIPT = 2_000_000
"""Characters of a script without a type that may be JSON-LD."""
_TRANSPARENT = ("@graph", "mainEntity", "mainEntityOfPage", "@reverse")
"""Keys by which a node that stands for itself is held."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """One typed node of a page."""

    node: Node
    syntax: str  # json-ld, microdata, rdfa or itemprop
    where: str  # its place in the page's structured data
    parent: str  # the properties by which another node holds it; "" for a node of its own


@dataclass(slots=True)
class PageNodes:
    """All typed nodes of a page; `join` follows references between them."""

    typed: list[FoundNode] = field(default_factory=list)
    _by_id: dict[str, dict[str, Json]] = field(default_factory=dict)

    def join(self, value: Json) -> Json:
        """A node with what other places of the page say of the same `@id`; other values as they are."""
        if isinstance(value, Mapping):
            known = self._by_id.get(str(value.get("@id")))
            return {**known, **value} if known else value
        if isinstance(value, str) and ("#" in value or "/" in value) and value in self._by_id:
            return self._by_id[value]
        return value

    def add(self, value: Json, syntax: str, where: str) -> None:
        """Take in a document of structured data."""
        self._walk(value, syntax, where, "", 0)

    def _walk(self, value: Json, syntax: str, where: str, parent: str, depth: int) -> None:
        if depth > _MAX_DEPTH or len(self.typed) >= _MOST_NODES:
            return
        if isinstance(value, list):
            for place, entry in enumerate(value):
                self._walk(entry, syntax, f"{where}[{place}]", parent, depth + 1)
        elif isinstance(value, Mapping):
            ident = value.get("@id")
            if isinstance(ident, str) and len(value) > 1:
                known = self._by_id.setdefault(ident, {})
                known.update((key, inner) for key, inner in value.items() if key not in known)
            typed = bool(types_of(value))
            if typed:
                self.typed.append(FoundNode(value, syntax, where, parent))
            for key, inner in value.items():
                if isinstance(inner, list | Mapping):
                    held = f"{parent}.{key}" if typed and key not in _TRANSPARENT else parent
                    self._walk(inner, syntax, f"{where}.{key}", held, depth + 1)


def types_of(node: Node) -> Types:
    """The types of a node that the vocabulary knows."""
    names = (name for name in values_of(node.get("@type")) if isinstance(name, str))
    return tuple(known for name in names if (known := known_type(name)) is not None)


def values_of(value: Json) -> list[Json]:
    """The values of a property: lists opened, nothing dropped but what is empty."""
    if isinstance(value, list):
        return [inner for entry in value for inner in values_of(entry)]
    return [] if value is None or value == "" else [value]


def property_of(node: Node, name: str) -> Json:
    """The value of a property in any case and with any prefix; None where the node does not state it."""
    value = node.get(name)
    if value is None:
        lower = name.lower()
        value = next((stated for key, stated in node.items() if re.split(r"[/#:]", key)[-1].lower() == lower), None)
    return None if value in ("", [], {}) else value


def nodes_of(view: MainMatter, types: Types) -> PageNodes:
    """The typed nodes of a page. `types` are those of the record, for item properties that stand in no item."""
    nodes = PageNodes()
    for document, syntax, where in _documents(view, types):
        nodes.add(document, syntax, where)
    return nodes


def _documents(view: MainMatter, types: Types) -> Iterator[tuple[Json, str, str]]:
    root = view.page.root
    for place, script in enumerate(root.iter("script")):
        text, kind = script.text or "", (script.get("type") or "").lower()
        untyped = len(text) < _LONGEST_SCRIPT and "@type" in text and "schema.org" in text and text.lstrip()[:1] in "[{"
        if "ld+json" in kind or untyped:
            yield parsed_leniently(text), "json-ld", f"script[{place}]"
    if root.find(".//*[@itemprop]") is not None:
        for place, item in enumerate(_microdata(view)):
            yield _of_microdata(item), "microdata", f"item[{place}]"
        loose = _loose_properties(view, types)
        if len(loose) > 1:
            yield loose, "itemprop", "no item"
    if root.find(".//*[@typeof]") is not None:
        for el in root.iterfind(".//*[@typeof]"):
            if all(above.get("typeof") is None for above in el.iterancestors()):
                yield _of_rdfa(el), "rdfa", view.page.root.getroottree().getpath(el)


# --- JSON-LD ------------------------------------------------------------------------------------------

_WRAPPING = re.compile(
    r"^\s*(<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(-->|//\s*\]\]>|\]\]>|/\*\s*\]\]>\s*\*/)\s*;?\s*$"
)
_MOST_PIECES = 50


def parsed_leniently(text: str) -> Json:
    """JSON as pages write it: with comments, trailing commas, raw line ends, entities, or text around its objects."""
    text = _WRAPPING.sub("", text.strip()).strip()
    for mended in (text, _without_trailing_commas(re.sub(r"[\x00-\x1f]+", " ", text)), html.unescape(text)):
        try:
            return json.loads(mended, strict=False)
        except (ValueError, RecursionError):
            continue
    return _objects_in(text)


def _without_trailing_commas(text: str) -> str:
    return re.sub(r",\s*([}\]])", r"\1", text)


def _objects_in(text: str) -> list[Json]:
    decoder, values, at = json.JSONDecoder(strict=False), list[Json](), 0
    while (at := text.find("{", at)) >= 0 and len(values) < _MOST_PIECES:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


# --- microdata and RDFa -------------------------------------------------------------------------------


def _microdata(view: MainMatter) -> Sequence[Json]:
    # Only here: few pages have microdata, and the package imports its readers of all syntaxes (0.3 s of CPU).
    extractor = import_module("extruct.w3cmicrodata").MicrodataExtractor
    try:
        return list(extractor(nested=True, strict=False).extract_items(view.page.root, view.base))
    except (ValueError, etree.LxmlError, RecursionError):  # an item that refers to itself, an address that is none
        return []


def _of_microdata(item: Json) -> Json:
    if not isinstance(item, Mapping):
        return item
    node: dict[str, Json] = {"@type": item.get("type") or []}
    if item.get("id"):
        node["@id"] = item["id"]
    for name, value in (item.get("properties") or {}).items():
        node[name] = [_of_microdata(entry) for entry in value] if isinstance(value, list) else _of_microdata(value)
    if item.get("value") and not item.get("properties"):
        node["name"] = item["value"]
    return node


def _loose_properties(view: MainMatter, types: Types) -> dict[str, Json]:
    node: dict[str, Json] = {"@type": list(types)}
    for el in view.page.root.iterfind(".//*[@itemprop]"):
        inside = el.get("itemscope") is not None or any(
            above.get("itemscope") is not None for above in el.iterancestors()
        )
        if not inside and view.in_main(el):
            for name in el.get("itemprop", "").split():
                node.setdefault(name, []).append(_stated(el))
    return node


def _of_rdfa(el: HtmlElement) -> Json:
    node: dict[str, Json] = {"@type": (el.get("typeof") or "").split()}
    _collect_rdfa(el, node)
    return node


def _collect_rdfa(el: HtmlElement, node: dict[str, Json]) -> None:
    for child in el.iterchildren(etree.Element):
        typed = child.get("typeof") is not None
        for name in (child.get("property") or "").split():
            value = _of_rdfa(child) if typed else _stated(child)
            node.setdefault(name.split(":")[-1], []).append(value)
        if not typed:
            _collect_rdfa(child, node)


def _stated(el: HtmlElement) -> str:
    for name in ("content", "datetime", "href", "src"):
        if el.get(name):
            return str(el.get(name))
    return str(el.text_content())
