"""Parts of a page as `facts.js` sends them, with names in place of its short keys.

Parts of which a page has thousands are named tuples: these are made in two thirds of the time of a dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class Heading:
    """An element h1 to h6."""

    level: int  # 1 to 6
    text: str
    selector: str
    visible: bool
    region: str  # landmark around it, such as "nav"; "" in the page's own content
    in_fragment: bool  # within the part that the address names
    order: int  # place in the document
    link: str  # where it leads; "" without a link
    tip: str  # its tool tip, which may say in full what is shown cut off

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The heading that a script sent."""
        return cls(
            level=int(said["l"]),
            text=str(said["t"]),
            selector=str(said["s"]),
            visible=bool(said["v"]),
            region=str(said["r"]),
            in_fragment=bool(said.get("x")),
            order=int(said.get("o", 0)),
            link=str(said.get("h") or ""),
            tip=str(said.get("ti") or ""),
        )


@dataclass(frozen=True, slots=True)
class Anchor:
    """A section with an id."""

    id: str
    text: str  # its heading
    selector: str
    named: bool  # the address names this very section
    order: int  # place in the document

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The section that a script sent."""
        return cls(str(said["i"]), str(said["t"]), str(said["s"]), said.get("x", 0) == 2, int(said["o"]))


class LabeledValue(NamedTuple):
    """A value with the label that the page gives it: a row of a table, a line of a list, a control of a form."""

    how: str  # table, definition-list, label, heading, control or column
    label: str
    text: str
    selector: str  # of the element that holds the value
    visible: bool
    region: str  # landmark around it; "" in the page's own content
    more_labels: tuple[str, ...]
    parts: tuple[str, ...]  # text nodes of a short text
    exact: str  # the value as it is written for machines; "" where only the text says it
    link: str  # where it leads, or a picture's address
    struck: bool  # struck through
    names: str  # of the element that holds label and value: those ids and classes that may say that it is foreign
    around: str  # likewise of the elements around that one
    in_fragment: bool  # within the part that the address names
    order: int  # place in the document
    box: str  # the table, list or form that it is a line of; "" outside of one
    asking: bool  # of a form that searches or orders, rather than shows what is stored
    empty: bool  # the place is there and holds nothing
    options: tuple[str, ...]  # of a select: all that it offers
    is_checkbox: bool
    before_badges: str  # the text without the badges at its end, where it has some

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The value that a script sent."""
        return cls(
            how=str(said["how"]),
            label=str(said["l"]),
            text=str(said["t"]),
            selector=str(said["s"]),
            visible=bool(said["v"]),
            region=str(said.get("r", "")),
            more_labels=tuple(said.get("ls", ())),
            parts=tuple(said.get("p", ())),
            exact=str(said.get("z", "")),
            link=str(said.get("h", "")),
            struck=bool(said.get("st")),
            names=str(said.get("nm", "")),
            around=str(said.get("ar", "")),
            in_fragment=bool(said.get("x")),
            order=int(said.get("o", 0)),
            box=str(said.get("b") or ""),
            asking=bool(said.get("w")),
            empty=bool(said.get("em")),
            options=tuple(said.get("op", ())),
            is_checkbox=bool(said.get("ck")),
            before_badges=str(said.get("bb") or ""),
        )


class NamedElement(NamedTuple):
    """An element whose attributes tell what it holds."""

    tag: str
    names: str  # id and classes
    data: tuple[tuple[str, str], ...]  # data attributes, without `data-`
    text: str
    parts: tuple[str, ...]  # text nodes of a short text
    selector: str
    visible: bool
    region: str  # landmark around it; "" in the page's own content
    struck: bool  # struck through
    order: int  # place in the document
    in_fragment: bool  # within the part that the address names
    aria_label: str
    tip: str  # its tool tip, which may say in full what is shown cut off
    rel: str
    property: str  # of microdata or RDFa
    exact: str  # the value as it is written for machines; "" where only the text says it
    link: str  # where it leads, or a picture's address
    alt: str  # of a picture
    font_size: float  # CSS pixels; 0 where it was not measured
    around: str  # ids and classes of the elements around it that may say that it is foreign

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The element that a script sent."""
        return cls(
            tag=str(said["g"]),
            names=str(said["c"]),
            data=tuple((str(name), str(value)) for name, value in said["d"]),
            text=str(said["t"]),
            parts=tuple(said.get("p", ())),
            selector=str(said["s"]),
            visible=bool(said["v"]),
            region=str(said["r"]),
            struck=bool(said["st"]),
            order=int(said["o"]),
            in_fragment=bool(said.get("x")),
            aria_label=str(said.get("a", "")),
            tip=str(said.get("ti", "")),
            rel=str(said.get("rel", "")),
            property=str(said.get("pr", "")),
            exact=str(said.get("e", "")),
            link=str(said.get("h", "")),
            alt=str(said.get("alt", "")),
            font_size=float(said.get("f", 0)),
            around=str(said.get("ar", "")),
        )


@dataclass(frozen=True, slots=True)
class ItemValue:
    """A value of an item of microdata or RDFa."""

    text: str
    selector: str
    visible: bool
    link: str
    shown: str  # the visible text of its element


@dataclass(frozen=True, slots=True)
class Item:
    """An item of microdata or RDFa."""

    kind: str  # microdata or rdfa
    type: str  # addresses of its types, with spaces between them
    selector: str
    region: str  # landmark around it; "" in the page's own content
    in_card: bool  # inside a repeated block
    values: Mapping[str, tuple[ItemValue | Item, ...]]  # by property

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The item that a script sent."""
        values = {name: tuple(_item_part(part) for part in parts) for name, parts in said["props"].items()}
        return cls(
            kind=str(said.get("k", "")),
            type=str(said.get("type", "")),
            selector=str(said.get("s", "")),
            region=str(said.get("r", "")),
            in_card=bool(said.get("card")),
            values=values,
        )


def _item_part(said: Mapping[str, Json]) -> ItemValue | Item:
    if "props" in said:
        return Item.of(said)
    return ItemValue(
        text=str(said.get("t", "")),
        selector=str(said.get("s", "")),
        visible=bool(said.get("v")),
        link=str(said.get("h", "")),
        shown=str(said.get("shown", "")),
    )
