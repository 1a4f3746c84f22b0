"""The facts that tell a page's kind: the same of a page that a browser shows and of its raw document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lxml import etree

from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import Elements, Node
from shoal.agent.read.by_place.elements.page_elements import PageElements
from shoal.agent.support.json_value import Json

_MOST_HEADINGS = 40
_MOST_OUTLINED = 400
_DEEPEST_OUTLINED = 5
_MOST_TEXTS = 2_000
_LANDMARKS = {
    "header": "banner",
    "nav": "navigation",
    "main": "main",
    "aside": "complementary",
    "footer": "contentinfo",
    "form": "form",
    "search": "search",
}
_ROLES = frozenset(_LANDMARKS.values())
_SILENT = frozenset({"script", "style", "noscript", "template"})
_CLOSED = frozenset(
    {"iframe", "frame", "canvas", "object", "embed", "svg", "input", "select", "textarea", "video"},
)
"""Elements that show more than texts of the document."""
_LABEL = re.compile(f"([^:：]{{1,40}})[:：][{js.SPACE}]*([^{js.SPACE}].*)")
_LAST_SIGNS = js.TRIMMED + ":：*"


def facts_of(elements: Elements, status: int, selectors: Sequence[str]) -> dict[str, Json]:
    """The facts of a document that guards go by, without the texts that it shows.

    Raises:
        BeyondDocument: only a browser can tell.
    """
    matches = {selector: elements.found(selector) for selector in selectors}
    headings = [el for el in elements.below(elements.root, ("h1", "h2")) if elements.is_rendered(el)]
    busy = elements.below(elements.root, (), "aria-busy")
    return {
        "status": status,
        "title": _title(elements),
        "headings": [_text(elements, el) for el in headings[:_MOST_HEADINGS]],
        "busy": any(elements.attribute(el, "aria-busy") == "true" for el in busy),
        "present": [selector for selector, several in matches.items() if several],
        # Each is asked, not only up to the first that is shown: a browser has to have seen every kind of them.
        "visible": [
            selector for selector, several in matches.items() if any([elements.is_rendered(el) for el in several])
        ],
    }


def _text(elements: Elements, el: Node) -> str:
    """The text of an element; what a drawing in it says of its style is none."""
    text = el.text_lexbor()
    for style in elements.below(el, ("style",)):
        text = text.replace(style.text_lexbor(), "", 1)
    return js.squash(text)


def _title(elements: Elements) -> str:
    titles = elements.below(elements.root, ("title",))
    own = next((el for el in titles if elements.closest(el, frozenset({"svg"})) is None), None)
    return "" if own is None else js.squash(own.text_lexbor())


def landmarks_of(elements: Elements) -> list[str]:
    """The roles of a document's landmarks, in order, without doubles."""
    tags = elements.below(elements.root, tuple(_LANDMARKS))
    named = [el for el in elements.below(elements.root, (), "role") if el.tag not in _LANDMARKS]
    roles = [
        elements.attribute(el, "role") or _LANDMARKS.get(str(el.tag), "") for el in elements.in_order(tags + named)
    ]
    return list(dict.fromkeys(role for role in roles if role in _ROLES))


def outline_of(elements: Elements) -> str:
    """The tags of the body's elements, each with its level; of a large page those at the beginning of each level."""
    levels: set[str] = set()
    waiting, count = [(elements.body, -1)], 0
    while waiting:
        el, depth = waiting.pop()
        if depth >= 0:
            levels.add(f"{depth}{el.tag}")
            count += 1
        if depth < _DEEPEST_OUTLINED and count <= _MOST_OUTLINED:
            waiting += [(child, depth + 1) for child in reversed(elements.children(el))]
    return " ".join(sorted(levels))


def texts_of(elements: PageElements) -> list[tuple[str, str]] | None:
    """The texts of a page that are drawn, each with its place, which two entries of one list have in common.

    None where there are too many. What holds more than texts is told by its name.
    """
    page, texts, drawings = elements.page, list[tuple[str, str]](), set[int]()
    places = {elements.body.mem_id: ""}
    for el in elements.element(elements.body).iterdescendants(etree.Element):
        node = elements.node(el)
        around = page.number(el.getparent())
        place = places[node.mem_id] = f"{places[around]}/{_name(elements, node)}"
        if node.tag == "svg" or around in drawings:
            drawings.add(node.mem_id)
        if node.tag in _SILENT or around in drawings or not page.drawn(el):
            continue
        if len(texts) > _MOST_TEXTS:
            return None
        if node.mem_id in page.shadow_roots or "-" in str(node.tag) or node.tag in _CLOSED:
            texts.append((place, f"<{node.tag}>"))
        if node.tag == "img":
            texts.append((place, js.squash(elements.attribute(node, "alt") or "") or "<img>"))
        texts += _own_texts(place, node, " ".join([el.text or "", *(child.tail or "" for child in el)]), not len(el))
    return texts


def _name(elements: Elements, node: Node) -> str:
    classes = elements.attribute(node, "class") or ""
    return ".".join([str(node.tag), *sorted(set(classes.split()))])


def _own_texts(place: str, node: Node, text: str, is_leaf: bool) -> list[tuple[str, str]]:
    """The text right in an element; its label apart, where it begins with one."""
    own = js.squash(text)
    labelled = _LABEL.fullmatch(own)
    if labelled is not None:
        return [(f"{place}/:", js.squash(labelled[1])), (place, labelled[2])]
    if own:
        return [(place, own.rstrip(_LAST_SIGNS) or own)]
    return [(place, "")] if is_leaf and node.tag in ("td", "dd") else []
