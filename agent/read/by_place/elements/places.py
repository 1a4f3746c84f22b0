"""The places of a job's fields on a page or in a raw document, with what stands there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import STRUCK, Elements, Node, text_nodes
from shoal.agent.read.by_place.elements.labels import LabelHit, labelled
from shoal.agent.read.by_place.elements.tables import Tables
from shoal.agent.support.json_value import Json

MOST_PLACES = 500
_SHORT = 80
_MOST_PARTS = 12
_LEADS = frozenset({"href", "src", "action", "poster", "formaction", "cite", "data-src", "data-href", "data-url"})
_ADDRESSES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "embed": "src",
    "video": "src",
    "audio": "src",
}
_TEXT_INPUTS = frozenset({"text", "search", "tel", "hidden"})
_OTHER_INPUTS = """
    button checkbox color date datetime-local email file image month number password radio range reset submit time url
    week
"""
_INPUTS = _TEXT_INPUTS | frozenset(_OTHER_INPUTS.split())
_CHECKS = frozenset({"checkbox", "switch", "menuitemcheckbox"})
_STARTS_WITH_COLON = re.compile(f"^[:：][{js.SPACE}]*")

PlaceData = dict[str, Json]


class Places:
    """Reads places in one document."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self.tables = Tables(elements)
        self._made: dict[tuple[int, str | None], tuple[PlaceData, frozenset[str]]] = {}

    def of(self, name: str, kind: str, query: str, attribute: str | None, scope: Node | None = None) -> list[PlaceData]:
        """The places of one field.

        Args:
            scope: the element of the record; None: the whole document.

        Raises:
            BeyondDocument: only a browser can tell.
        """
        within = scope or self._elements.root
        if kind == "select":
            return self._selected(within, name, query, attribute)
        asked = js.fold(query)
        if not asked:
            self._elements.only_in_browser("the label has no letters")
            return []
        if kind == "column":
            return [self.place(cell, "column") for cell in self.tables.column(within, asked)[:MOST_PLACES]]
        return self.labelled(asked, within)

    def labelled(self, asked: str, scope: Node) -> list[PlaceData]:
        """The places of a folded label."""
        return [self._hit(hit) for hit in labelled(self._elements, self.tables, asked, scope)[:MOST_PLACES]]

    def _selected(self, scope: Node, name: str, query: str, attribute: str | None) -> list[PlaceData]:
        elements = self._elements
        matches = elements.selected(scope, name, query)
        if any(el.tag == "input" for el in matches) and len(matches) > 1:
            elements.only_in_browser("which of several controls holds the value is known to a browser")
        names = {elements.attribute(el, "name") for el in matches}
        if len(matches) > 1 and len(names) == 1 and all(map(elements.is_radio, matches)):
            matches = [el for el in matches if elements.checked(el)]
        made = [self.place(el, "selector", attribute) for el in matches[:MOST_PLACES]]
        return [place for place in made if place]

    def _hit(self, hit: LabelHit) -> PlaceData:
        if hit.line is not None:
            return self._text(hit.line, hit.text, gone=self._gone_in(hit.line))
        if hit.element is not None:
            return self.place(hit.element, "label")
        return self._together(hit.after, hit.label)

    # --- what one element says ------------------------------------------------------------------------

    def place(self, el: Node, how: str, attribute: str | None = None) -> PlaceData:
        """Return what stands at `el`; nothing where it lacks the attribute.

        Several ways to one element are the rule in a workflow: it is read once.
        """
        elements, key = self._elements, (el.mem_id, attribute)
        known = self._made.get(key)
        if known is None:
            before, elements.kinds = elements.kinds, set()
            place = self._place(el, how, attribute)
            known = self._made[key] = place, frozenset(elements.kinds)
            elements.kinds = before
        place, kinds = known
        elements.kinds |= kinds
        return {**place, "w": how} if place else {}

    def _place(self, el: Node, how: str, attribute: str | None) -> PlaceData:
        elements = self._elements
        at: PlaceData = {"s": elements.selector(el), "v": int(elements.is_rendered(el)), "w": how}
        if attribute:
            return self._attribute(el, at, attribute)
        held = self._control(el)
        if held is not None:
            return {**at, "e": "", "h": "", **held}
        if el.tag == "meta":
            content = elements.attribute(el, "content") or ""
            return {**at, "k": "data", "t": content, "h": self._web(content)}
        text = elements.text_of(el, plain=False)
        inner = elements.fields(el)
        if not text and len(inner) == 1:
            return {**self.place(inner[0], how), "s": elements.selector(inner[0])}
        struck = elements.struck_within(el)
        alt = elements.attribute(el, "alt") if el.tag == "img" else None
        return {
            **at,
            "k": "text",
            "t": text or alt or "",
            "u": "" if elements.struck(el) else elements.text_of(el, plain=True) if struck else None,
            "p": self._parts(el, struck) if js.length(text) <= _SHORT else [],
            "e": self._exact(el),
            "h": self._leads_to(el),
        }

    def _attribute(self, el: Node, at: PlaceData, name: str) -> PlaceData:
        value = self._elements.attribute(el, name.lower())
        if value is None:
            return {}
        if name == "value" and el.tag == "input" and (self._elements.attribute(el, "type") or "").lower() == "password":
            return {**at, "k": "secret", "t": ""}
        leads = self._absolute(value) if name.lower() in _LEADS else ""
        return {**at, "s": f"{at['s']}[{name}]", "k": "attribute", "t": value, "h": leads}

    def _control(self, el: Node) -> PlaceData | None:
        """Return what a form control holds now; None for other elements."""
        elements = self._elements
        if el.tag == "input":
            return self._input(el)
        if el.tag in ("select", "textarea"):
            elements.only_in_browser("what a control holds is known to a browser")
        if el.tag == "textarea":
            return {"k": "lines", "t": elements.value(el)}
        if el.tag == "select":
            return self._select(el)
        role, checked = elements.attribute(el, "role"), elements.attribute(el, "aria-checked")
        if role in _CHECKS and checked is not None:
            return {"k": "check", "c": checked == "true", "t": ""}
        return None

    def _input(self, el: Node) -> PlaceData:
        elements = self._elements
        stated = (elements.attribute(el, "type") or "text").lower()
        kind = stated if stated in _INPUTS else "text"
        if kind == "password":
            return {"k": "secret", "t": ""}
        if kind == "checkbox":
            return {"k": "check", "c": elements.checked(el), "t": self._set_value(el)}
        value = elements.value(el)
        if stated not in _TEXT_INPUTS or "\n" in value or "\r" in value:
            elements.only_in_browser("what a control holds is known to a browser")
        if kind == "radio":
            value = self._set_value(el)
            labels = elements.labels_of(el) if elements.checked(el) else []
            text = js.squash(labels[0].text_lexbor()) if labels else ""
            return {"k": "radio", "c": elements.checked(el), "t": text or value, "e": value}
        if kind == "image":
            src = elements.attribute(el, "src")
            alt = elements.attribute(el, "alt") or ""
            return {"k": "text", "t": alt, "h": self._absolute(src) if src else ""}
        return {"k": "text", "t": value, "e": "" if kind == "text" else value}

    def _set_value(self, el: Node) -> str:
        """The value of a check box or a radio button that is set; "" for one that is not."""
        if not self._elements.checked(el):
            return ""
        stated = self._elements.attribute(el, "value")
        return "on" if stated is None else stated

    def _select(self, el: Node) -> PlaceData:
        elements = self._elements
        chosen = elements.chosen(el)
        labels = [js.squash(elements.attribute(option, "label") or option.text_lexbor()) for option in chosen]
        if elements.attribute(el, "multiple") is not None:
            return {"k": "list", "t": "\n".join(labels), "l": list[Json](labels)}
        return {"k": "choice", "t": labels[0] if labels else "", "e": elements.value(chosen[0]) if chosen else ""}

    def _parts(self, el: Node, struck: bool) -> list[Json]:
        if not self._elements.children(el):
            return []
        parts: list[Json] = []
        for node in text_nodes(el):
            text = (node.text_content or "").strip(js.TRIMMED)
            around = node.parent
            if text and not (struck and around is not None and self._elements.closest(around, STRUCK) is not None):
                parts.append(text)
            if len(parts) == _MOST_PARTS:
                break
        return parts if len(parts) > 1 else []

    def _exact(self, el: Node) -> str:
        """The machine-readable twin of a text, where it says the whole of it."""
        elements = self._elements
        own = elements.attributes(el)
        if (el.tag == "time" and "datetime" in own) or (el.tag in ("data", "meter") and "value" in own):
            stamp: Node | None = el
        else:
            stamps = elements.below(el, ("time", "data"))
            names = {"time": "datetime", "data": "value"}
            stamp = next((below for below in stamps if names[below.tag or ""] in elements.attributes(below)), None)
        if stamp is None or js.squash(stamp.text_lexbor()) != js.squash(el.text_lexbor()):
            return ""
        return elements.attribute(stamp, "datetime") or elements.attribute(stamp, "value") or ""

    def _leads_to(self, el: Node) -> str:
        elements = self._elements
        name = _ADDRESSES.get(str(el.tag))
        if name and (own := elements.attribute(el, name)):
            return self._absolute(own)
        link = elements.closest(el, frozenset({"a"}), "href") or self._first(el, "a", "href")
        if link is not None:
            return self._absolute(elements.attribute(link, "href") or "")
        picture = el if el.tag == "img" else self._first(el, "img", "src")
        if picture is None:
            return ""
        around = elements.parent(picture)
        if "srcset" in elements.attributes(picture) or (around is not None and around.tag == "picture"):
            elements.only_in_browser("which picture is shown is known to a browser")
        source = elements.picture(picture)
        return self._absolute(source) if source else ""

    def _first(self, scope: Node, tag: str, attribute: str) -> Node | None:
        return next(iter(self._elements.below(scope, (tag,), attribute)), None)

    def _absolute(self, text: str) -> str:
        return self._elements.absolute(text.strip("\t\n\f\r "))

    def _web(self, text: str) -> str:
        return self._absolute(text) if re.match(r"(https?:)?//", text) else ""

    def _gone_in(self, el: Node) -> bool:
        return self._elements.struck(el) or self._elements.struck_within(el)

    # --- what several nodes say -----------------------------------------------------------------------

    def _text(self, el: Node, text: str, address: str = "", *, gone: bool = False) -> PlaceData:
        at = {"s": self._elements.selector(el), "v": int(self._elements.is_rendered(el)), "w": "label", "k": "text"}
        return {**at, "t": text, "u": "" if gone else None, "e": "", "h": address, "p": []}

    def _together(self, nodes: Sequence[Node], label: Node | None) -> PlaceData:
        """Return what the nodes after a label say together."""
        assert label is not None
        elements = self._elements
        several = [node for node in nodes if node.is_element_node]
        if len(nodes) == 1 and len(several) == 1:
            return self.place(several[0], "label")
        holding = [el for el in several if self._holds(el)]
        free = "".join(node.text_content or "" for node in nodes if node.is_text_node)
        if len(holding) == len(several) == 1 and not js.has_letter_or_digit(free):
            return self.place(holding[0], "label")
        lines = any(elements.display(el) != "inline" for el in several)
        texts = [
            elements.text_of(node, plain=False) if node.is_element_node else node.text_content or "" for node in nodes
        ]
        text = ("\n" if lines else " ").join(texts)
        has_words = _STARTS_WITH_COLON.sub("", js.squash(text))
        joined = _STARTS_WITH_COLON.sub("", text.strip(js.TRIMMED)) if has_words else ""
        links = [el for el in several if el.tag == "a" and "href" in elements.attributes(el)]
        around = elements.parent(label)
        assert around is not None
        address = self._absolute(elements.attribute(links[0], "href") or "") if links else ""
        gone = elements.struck(label) or any(map(self._gone_in, several))
        return {**self._text(around, joined, address, gone=gone), "v": int(elements.is_rendered(label))}

    def _holds(self, el: Node) -> bool:
        """Return whether an element is, or has, a control."""
        holds = el.tag in ("input", "select", "textarea") or bool(self._elements.fields(el))
        if holds:
            self._elements.only_in_browser("which control a label means is known to a browser")
        return holds or self._control(el) is not None


def fields_of(arg: Mapping[str, Any]) -> list[tuple[str, str, str, str | None]]:
    """Name, kind, query and attribute of each field that a reading asks for."""
    return [(name, place["kind"], place["query"], place["attribute"]) for name, place in arg["fields"].items()]
