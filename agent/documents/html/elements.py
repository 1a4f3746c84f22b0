"""The elements of a raw document with what a browser says of them before any style sheet of the site is known.

The style of a browser alone decides here what is shown and what stands in a line of its own. Each element for which
that was asked is noted with its kind, so that others can tell whether a browser was seen to say the same of that kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.html import text as js

LONGEST_TEXT = 40_000
"""Characters of a text; the page would cut longer ones by another count."""

SILENT = frozenset({"script", "style", "noscript", "template", "head"})
CONTROLS = frozenset({"input", "select", "textarea"})
STRUCK = frozenset({"del", "s", "strike"})
_HIDDEN = frozenset(
    {
        "area",
        "base",
        "basefont",
        "datalist",
        "head",
        "link",
        "meta",
        "noembed",
        "noframes",
        "noscript",
        "param",
        "rp",
        "script",
        "style",
        "template",
        "title",
    }
)
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "listing",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "plaintext",
        "pre",
        "search",
        "section",
        "summary",
        "ul",
        "xmp",
    }
)
_OTHER_BLOCKS = frozenset({"li", "table", "caption", "colgroup", "col", "tbody", "thead", "tfoot", "tr"})
"""Tags that have lines of their own, but are called otherwise: list items and parts of tables."""
_CELLS = frozenset({"td", "th"})
_PREFORMATTED = frozenset({"pre", "listing", "plaintext", "xmp"})
_UNTOLD = frozenset(
    {
        "ruby",
        "rt",
        "rb",
        "rtc",
        "audio",
        "video",
        "canvas",
        "object",
        "embed",
        "iframe",
        "frame",
        "applet",
        "svg",
        "math",
        "marquee",
        "slot",
    }
)
"""Elements whose text a browser shows or hides by rules that are not told here."""
_STYLED = re.compile(r"display|visibility|white-space|content-visibility|\ball\s*:", re.IGNORECASE)
_NONE = re.compile(r"\s*display\s*:\s*none\s*;?\s*", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_TELLING = ("class", "style", "role", "type", "dir", "aria-hidden", "aria-expanded", "data-state", "align", "id")
_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Elements:
    """One parsed document; what is asked of its elements is noted in `kinds`."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self.tree = tree
        root = tree.root
        if root is None or root.tag != "html" or tree.body is None or tree.body.tag != "body":
            raise BeyondDocument("the document has no body")
        self.root = root
        self.body = tree.body
        self.kinds: set[str] = set()
        self._shown: dict[int, bool] = {}
        self._kind: dict[int, str] = {}
        self._attributes: dict[int, dict[str, str | None]] = {}
        self._selectors: dict[int, str] = {}

    # --- the tree -------------------------------------------------------------------------------------

    def attributes(self, el: LexborNode) -> dict[str, str | None]:
        """The attributes of an element, each read once."""
        known = self._attributes.get(el.mem_id)
        if known is None:
            known = self._attributes[el.mem_id] = el.attributes
        return known

    def attribute(self, el: LexborNode, name: str) -> str | None:
        """Return what `getAttribute` gives; "" for one without a value."""
        given = self.attributes(el)
        return (given[name] or "") if name in given else None

    def find(self, scope: LexborNode, selector: str) -> list[LexborNode]:
        """Return what `scope.querySelectorAll` gives."""
        return [el for el in scope.css(selector) if el.mem_id != scope.mem_id]

    def parent(self, el: LexborNode) -> LexborNode | None:
        """The element around; None for the root."""
        if el.mem_id == self.root.mem_id:
            return None
        return el.parent

    def up(self, el: LexborNode) -> Iterator[LexborNode]:
        """The element and those around it, up to the root."""
        at: LexborNode | None = el
        while at is not None:
            yield at
            at = self.parent(at)

    def closest(self, el: LexborNode, tags: frozenset[str], attribute: str = "") -> LexborNode | None:
        """The nearest of these tags, with this attribute where one is named."""
        for at in self.up(el):
            if at.tag in tags and (not attribute or attribute in self.attributes(at)):
                return at
        return None

    def selector(self, el: LexborNode) -> str:
        """A CSS selector of the element, as the page's reader names it."""
        known = self._selectors.get(el.mem_id)
        if known is None:
            known = self._selectors[el.mem_id] = self._selector(el)
        return known

    def _selector(self, el: LexborNode) -> str:
        if el.mem_id == self.root.mem_id:
            return "html"
        if el.mem_id == self.body.mem_id:
            return "body"
        own = self.attribute(el, "id")
        if own and _PLAIN_ID.fullmatch(own) and _same(self.tree.css_first(f'[id="{own}"]'), el):
            return f"#{own}"
        kin = [child for child in children(el.parent) if child.tag == el.tag] if el.parent is not None else [el]
        place = next(n for n, sibling in enumerate(kin, 1) if sibling.mem_id == el.mem_id)
        around = self.parent(el)
        before = f"{self.selector(around)} > " if around is not None else ""
        return f"{before}{el.tag}" + (f":nth-of-type({place})" if len(kin) > 1 else "")

    # --- what is shown --------------------------------------------------------------------------------

    def shown(self, el: LexborNode) -> bool:
        """Return whether a browser shows it.

        Raises:
            BeyondDocument: that depends on what only a browser knows.
        """
        self.note(el)
        known = self._shown.get(el.mem_id)
        if known is None:
            around = self.parent(el)
            known = self._shows_itself(el, around) and (around is None or self.shown(around))
            self._shown[el.mem_id] = known
        elif (around := self.parent(el)) is not None:
            self.shown(around)  # a field that asks later depends on the same elements
        return known

    def _shows_itself(self, el: LexborNode, around: LexborNode | None) -> bool:
        tag = str(el.tag)
        given = self.attributes(el)
        style = given.get("style") or ""
        if _STYLED.search(style):
            if _NONE.fullmatch(style):
                return False
            raise BeyondDocument(f"the style of <{tag}> says how it is shown")
        if tag in _UNTOLD or tag in ("dialog", "details") or "popover" in given or given.get("hidden") == "until-found":
            if tag in ("svg", "math") and not js.squash(el.text_lexbor()):
                return True
            raise BeyondDocument(f"what <{tag}> shows is not told by the document")
        if "hidden" in given or tag in _HIDDEN:
            return False
        if around is not None and around.tag in _UNTOLD:
            raise BeyondDocument(f"what <{around.tag}> shows is not told by the document")
        return not (tag == "input" and (given.get("type") or "").lower() == "hidden")

    def display(self, el: LexborNode) -> str:
        """`block`, `cell`, `other` (lines of its own, but no block by name) or `inline`."""
        self.note(el)
        tag = el.tag
        given = self.attributes(el)
        if tag in _HIDDEN or "hidden" in given or _NONE.fullmatch(given.get("style") or ""):
            return "other"
        if tag in _BLOCKS:
            return "block"
        if tag in _CELLS:
            return "cell"
        if tag in _OTHER_BLOCKS:
            return "other"
        if tag in _UNTOLD and js.squash(el.text_lexbor()):
            raise BeyondDocument(f"how <{tag}> is laid out is not told by the document")
        return "inline"

    def preformatted(self, el: LexborNode) -> bool:
        """Return whether its spaces and lines count."""
        return any(at.tag in _PREFORMATTED for at in self.up(el))

    def note(self, el: LexborNode) -> None:
        """Notes the kind of an element of which style was asked."""
        kind = self._kind.get(el.mem_id)
        if kind is None:
            kind = self._kind[el.mem_id] = self._kind_of(el)
        self.kinds.add(kind)

    def _kind_of(self, el: LexborNode) -> str:
        given = self.attributes(el)
        names = " ".join(sorted(given))
        told = [f"{name}={_DIGITS.sub('#', given[name] or '')}" for name in _TELLING if name in given]
        return f"{el.tag} {names} {' '.join(told)}"

    # --- texts ----------------------------------------------------------------------------------------

    def text_of(self, el: LexborNode, *, plain: bool) -> str:
        """The text of the document in `el`; with `plain` without what is struck through.

        Raises:
            BeyondDocument: it is longer than can be compared, or depends on what only a browser knows.
        """
        pieces: list[str] = []
        self._gather(el, pieces, keep=self.preformatted(el), plain=plain, whole=not self.shown(el))
        text = js.lines("".join(pieces))
        if len(text) > LONGEST_TEXT:
            raise BeyondDocument("a text is very long")
        return text

    def _gather(self, el: LexborNode, pieces: list[str], *, keep: bool, plain: bool, whole: bool) -> None:
        child = el.first_child
        while child is not None:
            if child.is_text_node:
                text = child.text_content or ""
                pieces.append(text if keep else js.collapsed(text))
            elif child.is_element_node:
                self._gather_element(child, pieces, keep=keep, plain=plain, whole=whole)
            child = child.next

    def _gather_element(self, el: LexborNode, pieces: list[str], *, keep: bool, plain: bool, whole: bool) -> None:
        tag = el.tag
        if tag in SILENT or tag in CONTROLS:
            return
        if tag == "br":
            pieces.append("\n")
            return
        if not whole and not self.shown(el):
            return
        if plain and tag in STRUCK:
            return
        display = self.display(el)
        edge = "" if display == "inline" else " " if display == "cell" else "\n"
        pieces.append(edge)
        self._gather(el, pieces, keep=keep or tag in _PREFORMATTED, plain=plain, whole=whole)
        pieces.append(edge)


def children(el: LexborNode | None) -> list[LexborNode]:
    """The elements right below."""
    elements = []
    child = el.first_child if el is not None else None
    while child is not None:
        if child.is_element_node:
            elements.append(child)
        child = child.next
    return elements


def text_nodes(el: LexborNode) -> Iterator[LexborNode]:
    """The text nodes below, in order."""
    child = el.first_child
    while child is not None:
        if child.is_text_node:
            yield child
        elif child.is_element_node and child.tag != "template":
            yield from text_nodes(child)
        child = child.next


def _same(el: LexborNode | None, other: LexborNode) -> bool:
    return el is not None and el.mem_id == other.mem_id
