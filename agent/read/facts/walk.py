"""One walk over a page's tree that takes what fields are matched against: labels with values, named elements, text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urldefrag

from lxml.html import HtmlElement

from shoal.agent.page import marks as m
from shoal.agent.page.page import Page
from shoal.agent.page.selectors import Selectors
from shoal.agent.read.facts.labels import Labels
from shoal.agent.read.facts.page_parts import Anchor, Around, Heading, NamedElement, Taken
from shoal.agent.read.facts.pictures import picture_address
from shoal.agent.read.facts.struck import is_struck
from shoal.agent.read.facts.surroundings import HEADINGS, Surroundings
from shoal.agent.read.facts.tables import Grids, is_row, is_table
from shoal.agent.read.facts.texts import LONGEST_TEXT, SKIPPED, clean, is_initials, is_note_mark, names_of, one_line
from shoal.agent.read.values.phrases import phrase
from shoal.agent.read.word_lists.labels import AROUND
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.web_addresses import reached_by

_MOST_NAMED = 1_500
_MOST_OWN = 100_000
_MOST_ANCHORS = 300
_MOST_EMPTY = 30
_MOST_PARTS = 12
_MOST_BESIDE_CODE = 40
"""Characters of a paragraph that names and presents a piece of code, as "Since version 1.2"."""
_LONG = 300
_MOST_LONG = 200_000
_MOST_LONG_OF_RECORDS = 600_000
"""Characters of long texts that are kept in all."""
_DEEPEST = 200
_SHORT = 80
_NUMBER_BEHIND = re.compile(r"\(?#\d+\)?")
_LONE_TAGS = frozenset({"time", "img", "address", "del", "s", "strike"})
"""Elements that tell by their tag what they hold."""
_HOLDERS = frozenset(["div", "section", "main", "article", "ul", "ol", "dl", "table", "tbody", "span", "p", "h1", "h2"])
_CODE = frozenset({"code", "tt", "kbd", "samp", "var"})
_NOT_DRAWN = m.NONE | m.INVISIBLE | m.UNSLOTTED
"""Why an element is not drawn, however much of the page is opened."""
_APART_WORDS = "|".join(sorted({word.removesuffix("y") for text in AROUND for word in phrase(text)}))
_APART = re.compile(rf"(?:^|[^a-z])(?:{_APART_WORDS})(?:y|ies|s)?(?![a-z])", re.I)
"""Names of blocks that may be about something else."""
_SPACES = re.compile(r"\s+")
_CAPITAL = re.compile(r"([a-z0-9])([A-Z])")


class Walk:
    """One walk. `taken`, and of each named element `blocks`, hold what it took.

    Args:
        words: parts of the words that the schema asks for: elements that are known by class or id, and whose names hold
            none of them, are left out. Empty: all are taken.
        records: the elements that the caller names; None: the page is read as one record.
    """

    def __init__(self, page: Page, words: Sequence[str] = (), records: Mapping[HtmlElement, int] | None = None) -> None:
        self.page, self._records = page, records
        self.grids = Grids()
        self.surroundings = Surroundings(page, self.grids)
        self.selectors = Selectors(page)
        self._words = tuple(word.lower() for word in words)
        self._asked: dict[str, bool] = {}  # by names: pages have the same ones on many elements
        self.taken = self.page_taken = Taken()
        self.blocks: list[Taken] = []
        self.anchors: list[Anchor] = []
        self.empty: list[str] = []
        self.apart: list[tuple[str, list[str]]] = []
        self.texts: dict[HtmlElement, str] = {}
        self.struck_texts: dict[HtmlElement, str] = {}
        self.order = 0
        self._long_left = _MOST_LONG if records is None else _MOST_LONG_OF_RECORDS
        self._own: list[str] = []
        self._own_length = 0
        self._paragraphs: dict[HtmlElement, int] = {}
        self._teasers = self.surroundings.teasers() if records is None else set()
        self._target = self._named_by_address()
        self.labels = Labels(self)
        body = page.root.find("body")
        if body is not None:
            self._walk(body, Around(), 0)
        self.page_taken.text = clean("".join(self._own))[:_MOST_OWN]

    @property
    def many(self) -> bool:
        """True where records are read one by one."""
        return self._records is not None

    def _named_by_address(self) -> HtmlElement | None:
        """The section that the address names by its fragment."""
        name = unquote(urldefrag(self.page.url).fragment)
        own = next((el for el in self.page.elements if name and el.get("id") == name), None)
        target = own
        while target is not None and target.tag != "body" and next(target.iterdescendants(*HEADINGS), None) is None:
            target = target.getparent()
        if target is None or target.tag in ("body", "html"):
            return None
        text = one_line(target.text_content()[:6_000])[:3_000]
        self.anchors.append(Anchor(name, text, f"#{name}", named=True, order=0))
        return target

    def asks(self, names: str) -> bool:
        """True for names that hold a word which is looked for; all do where none is."""
        asked = self._asked.get(names)
        if asked is None:
            lower = names.lower()
            asked = self._asked[names] = not self._words or any(word in lower for word in self._words)
        return asked

    def spends(self, text: str) -> bool:
        """True for a text that is short, or one of the long ones that are kept."""
        if len(text) > _LONG:
            self._long_left -= len(text)
            return self._long_left >= 0
        return True

    # --- the walk -------------------------------------------------------------------------------------

    def _walk(self, el: HtmlElement, around: Around, depth: int) -> tuple[str, list[str]]:
        """The element's text, without what is struck through unless all of it is, and its parts."""
        self.order += 1
        at, text, parts = self.order, [""], list[str]()
        members = self.surroundings.repeated(el) if self._records is None and len(el) else set()
        headed = blocks = False
        apart = len(el) > 1 and not any(each and each.strip() for each in (el.text, *(child.tail for child in el)))
        if el.text:
            self._add_text(el.text, around, text, parts)
        for child in el:
            if isinstance(child.tag, str):
                headed = headed or child.tag in HEADINGS[1:]
                before = len(text)
                blocks = self._child(child, el, around, depth, child in members, text, parts) or blocks
                if apart and before < len(text) and text[before - 1][-1:].isalnum() and text[before][:1].isalnum():
                    text.insert(before, " ")  # style sets apart what stands in elements of its own
            if child.tail:
                self._add_text(child.tail, around, text, parts)
        joined = "".join(text)
        self._finish(el, joined, parts, blocks, headed, around, at)
        return joined, parts if len(parts) <= _MOST_PARTS else []

    def _add_text(self, data: str, around: Around, text: list[str], parts: list[str]) -> None:
        sink = self._own if around.apart is None else around.apart
        aside = bool(around.region) or around.card
        bare = data.strip()
        if not bare:
            text.append(" ")
            sink.append(" ")
            return
        plain = _SPACES.sub(" ", data)
        text.append(plain)
        parts.append(bare)
        if not (aside or around.hidden or around.struck) and self._own_length < _MOST_OWN:
            self._own_length += len(plain)
            sink.append(plain)

    def _child(
        self,
        child: HtmlElement,
        el: HtmlElement,
        around: Around,
        depth: int,
        is_member: bool,
        text: list[str],
        parts: list[str],
    ) -> bool:
        """Takes a child; True for one that is a block."""
        sink = self._own if around.apart is None else around.apart
        if child.tag in ("br", "hr"):
            for lines in (text, sink):
                lines.append("\n")
            return False
        if not around.card and not around.region and self.labels.is_control(child):
            self.labels.add_control(child, around)
        if child.tag in SKIPPED or depth > _DEEPEST or is_note_mark(child) or is_initials(child):
            return False
        if child.tag == "svg":
            self._drawing(child, around, text)
            return False
        inner = self._inner(child, around, is_member)
        block = self.page.layout(child) not in ("inline", "inline-block", "contents")
        edge = "\n" if block else ""
        if self._records is None and (inner.card or (inner.region and inner.region != "aside")):
            # Menus, footers and teasers hold no fact of this page's own record, only words beside it.
            content = one_line(child.text_content())[:4_000]
            sink.append(edge)
            if not inner.hidden or around.hidden:
                text.append(f"{edge}{content}{edge}")
            return block
        if not len(child) and not child.text and not inner.hidden and not inner.region and child.tag in _HOLDERS:
            self.nothing_yet(child)
        own_sink = sink if inner.apart is around.apart else inner.apart or sink
        own_sink.append(edge)
        content, its_parts = self._walked(child, inner, depth)
        sink.append(edge)
        if inner.hidden and not around.hidden:
            return block
        if inner.struck and not around.struck:
            self.struck_texts[el] = f"{self.struck_texts.get(el, '')} {content}"
            return block
        if child.tag == "button" and any(up.tag == "li" for up in child.iterancestors()):
            return block  # what can be done with a list's entry is no part of what it says
        if child in self.struck_texts:
            self.struck_texts[el] = f"{self.struck_texts.get(el, '')} {self.struck_texts[child]}"
        text.append(f"{edge}{content}{edge}")
        if len(parts) < _MOST_PARTS:
            parts.extend(its_parts)
        return block

    def _drawing(self, el: HtmlElement, around: Around, text: list[str]) -> None:
        title = next(el.iterdescendants("title"), None)
        label = el.get("aria-label") or ("" if title is None else str(title.text_content()))
        if label:
            text.append(f" {label} ")
            self.order += 1
            self._name(el, "", around, [], self.order, sized=False)

    def _inner(self, child: HtmlElement, around: Around, is_member: bool) -> Around:
        """Return what holds within a child."""
        region = self.surroundings.region(child, inside=around.inside)
        names = "" if self.surroundings.holds(child, self.surroundings.own_heading) else _telling_apart(child)
        within, apart = around.within, around.apart
        if names:
            within = f"{names} {within}".strip()[:400]
            block = self.page.layout(child) not in ("inline", "inline-block", "contents")
            if self._records is None and block and not self.surroundings.has_h1(child):
                apart = []
                self.apart.append((within, apart))
        mark = self.page.marks[self.page.number(child)]
        return Around(
            hidden=around.hidden or bool(mark & _NOT_DRAWN),
            region=region or around.region,
            card=around.card or (is_member and self._records is None) or child in self._teasers,
            struck=around.struck or is_struck(self.page, child),
            inside=around.inside or child.tag in ("main", "article") or child.get("role") == "main",
            in_fragment=around.in_fragment or child is self._target,
            names=names,
            around=around.within,
            within=within,
            apart=apart,
        )

    def _walked(self, child: HtmlElement, inner: Around, depth: int) -> tuple[str, list[str]]:
        outer = self.taken
        if self._records is not None and child in self._records:
            self.taken = Taken(position=self._records[child])
            self.blocks.append(self.taken)
        text, parts = self._walk(child, inner, depth + 1)
        if child.get("role") == "img" and child.get("aria-label"):  # a picture made of text says what its label says
            text = str(child.get("aria-label"))
            parts = [text]
        if self.taken is not outer:
            self.taken.text = clean(text)[:2_000]
            if is_row(child):
                self.labels.add_record_row(child, inner)
            self.taken = outer
        return text, parts

    def _finish(
        self, el: HtmlElement, text: str, parts: list[str], blocks: bool, headed: bool, around: Around, at: int
    ) -> None:
        """Takes what an element states, once all of it was walked."""
        titled = el is self.surroundings.titled
        if (el.tag in HEADINGS or titled) and not around.card:
            self._add_heading(el, text, around, at, titled=titled)
        if not self.many and (around.card or around.region not in ("", "aside")):
            return
        if len(text) < LONGEST_TEXT:
            self.texts[el] = text
        whole = "" if len(text) > LONGEST_TEXT else clean(text)
        size = len(whole) if whole or not text.strip() else len(text)
        if el.get("id") and len(self.anchors) < _MOST_ANCHORS:
            head = next(el.iterdescendants(*HEADINGS), None)
            if head is not None:
                title = one_line(head.text_content())
                self.anchors.append(Anchor(el.get("id"), title, self.selectors.of(el), named=False, order=at))
        if el.tag != "body" and size <= LONGEST_TEXT:
            few = parts if len(parts) > 1 and size <= _SHORT else []
            self._name(el, whole, around, few, at, sized=0 < size <= _SHORT)
        if is_table(el):
            grid = self.grids.of(el)
            if not self.many or self.taken is not self.page_taken:
                self.labels.add_table(el, around)
            elif grid.heads and len(grid.rows) == len(grid.heads):
                self.nothing_yet(el)
        elif el.tag == "dl":
            self.labels.add_terms(el, around)
        elif 0 < size <= 400 and el.tag not in HEADINGS:
            self.labels.add_beside(el, whole, around, inline=not blocks)
        if headed:
            self.labels.add_under_headings(el, around)

    def _add_heading(self, el: HtmlElement, text: str, around: Around, at: int, *, titled: bool) -> None:
        link = next(el.iterdescendants("a"), None)
        if link is None:
            link = next((up for up in el.iterancestors("a")), None)
        tip = el.get("title") or next(
            (str(inner.get("title")) for inner in el.iterdescendants() if inner.get("title")), ""
        )
        to = self.surroundings.address(link.get("href")) if link is not None and link.get("href") else ""
        level = 1 if titled else int(el.tag[1])
        selector = self.selectors.of(el)
        visible, region, in_fragment = not around.hidden, around.region, around.in_fragment
        text = _without_number(el, one_line(text))
        self.taken.headings.append(Heading(level, text, selector, visible, region, in_fragment, at, to, tip))

    def nothing_yet(self, el: HtmlElement) -> None:
        """Notes an element that holds nothing, and that a script may still fill."""
        if len(self.empty) < _MOST_EMPTY:
            self.empty.append(f"{el.tag} {names_of(el)}")

    # --- named elements -------------------------------------------------------------------------------

    def _name(self, el: HtmlElement, text: str, around: Around, parts: list[str], at: int, *, sized: bool) -> None:
        if len(self.taken.named) >= _MOST_NAMED:
            return
        tag, names = str(el.tag), names_of(el)
        data = tuple((name[5:], value) for name, value in el.items() if name.startswith("data-") and len(value) <= 100)
        aria, rel = el.get("aria-label") or "", el.get("rel") or ""
        prop = el.get("itemprop") or el.get("property") or ("author" if _is_cited(el) else "")
        exact = el.get("datetime") or el.get("content") or ((el.get("value") or "") if tag in ("data", "meter") else "")
        target = el.get("href") if tag == "a" else picture_address(el) if tag == "img" else ""
        link = self.surroundings.address(target) if target else ""
        mails = bool(reached_by(link)[0])
        telling = (
            names or data or aria or prop or rel or exact or tag in _LONE_TAGS or (tag == "a" and (self.many or mails))
        )
        if not telling or ((tag in _CODE or mails) and self._mentioned(el, text)):
            return
        if self._words and not (self.many and tag == "a") and tag not in _LONE_TAGS - {"img"} and not mails:
            words = " ".join([names, prop, rel, tag, *(" ".join(pair) for pair in data)])
            if not self.asks(words):
                return
        tip = el.get("title") or ""
        if not self.spends(text) or not (text or aria or exact or data or link or tip):
            return
        size = self._letters_px(el) if sized else 0
        self.taken.named.append(
            NamedElement(
                tag, names, data, text, tuple(parts), self.selectors.of(el), not around.hidden, around.region,
                around.struck, at, around.in_fragment, aria, tip, rel, prop, exact, link, el.get("alt") or "", size,
                around.around,
            )
        )  # fmt: skip

    def _letters_px(self, el: HtmlElement) -> int:
        return next(
            (px for inner in el.iter() if isinstance(inner.tag, str) and (px := self.page.letters_px(inner))), 0
        )

    def _mentioned(self, el: HtmlElement, text: str) -> bool:
        """True for what stands within a sentence, which mentions it. What the record is called stands elsewhere."""
        paragraph = next(el.iterancestors("p"), None)
        if paragraph is None:
            return False
        if paragraph not in self._paragraphs:
            self._paragraphs[paragraph] = len(clean(str(paragraph.text_content())))
        return self._paragraphs[paragraph] - len(text) > _MOST_BESIDE_CODE


def _is_cited(el: HtmlElement) -> bool:
    """True for who is cited with a quotation; elsewhere `cite` is the title of a work."""
    if el.tag != "cite":
        return False
    before = [each.getprevious() for each in (el, el.getparent()) if each is not None]
    quoted = any(each is not None and each.tag == "blockquote" for each in before)
    return quoted or next(el.iterancestors("blockquote"), None) is not None


def _without_number(heading: HtmlElement, text: str) -> str:
    """A heading's text without the number that stands behind it in an element of its own: "Wheel falls off #123"."""
    last = heading[-1] if len(heading) else None
    if last is None or (last.tail or "").strip() or not isinstance(last.tag, str):
        return text
    number = one_line(str(last.text_content()))
    return text.removesuffix(number).rstrip() or text if _NUMBER_BEHIND.fullmatch(number) else text


def _telling_apart(el: HtmlElement) -> str:
    """Those of an element's names that may say that it is about something else.

    Pages that are styled by classes have dozens of others on each element. A capital letter begins a word.
    """
    return " ".join(filter(_is_distinctive_name, names_of(el).split()))


@bounded_cache(8_000, longest=100)
def _is_distinctive_name(name: str) -> bool:
    return _APART.search(_CAPITAL.sub(r"\1-\2", name)) is not None
