"""The places of a job's fields in a raw document, told as `places.js` tells those of a page.

Only records of one page each are read here: every place is looked for in the whole document. What the script decides by
style is decided by `Elements`, and noted there. A second reader of the same meaning: a contract test holds it to the
script, on the same documents, for each kind of place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from selectolax.lexbor import LexborNode, SelectolaxError

from shoal.agent.documents.addresses import resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.html import text as js
from shoal.agent.documents.html.elements import STRUCK, Elements, children, text_nodes
from shoal.agent.documents.html.labels import LabelHit, labelled
from shoal.agent.documents.html.tables import Tables
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
_STRUCK = ",".join(sorted(STRUCK))
_INNER = "input:not([type=hidden i]),select,textarea"
_PSEUDO = re.compile(
    r":(?!(?:not|is|where|has|first-child|last-child|only-child|first-of-type|last-of-type|only-of-type|empty"
    r"|nth-child|nth-last-child|nth-of-type|nth-last-of-type)\b)"
)
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^'\\]*'")

PlaceData = dict[str, Json]


def check_selector(selector: str) -> None:
    """Lets a selector pass that means the same here and in a browser.

    Raises:
        BeyondDocument: it may mean something else here.
    """
    bare = _QUOTED.sub('""', selector)
    if _PSEUDO.search(bare) or "|" in bare.replace("|=", "") or "\\" in bare or " of " in bare or "/*" in bare:
        raise BeyondDocument(f"the selector {selector} is for a browser")
    if not bare.isascii():
        raise BeyondDocument(f"the selector {selector} is for a browser")


class Places:
    """Reads places in one document."""

    def __init__(self, elements: Elements, base: str) -> None:
        self._elements = elements
        self._base = base
        self._tables = Tables(elements)

    def of(self, kind: str, query: str, attribute: str | None) -> list[PlaceData]:
        """The places of one field.

        Raises:
            BeyondDocument: only a browser can tell.
        """
        if kind == "select":
            return self._selected(query, attribute)
        asked = js.fold(query)
        if not asked:
            raise BeyondDocument("the label has no letters")
        if kind == "column":
            return [self.place(cell, "column") for cell in self._tables.column(asked)[:MOST_PLACES]]
        return [self._hit(hit) for hit in labelled(self._elements, self._tables, asked)[:MOST_PLACES]]

    def _selected(self, query: str, attribute: str | None) -> list[PlaceData]:
        check_selector(query)
        try:
            matches = self._elements.tree.css(query)
        except SelectolaxError as error:
            raise BeyondDocument(f"the selector {query} is not known here") from error
        if any(el.tag == "input" for el in matches) and len(matches) > 1:
            raise BeyondDocument("which of several controls holds the value is known to a browser")
        made = [self.place(el, "selector", attribute) for el in matches[:MOST_PLACES]]
        return [place for place in made if place]

    def _hit(self, hit: LabelHit) -> PlaceData:
        if hit.line is not None:
            return self._text(hit.line, hit.text, gone=self._gone_in(hit.line))
        if hit.element is not None:
            return self.place(hit.element, "label")
        return self._together(hit.after, hit.label)

    # --- what one element says ------------------------------------------------------------------------

    def place(self, el: LexborNode, how: str, attribute: str | None = None) -> PlaceData:
        """Return what stands at `el`; nothing where it lacks the attribute."""
        elements = self._elements
        at: PlaceData = {"s": elements.selector(el), "v": int(elements.shown(el)), "w": how}
        if attribute:
            return self._attribute(el, at, attribute)
        held = self._control(el)
        if held is not None:
            return {**at, "e": "", "h": "", **held}
        if el.tag == "meta":
            content = elements.attribute(el, "content") or ""
            return {**at, "k": "data", "t": content, "h": self._web(content)}
        text = elements.text_of(el, plain=False)
        inner = elements.find(el, _INNER)
        if not text and len(inner) == 1:
            return {**self.place(inner[0], how), "s": elements.selector(inner[0])}
        struck = bool(elements.find(el, _STRUCK))
        alt = elements.attribute(el, "alt") if el.tag == "img" else None
        return {
            **at,
            "k": "text",
            "t": text or alt or "",
            "u": "" if self._gone(el) else elements.text_of(el, plain=True) if struck else None,
            "p": self._parts(el, struck) if js.length(text) <= _SHORT else [],
            "e": self._exact(el),
            "h": self._leads_to(el),
        }

    def _attribute(self, el: LexborNode, at: PlaceData, name: str) -> PlaceData:
        value = self._elements.attribute(el, name.lower())
        if value is None:
            return {}
        if name == "value" and el.tag == "input" and (self._elements.attribute(el, "type") or "").lower() == "password":
            return {**at, "k": "secret", "t": ""}
        leads = self._absolute(value) if name.lower() in _LEADS else ""
        return {**at, "s": f"{at['s']}[{name}]", "k": "attribute", "t": value, "h": leads}

    def _control(self, el: LexborNode) -> PlaceData | None:
        if el.tag == "input":
            return self._input(el)
        if el.tag in ("select", "textarea"):
            raise BeyondDocument("what a control holds is known to a browser")
        role = self._elements.attribute(el, "role") or ""
        checked = self._elements.attribute(el, "aria-checked")
        if role in ("checkbox", "switch", "menuitemcheckbox") and checked is not None:
            return {"k": "check", "c": checked == "true", "t": ""}
        return None

    def _input(self, el: LexborNode) -> PlaceData:
        given = self._elements.attributes(el)
        kind = (given.get("type") or "text").lower()
        value = given.get("value") or ""
        if kind == "password":
            return {"k": "secret", "t": ""}
        if kind == "checkbox":
            checked = "checked" in given
            return {"k": "check", "c": checked, "t": (given["value"] or "" if "value" in given else "on") * checked}
        if kind not in _TEXT_INPUTS or "\n" in value or "\r" in value:
            raise BeyondDocument("what a control holds is known to a browser")
        return {"k": "text", "t": value, "e": "" if kind == "text" else value}

    def _parts(self, el: LexborNode, struck: bool) -> list[Json]:
        if not children(el):
            return []
        parts: list[Json] = []
        for node in text_nodes(el):
            said = (node.text_content or "").strip(js.TRIMMED)
            around = node.parent
            if said and not (struck and around is not None and self._elements.closest(around, STRUCK)):
                parts.append(said)
            if len(parts) == _MOST_PARTS:
                break
        return parts if len(parts) > 1 else []

    def _exact(self, el: LexborNode) -> str:
        elements = self._elements
        stamp: LexborNode | None = None
        own = elements.attributes(el)
        if (el.tag == "time" and "datetime" in own) or (el.tag in ("data", "meter") and "value" in own):
            stamp = el
        else:
            stamp = next(iter(elements.find(el, "time[datetime],data[value]")), None)
        if stamp is None or js.squash(stamp.text_lexbor()) != js.squash(el.text_lexbor()):
            return ""
        return elements.attribute(stamp, "datetime") or elements.attribute(stamp, "value") or ""

    def _leads_to(self, el: LexborNode) -> str:
        elements = self._elements
        name = _ADDRESSES.get(str(el.tag))
        if name and (own := elements.attribute(el, name)):
            return self._absolute(own)
        link = elements.closest(el, frozenset({"a"}), "href") or next(iter(elements.find(el, "a[href]")), None)
        if link is not None:
            return self._absolute(elements.attribute(link, "href") or "")
        picture = el if el.tag == "img" else next(iter(elements.find(el, "img[src]")), None)
        if picture is None:
            return ""
        around = elements.parent(picture)
        if "srcset" in elements.attributes(picture) or (around is not None and around.tag == "picture"):
            raise BeyondDocument("which picture is shown is known to a browser")
        source = elements.attribute(picture, "src")
        return self._absolute(source) if source else ""

    def _absolute(self, text: str) -> str:
        return resolved(text.strip("\t\n\f\r "), self._base)

    def _web(self, text: str) -> str:
        return self._absolute(text) if re.match(r"(https?:)?//", text) else ""

    def _gone(self, el: LexborNode) -> bool:
        """Return whether all that stands at the element is struck through: it is what holds no longer."""
        return self._elements.closest(el, STRUCK) is not None

    def _gone_in(self, el: LexborNode) -> bool:
        return self._gone(el) or bool(self._elements.find(el, _STRUCK))

    # --- what several nodes say -----------------------------------------------------------------------

    def _text(self, el: LexborNode, text: str, address: str = "", *, gone: bool = False) -> PlaceData:
        at = {"s": self._elements.selector(el), "v": int(self._elements.shown(el)), "w": "label", "k": "text"}
        return {**at, "t": text, "u": "" if gone else None, "e": "", "h": address, "p": []}

    def _together(self, nodes: Sequence[LexborNode], label: LexborNode | None) -> PlaceData:
        """Return what the nodes after a label say together."""
        assert label is not None
        elements = [node for node in nodes if node.is_element_node]
        if len(nodes) == 1 and len(elements) == 1:
            return self.place(elements[0], "label")
        if any(el.tag in ("input", "select", "textarea") or self._elements.find(el, _INNER) for el in elements):
            raise BeyondDocument("which control a label means is known to a browser")
        lines = any(self._elements.display(el) != "inline" for el in elements)
        said = [
            self._elements.text_of(node, plain=False) if node.is_element_node else node.text_content or ""
            for node in nodes
        ]
        text = ("\n" if lines else " ").join(said)
        without = re.compile(f"^[:：][{js.SPACE}]*")
        told = without.sub("", text.strip(js.TRIMMED)) if without.sub("", js.squash(text)) else ""
        links = [el for el in elements if el.tag == "a" and "href" in self._elements.attributes(el)]
        around = self._elements.parent(label)
        assert around is not None
        address = self._absolute(self._elements.attribute(links[0], "href") or "") if links else ""
        gone = self._gone(label) or any(map(self._gone_in, elements))
        place = self._text(around, told, address, gone=gone)
        return {**place, "v": int(self._elements.shown(label))}


def fields_of(arg: Mapping[str, Any]) -> list[tuple[str, str, str, str | None]]:
    """Name, kind, query and attribute of each field that a reading asks for."""
    return [(name, place["kind"], place["query"], place["attribute"]) for name, place in arg["fields"].items()]
