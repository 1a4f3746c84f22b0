"""Parts of a page as fields are matched against them.

Parts of which a page has thousands are named tuples: these are made in two thirds of the time of a dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Heading:
    """An element h1 to h6, or what is called the title of a page without an h1."""

    level: int  # 1 to 6
    text: str
    selector: str
    visible: bool = True
    region: str = ""  # landmark around it, such as "nav"; "" in the page's own content
    in_fragment: bool = False  # within the part that the address names
    order: int = 0  # place in the document
    link: str = ""  # where it leads
    tip: str = ""  # its tool tip, which may say in full what is shown cut off


@dataclass(frozen=True, slots=True)
class Anchor:
    """A section with an id."""

    id: str
    text: str  # its heading
    selector: str
    named: bool  # the address names this very section
    order: int  # place in the document


class LabeledValue(NamedTuple):
    """A value with the label that the page gives it: a row of a table, a line of a list, a control of a form."""

    how: str  # table, definition-list, label, heading, control or column
    label: str
    text: str
    selector: str  # of the element that holds the value
    visible: bool = True
    region: str = ""  # landmark around it; "" in the page's own content
    more_labels: tuple[str, ...] = ()
    exact: str = ""  # the value as it is written for machines; "" where only the text says it
    link: str = ""  # where it leads, or a picture's address
    struck: bool = False  # struck through
    names: str = ""  # of the element that holds label and value: those ids and classes that may say that it is foreign
    around: str = ""  # likewise of the elements around that one
    in_fragment: bool = False  # within the part that the address names
    order: int = 0  # place in the document
    box: str = ""  # the table, list or form that it is a line of; "" outside of one
    asking: bool = False  # of a form that searches or orders, rather than shows what is stored
    empty: bool = False  # the place is there and holds nothing
    options: tuple[str, ...] = ()  # of a select: all that it offers
    is_checkbox: bool = False
    before_badges: str = ""  # the text without the badges at its end, where it has some


class NamedElement(NamedTuple):
    """An element whose attributes tell what it holds."""

    tag: str
    names: str  # id and classes
    data: tuple[tuple[str, str], ...]  # data attributes, without `data-`
    text: str
    parts: tuple[str, ...]  # text nodes of a short text
    selector: str
    visible: bool = True
    region: str = ""  # landmark around it; "" in the page's own content
    struck: bool = False  # struck through
    order: int = 0  # place in the document
    in_fragment: bool = False  # within the part that the address names
    aria_label: str = ""
    tip: str = ""  # its tool tip, which may say in full what is shown cut off
    rel: str = ""
    property: str = ""  # of microdata or RDFa
    exact: str = ""  # the value as it is written for machines; "" where only the text says it
    link: str = ""  # where it leads, or a picture's address
    alt: str = ""  # of a picture
    font_size: int = 0  # CSS pixels; 0 where it is not known
    around: str = ""  # ids and classes of the elements around it that may say that it is foreign


class Around(NamedTuple):
    """The properties of an element that hold for all that is within it."""

    hidden: bool = False
    region: str = ""
    card: bool = False
    struck: bool = False
    inside: bool = False  # of the page's own content
    in_fragment: bool = False
    names: str = ""  # of the element itself: those that may say that it is about something else
    around: str = ""  # of the elements around it
    within: str = ""  # of both
    apart: list[str] | None = None  # where its text goes, which may be about something else


@dataclass(slots=True)
class Taken:
    """The facts taken of a page, or of one of the elements that the caller named."""

    pairs: list[LabeledValue] = field(default_factory=list)
    named: list[NamedElement] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    text: str = ""
    position: int | None = None  # of a named element among them
