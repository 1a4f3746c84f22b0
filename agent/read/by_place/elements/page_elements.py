"""The elements of a page's tree, as the reader of places asks for them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from functools import cache, cached_property
from typing import cast

import ada_url
from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.browser_style import LAYOUT_OF_TAG, PRE_TAGS
from shoal.agent.page.marks import LAYOUTS
from shoal.agent.page.page import Page
from shoal.agent.page.xml_text import xml_name
from shoal.agent.read.by_place.elements.elements import STRUCK, Elements, Node
from shoal.agent.support.web_addresses import is_web

_DISPLAYS = {"block": "block", "cell": "cell", "inline": "inline", "inline-block": "inline", "contents": "inline"}
"""By layouts; the others have lines of their own, and are no blocks."""


GUARD = "guard "
"""Before a selector that a guard asks for: its name where the page is taken."""
_AFTER_PATH = re.compile("[?#]")


@cache
def _with(attribute: str) -> etree.XPath:
    return etree.XPath(f"descendant::*[@{attribute}]")


class PageNode:
    """An element of a page, or a text in it."""

    __slots__ = ("_of", "el", "is_element_node", "is_text_node", "mem_id", "tag", "text_content")

    def __init__(self, of: PageElements, el: HtmlElement, number: int, text: str | None = None) -> None:
        self._of = of
        self.el = el  # of a text: the element that it is the text or the tail of
        self.mem_id = number  # of a text: -1, of a tail -2
        self.tag = None if number < 0 else str(el.tag)
        self.text_content = text
        self.is_text_node = number < 0
        self.is_element_node = number >= 0

    @property
    def parent(self) -> PageNode | None:
        """The element around."""
        around = self.el if self.mem_id == -1 else self.el.getparent()
        return None if around is None else self._of.node(around)

    @property
    def first_child(self) -> PageNode | None:
        """The first node in it."""
        if self.is_text_node:
            return None
        if self.el.text:
            return PageNode(self._of, self.el, -1, self.el.text)
        return self._of.node(self.el[0]) if len(self.el) else None

    @property
    def next(self) -> PageNode | None:
        """The node behind it."""
        if self.mem_id == -1:
            return self._of.node(self.el[0]) if len(self.el) else None
        if self.is_element_node and self.el.tail:
            return PageNode(self._of, self.el, -2, self.el.tail)
        behind = self.el.getnext()
        return None if behind is None else self._of.node(behind)

    def text_lexbor(self) -> str:
        """All texts in it."""
        return self._of.text_in(self.mem_id) if self.is_element_node else self.text_content or ""


class PageElements(Elements):
    """The elements of one page, as a browser shows them."""

    most_slots = 400_000
    most_text = 100_000

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self._nodes: list[PageNode | None] = [None] * len(page.elements)
        body = next(page.root.iter("body"), page.root)
        self.root = self.node(page.root)
        self.body = self.node(body)
        self._base = page.root.base_url or page.url

    def node(self, el: HtmlElement) -> PageNode:
        """The node of an element."""
        return self.numbered(self.page.number(el))

    def numbered(self, number: int) -> PageNode:
        """The node of the element with this number."""
        node = self._nodes[number]
        if node is None:
            node = self._nodes[number] = PageNode(self, self.page.elements[number], number)
        return node

    def element(self, node: Node) -> HtmlElement:
        """The element of a node."""
        return self.page.elements[node.mem_id]

    def only_in_browser(self, why: str) -> None:
        """Goes on: a browser shows the page."""

    # --- texts ----------------------------------------------------------------------------------------

    @cached_property
    def _texts(self) -> tuple[str, array[int], array[int]]:
        """All texts of the page, and where those of each element begin and end."""
        pieces: list[str] = []
        starts, ends = (array("q", bytes(8 * len(self._nodes))) for _ in range(2))
        at, begun, opened = 0, 0, list[int]()
        for event, el in etree.iterwalk(self.page.root, events=("start", "end")):
            text = el.text if event == "start" else el.tail
            if event == "start":
                starts[begun] = at
                opened.append(begun)
                begun += 1
            else:
                ends[opened.pop()] = at
            if text and opened:
                pieces.append(text)
                at += len(text)
        return "".join(pieces), starts, ends

    def text_in(self, number: int) -> str:
        """All texts in the element with this number."""
        text, starts, ends = self._texts
        return text[starts[number] : ends[number]]

    # --- the tree -------------------------------------------------------------------------------------

    def attributes(self, el: Node) -> Mapping[str, str | None]:
        """The attributes of an element, their names as XML has them."""
        return cast(Mapping[str, str | None], self.element(el).attrib)

    def attribute(self, el: Node, name: str) -> str | None:
        """Return what `getAttribute` gives."""
        stated = self.element(el).get(xml_name(name))
        return None if stated is None else str(stated)

    def below(self, scope: Node, tags: tuple[str, ...] = (), attribute: str = "") -> list[Node]:
        """Elements in `scope` of these tags, with this attribute where one is named, in order."""
        if not tags:
            return [self.node(el) for el in cast(list[HtmlElement], _with(attribute)(self.element(scope)))]
        several = self.element(scope).iterdescendants(*tags)
        return [self.node(el) for el in several if not attribute or attribute in el.attrib]

    def children(self, el: Node) -> list[Node]:
        """The elements right below."""
        return [self.node(child) for child in self.element(el).iterchildren(etree.Element)]

    def with_id(self, name: str) -> Node | None:
        """The first element of an id."""
        el = self._by_id.get(name)
        return None if el is None else self.node(el)

    @cached_property
    def _by_id(self) -> Mapping[str, HtmlElement]:
        return {str(el.get("id")): el for el in reversed(self.page.elements) if el.get("id")}

    def selected(self, scope: Node, name: str, query: str) -> list[Node]:
        """Return what the browser found for the selector of a field when the page was taken."""
        if scope.mem_id == self.root.mem_id:
            numbers = self.page.matches.get(f"fields.{name}") or ()
        else:
            numbers = self.page.inner.get(scope.mem_id, {}).get(f"fields.{name}", ())
        return [self.numbered(number) for number in numbers]

    def found(self, selector: str) -> list[Node]:
        """Return what the browser found for a selector that a guard asks for when the page was taken."""
        return [self.numbered(number) for number in self.page.matches.get(GUARD + selector) or ()]

    # --- what a browser shows -------------------------------------------------------------------------

    def is_rendered(self, el: Node) -> bool:
        """Return whether it has its place on the page, though it may be transparent, clipped away or off it."""
        return self.page.drawn(self.element(el))

    def display(self, el: Node) -> str:
        """Return how it is laid out; of what is not, as its tag is."""
        layout = self.page.layout(self.element(el))
        if layout == "none":
            layout = LAYOUTS[LAYOUT_OF_TAG.get(el.tag or "", LAYOUTS.index("inline"))]
        return _DISPLAYS.get(layout, "other")

    def keeps_space(self, el: Node) -> bool:
        """Return whether the spaces and lines right in it count."""
        return self.page.pre(self.element(el)) or el.tag in PRE_TAGS

    def preformatted(self, el: Node) -> bool:
        """The same: a browser tells it of each element."""
        return self.keeps_space(el)

    def struck(self, el: Node) -> bool:
        """Return whether a line goes through it, by its markup or by its style."""
        return self.page.struck(self.element(el)) or self.closest(el, STRUCK) is not None

    # --- fields ---------------------------------------------------------------------------------------

    def checked(self, el: Node) -> bool:
        """Return whether a check box or a radio button is set."""
        return self.page.checked(self.element(el))

    def chosen(self, select: Node) -> list[Node]:
        """The options that are chosen."""
        return [option for option in self.below(select, ("option",)) if self.page.selected(self.element(option))]

    def value(self, el: Node) -> str:
        """Return what a field or an option holds now."""
        return self.page.value(self.element(el)) or ""

    # --- addresses ------------------------------------------------------------------------------------

    def picture(self, img: Node) -> str:
        """The address of the picture that the browser chose."""
        return self.page.values.get(img.mem_id) or self.attribute(img, "src") or ""

    def absolute(self, text: str) -> str:
        """An address in full; "" where it is none."""
        try:
            address = ada_url.join_url(self._base, text)
        except ValueError:
            return ""
        if "|" not in address or not is_web(address):
            return address
        path = _AFTER_PATH.split(address, maxsplit=1)[0]
        return path.replace("|", "%7C") + address[len(path) :]  # as Chromium writes it, and the standard does not
