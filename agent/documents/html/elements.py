"""The elements of a raw document with what a browser says of them before any style sheet of the site is known.

The style of a browser alone decides here what is shown and what stands in a line of its own. Each element for which
that was asked is noted with its kind, so that others can tell whether a browser was seen to say the same of that kind.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NoReturn, cast

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from shoal.agent.documents.addresses import resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import STRUCK, Elements, Node

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
_PSEUDO = re.compile(
    r":(?!(?:not|is|where|has|first-child|last-child|only-child|first-of-type|last-of-type|only-of-type|empty"
    r"|nth-child|nth-last-child|nth-of-type|nth-last-of-type)\b)"
)
_QUOTED = re.compile(r"\"[^\"\\]*\"|'[^'\\]*'")


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


@cache
def _css(tags: tuple[str, ...], attribute: str) -> str:
    return ",".join(f"{tag}[{attribute}]" if attribute else tag for tag in tags or ("*",))


class DocumentElements(Elements):
    """One parsed document; what is asked of its elements is noted in `kinds`."""

    most_slots = 20_000
    most_text = 40_000  # a page cuts longer ones elsewhere

    def __init__(self, tree: LexborHTMLParser, base: str) -> None:
        super().__init__()
        self.tree = tree
        root = tree.root
        if root is None or root.tag != "html" or tree.body is None or tree.body.tag != "body":
            raise BeyondDocument("the document has no body")
        self.root: LexborNode = root
        self.body: LexborNode = tree.body
        self._base = base
        self._shown: dict[int, tuple[bool, frozenset[str]]] = {}  # with the kinds of elements that it rests on
        self._kind: dict[int, str] = {}
        self._attributes: dict[int, dict[str, str | None]] = {}

    def only_in_browser(self, why: str) -> NoReturn:
        """Leaves it to a browser.

        Raises:
            BeyondDocument: always.
        """
        raise BeyondDocument(why)

    # --- the tree -------------------------------------------------------------------------------------

    def attributes(self, el: Node) -> dict[str, str | None]:
        """The attributes of an element, each read once."""
        known = self._attributes.get(el.mem_id)
        if known is None:
            known = self._attributes[el.mem_id] = cast(LexborNode, el).attributes
        return known

    def below(self, scope: Node, tags: tuple[str, ...] = (), attribute: str = "") -> list[Node]:
        """Elements in `scope` of these tags, with this attribute where one is named, in order."""
        only = scope.first_child
        if only is None or (only.is_text_node and only.next is None):
            return []  # most elements that are asked; the parser would take the selector apart for each
        several = cast(LexborNode, scope).css(_css(tags, attribute))
        return [el for el in several if el.mem_id != scope.mem_id]

    def with_id(self, name: str) -> Node | None:
        """The first element of an id."""
        return self.tree.css_first(f'[id="{name}"]') if '"' not in name and "\\" not in name else None

    def selected(self, scope: Node, name: str, query: str) -> list[Node]:
        """Return what the document has for a selector."""
        return self.found(query)

    def found(self, selector: str) -> list[Node]:
        """The elements of a selector.

        Raises:
            BeyondDocument: it is unknown here, or may mean something else.
        """
        check_selector(selector)
        try:
            return list(self.tree.css(selector))
        except SelectolaxError as error:
            raise BeyondDocument(f"the selector {selector} is not known here") from error

    # --- what is shown --------------------------------------------------------------------------------

    def is_rendered(self, el: Node) -> bool:
        """Return whether a browser shows it.

        Raises:
            BeyondDocument: that depends on what only a browser knows.
        """
        shown, kinds = self._shown.get(el.mem_id) or self._rendering(el)
        self.kinds |= kinds
        return shown

    def _rendering(self, el: Node) -> tuple[bool, frozenset[str]]:
        """Return whether a browser shows it, and the kinds of the elements that say so: it, and those around."""
        around = self.parent(el)
        shown, kinds = self._shows_itself(el, around), frozenset({self._kind_of(el)})
        if shown and around is not None:
            shown, above = self._shown.get(around.mem_id) or self._rendering(around)
            kinds |= above
        self._shown[el.mem_id] = shown, kinds
        return shown, kinds

    def _shows_itself(self, el: Node, around: Node | None) -> bool:
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

    def display(self, el: Node) -> str:
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

    def keeps_space(self, el: Node) -> bool:
        """Return whether the spaces and lines right in it count."""
        return el.tag in _PREFORMATTED

    def preformatted(self, el: Node) -> bool:
        """Return whether its spaces and lines count."""
        return any(at.tag in _PREFORMATTED for at in self.up(el))

    def note(self, el: Node) -> None:
        """Notes the kind of an element of which style was asked."""
        self.kinds.add(self._kind_of(el))

    def _kind_of(self, el: Node) -> str:
        kind = self._kind.get(el.mem_id)
        if kind is None:
            kind = self._kind[el.mem_id] = self._made_kind(el)
        return kind

    def _made_kind(self, el: Node) -> str:
        given = self.attributes(el)
        names = " ".join(sorted(given))
        attributes = [f"{name}={_DIGITS.sub('#', given[name] or '')}" for name in _TELLING if name in given]
        return f"{el.tag} {names} {' '.join(attributes)}"

    # --- what a document states -----------------------------------------------------------------------

    def struck(self, el: Node) -> bool:
        """Return whether markup strikes it through."""
        return self.closest(el, STRUCK) is not None

    def checked(self, el: Node) -> bool:
        """Return whether a check box is set."""
        return "checked" in self.attributes(el)

    def chosen(self, select: Node) -> list[Node]:
        """Nothing: only a browser knows."""
        self.only_in_browser("what a control holds is known to a browser")

    def value(self, el: Node) -> str:
        """The value that a field states."""
        return self.attribute(el, "value") or ""

    def picture(self, img: Node) -> str:
        """The address of a picture, as it is written."""
        return self.attribute(img, "src") or ""

    def absolute(self, text: str) -> str:
        """An address in full."""
        return resolved(text, self._base)
