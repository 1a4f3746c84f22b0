"""The facts that a page states, which fields are matched against; they are read from its tree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.page.selectors import element_at
from shoal.agent.read.facts.page_parts import Anchor, Heading, LabeledValue, NamedElement
from shoal.agent.read.facts.texts import clean, one_line
from shoal.agent.read.facts.walk import Walk
from shoal.agent.read.grounding.part_claims import LOADING

_LOADING = re.compile(
    rf"(?mi)^[^\S\n]*(?:{LOADING}|just a moment)[\w ]{{0,20}}(?:\.{{2,}}|…)?[^\S\n]*$",
)
_PLACEHOLDER = re.compile(r"skeleton|shimmer|placeholder-glow|spinner|loading|loader", re.I)
_BUSY = etree.XPath(
    "descendant-or-self::*[@aria-busy = 'true' or (@role = 'progressbar' and not(@aria-valuenow))]", regexp=False
)
_MOST_METAS = 200
_SCRIPT = re.compile(r"javascript|module", re.I)


@dataclass(frozen=True)
class Facts:
    """One page, or one repeated block of it."""

    url: str = ""  # address of the document, with its fragment
    title: str = ""
    said_lang: str = ""
    plain_text: str = ""  # visible text of the record, without the blocks that are `set_apart`
    set_apart: Sequence[tuple[str, str]] = ()  # blocks that may be about something else: ids and classes, and the text
    said_busy: str = ""  # what says in markup that content is still coming, in words
    empty: Sequence[str] = ()  # visible elements that hold nothing where scripts run: tag, id and classes
    scripted: bool = False  # scripts run on the page: what is missing may still come
    pairs: Sequence[LabeledValue] = ()
    named: Sequence[NamedElement] = ()
    headings: Sequence[Heading] = ()
    anchors: Sequence[Anchor] = ()
    meta: Mapping[str, Sequence[str]] = field(default_factory=dict)  # contents of meta elements by lower-case name
    blocks: Mapping[int, Facts] = field(default_factory=dict)  # the elements that the caller named, each by itself

    @cached_property
    def text(self) -> str:
        """Visible text of the main record: without navigation, header, footer, asides and repeated blocks."""
        return "\n".join((self.plain_text, *(text for _, text in self.set_apart)))

    @cached_property
    def busy(self) -> str:
        """Return what says by itself that content is still coming, in words; "" when nothing does."""
        if self.said_busy or not self.scripted:
            return self.said_busy
        lines = (match.group().strip() for match in _LOADING.finditer(self.text[:2000]))
        waits = next((line for line in lines if not self._is_name(line)), "")
        return f'the text "{waits}"' if waits else ""

    def _is_name(self, line: str) -> bool:
        """Return whether a line is what the document is called, in words of its own: "Loading ramp"."""
        return " " in line and line[-1] not in ".…" and line in self.title

    @property
    def bare(self) -> bool:
        """Scripts run, and have shown next to nothing yet."""
        return self.scripted and len(self.text) < 200

    @cached_property
    def lang(self) -> str:
        """BCP 47 language of the page; "" when it does not say."""
        declared = self.said_lang or next(iter(self.meta.get("content-language", ())), "")
        region = next(iter(self.meta.get("og:locale", ())), "").replace("_", "-")
        return (
            region if region and (not declared or ("-" not in declared and region.startswith(declared))) else declared
        )

    @cached_property
    def h1(self) -> str:
        """Text of the page's own first visible h1; "" without one."""
        own = (heading for heading in self.headings if heading.level == 1 and heading.visible and not heading.region)
        return next((heading.text for heading in own if heading.text), "")


def facts_of(page: Page, words: Sequence[str] = (), records: Sequence[str] | None = None) -> Facts:
    """All that a page states about itself; with `records`, also what the elements of these selectors state one by one.

    With `words`, of the elements known by class or id only those whose names hold one of them.
    """
    walk = Walk(page, words, None if records is None else _chosen(page, records))
    scripted = any(_runs(script) for script in page.root.iter("script"))
    taken = walk.page_taken
    return Facts(
        url=page.url,
        title=walk.surroundings.title,
        said_lang=page.root.get("lang") or "",
        plain_text=taken.text,
        set_apart=[(names, text) for names, texts in walk.apart if (text := clean("".join(texts)))],
        said_busy=_busy(page),
        empty=walk.empty if scripted else (),
        scripted=scripted,
        pairs=taken.pairs,
        named=taken.named,
        headings=taken.headings,
        anchors=walk.anchors,
        meta=_metas(page),
        blocks={
            block.position: Facts(plain_text=block.text, pairs=block.pairs, named=block.named, headings=block.headings)
            for block in walk.blocks
            if block.position is not None
        },
    )


def _chosen(page: Page, selectors: Sequence[str]) -> dict[HtmlElement, int]:
    """The elements that selectors lead to, with their places among them."""
    chosen = ((element_at(page, selector), place) for place, selector in enumerate(selectors))
    return {el: place for el, place in chosen if el is not None}


def _runs(script: HtmlElement) -> bool:
    kind = script.get("type") or ""
    return not kind or _SCRIPT.search(kind) is not None


def _metas(page: Page) -> dict[str, list[str]]:
    metas: dict[str, list[str]] = {}
    for el in list(page.root.iter("meta"))[:_MOST_METAS]:
        name = el.get("property") or el.get("name") or el.get("http-equiv")
        if name and el.get("content") is not None:
            metas.setdefault(name.lower(), []).append(el.get("content"))
    return metas


def _busy(page: Page) -> str:
    """Return what says in markup that content is still coming: in words for people, "" when nothing does."""
    for el in _BUSY(page.root):
        if page.is_visible(el):
            return "aria-busy" if el.get("aria-busy") is not None else "a progress bar"
    for el in page.elements:
        is_called = el.tag != "body" and _PLACEHOLDER.search(el.get("class") or "") and page.is_visible(el)
        if is_called and len(one_line(el.text_content())) < 40:
            return "a placeholder for content"
    return "the document" if page.loading else ""
