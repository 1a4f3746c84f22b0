"""The way to the next page of a list: which link or button it is, and whether it led to the same list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from posixpath import splitext
from urllib.parse import parse_qsl

from shoal.agent.browser import Context
from shoal.agent.errors import BadSelector, NavigationError, PageMissing, SiteRefused
from shoal.agent.policies.policy import SessionState
from shoal.agent.read.links.list_page import ListPage
from shoal.agent.read.links.ways_on import ListControl
from shoal.agent.read.values.phrases import fold, overlap, phrase, squash
from shoal.agent.read.word_lists.page_words import MORE_WORDS, NEXT_SIGNS, NEXT_WORDS
from shoal.agent.support.web_addresses import address_parts, canonical_address
from shoal.agent.types import Action, Element, Observation

_CERTAINLY_CSS = re.compile(r"[#\[>*]|\.[A-Za-z_]|:[a-z]")


def certainly_css(text: str) -> bool:
    """Return whether a text is a CSS selector and no words."""
    return _CERTAINLY_CSS.search(text) is not None


@dataclass(frozen=True, slots=True)
class Onward:
    """The way to more items."""

    url: str = ""  # where a link leads
    label: str = ""  # of a button: what it is called
    aria_label: str = ""  # of a button: its name for those who do not see it, where it has one
    select: str = ""  # of one that the caller named by CSS, or of a button in a pager: the selector
    sends: str = ""  # of a button: the method by which it sends a form

    @property
    def button(self) -> str:
        """Return what tells a button from others; "" for a link."""
        return self.select or self.label


_NAMED_PAGE = re.compile(r"(?:page|seite|pagina|side|strana) \d{1,5}")
_NEXT = frozenset(squash(word) for word in NEXT_WORDS)
_MORE = frozenset(squash(word) for word in MORE_WORDS)
_ARROWS = "".join(NEXT_SIGNS)
_PAGE_NUMBER = re.compile(r"\d{1,5}")


def next_step(page: ListPage, asked: str | None) -> Onward | None:
    """The way to the next page: the given selector or words, rel=next, text, the number after the current one."""
    if page.next_controls:
        return _step(next((control for control in page.next_controls if not control.disabled), None))
    controls = page.usable_controls
    if asked:
        if certainly_css(asked):
            return None  # the selector finds nothing here: this is the last page
        words = phrase(asked)
        fitting = [control for control in controls if overlap(words, phrase(_control_text(control))) >= 0.6]
        if fitting:
            return _step(fitting[-1])
    if page.rel_next:
        return Onward(url=page.rel_next)
    plain = max(map(_next_score, controls), default=0)
    saying_next = [control for control in controls if plain and _next_score(control) == plain]
    if saying_next:
        linked = [control for control in saying_next if control.link]
        return _step((linked or saying_next)[-1])
    more = [control for control in controls if squash(control.name) in _MORE or _begins(control, _MORE)]
    if more:
        return _step(more[-1])
    return _numbered(page, controls)


def requested_step(page: ListPage, asked: str) -> Onward | None:
    """The way on that the caller named, by CSS, else by its words; None where it is not there or cannot be used.

    Only that one: what a page calls "Next" may lead anywhere, and here it was said which is meant.

    Raises:
        BadSelector: it is meant as CSS and is none.
    """
    if page.unread and _MEANT_AS_CSS.search(asked):
        raise BadSelector(
            f"`extract.next`: {asked} is no CSS selector, and it is written like one", field="extract.next"
        )
    if page.next_controls:
        usable = (control for control in page.next_controls if control.visible and not control.disabled)
        return _pressed_or_opened(next(usable, None), asked)
    if certainly_css(asked):
        return None
    words = phrase(asked)
    fitting = [control for control in page.usable_controls if overlap(words, phrase(_control_text(control))) >= _NAMED]
    exact = [control for control in fitting if squash(control.name) == squash(asked)]
    return _pressed_or_opened(next(iter((exact or fitting)[::-1]), None))


def _pressed_or_opened(control: ListControl | None, select: str = "") -> Onward | None:
    """The way on by this control. A link is pressed where its address is only another place on the page."""
    step = _step(control)
    return replace(step, label=control.label, select=select) if step is not None and control is not None else None


_NAMED = 0.6
"""Share of the asked words that a control's own words must have."""
_MEANT_AS_CSS = re.compile(r"[\[\]>{}]|^\s*[.#][A-Za-z_]|:[a-z-]+\(")


def _control_text(control: ListControl) -> str:
    return f"{control.text} {control.aria_label} {control.tip} {control.names}"


def _next_score(control: ListControl) -> int:
    """Return how plainly a control says that it leads to the next page: 3 in words, 2 by one arrow, 1 by two;
    0 not at all.

    Two arrows lead to the last page where one arrow stands beside them. A name wins over an arrow.
    """
    if "next" in control.rel.split():
        return 3
    labels = [text.strip() for text in (control.aria_label, control.tip, control.text)]
    bare = [squash(text.strip(_ARROWS + " .…")) for text in labels]
    bare = ["" if _NAMED_PAGE.fullmatch(text) else text for text in bare]  # it says where the arrow leads
    if not _NEXT.isdisjoint(bare):
        return 3
    signs = [text for text in labels if text in NEXT_SIGNS]
    if not signs or any(bare) or "prev" in control.names.lower():
        return 0
    return 1 if signs[0] in ("»", ">>") else 2


def _begins(control: ListControl, known: frozenset[str]) -> bool:
    name = squash(control.name)
    return len(name) <= 40 and any(name.startswith(words + " ") for words in known)


def _numbered(page: ListPage, controls: Sequence[ListControl]) -> Onward | None:
    """The link, or the button of a pager, whose text is the number after the current page's."""
    named = [control for control in controls if _PAGE_NUMBER.fullmatch(control.text)]
    numbers = {int(link.text): link for link in named if link.link}
    here = re.search(r"\d+", page.current)
    if here is not None:
        now = int(here.group())
        # A button for the next page that is disabled says that the last page is open, whatever the numbers say.
        ended = any(control.visible and control.disabled and _next_score(control) for control in page.controls)
        numbers = {int(button.text): button for button in named if button.place and not ended} | numbers
    else:  # the current page is the number that is missing between the links, or that links to itself
        own = [number for number, link in numbers.items() if canonical_address(link.link) == page.key]
        gaps = [n for n in range(1, max(numbers, default=0)) if n not in numbers]
        now = own[0] if own else gaps[0] if gaps else 0
    following = numbers.get(now + 1)
    return _step(following) if now and following is not None else None


def _step(control: ListControl | None) -> Onward | None:
    if control is None:
        return None
    if control.link:
        return Onward(url=control.link)
    return Onward(label=control.label, aria_label=control.aria_label, select=control.place, sends=control.sends)


def find_button(root: Element, step: Onward) -> Element | None:
    """The button of a way on, by what it shows, else by its name for those who do not see it."""
    named = (find_control(root, label) for label in (step.label, step.aria_label) if label)
    return next((button for button in named if button is not None), None)


def find_control(root: Element, label: str) -> Element | None:
    """The last clickable element that is called `label`; pagers stand after the list."""
    folded = fold(label)
    control = None
    for element in walk(root):
        if element.bid and element.visible and "disabled" not in element.states:
            labels = {fold(element.name), fold(element.text), fold(element.attributes.get("title", ""))}
            if folded in {" ".join(text.split()) for text in labels} and (
                element.clickable or element.tag in ("a", "button")
            ):
                control = element
    return control


def walk(root: Element) -> Iterator[Element]:
    """The elements of a tree in document order."""
    yield root
    for child in root.children:
        yield from walk(child)


# --- the same list? -----------------------------------------------------------------------------------

_PAGE_PART = re.compile(r"[/_.-]?(?:page|pages|seite|pagina|pag|pg|p)?[-_/]?(?<!\d)\d+(?:\.\w{2,5})?/?$", re.IGNORECASE)
_PAGE_WORD = re.compile(r"(?:^|[/_.-])(?:page|pages|seite|pagina|pag|pg|p)[-_/]?(?<!\d)\d+(?:\.\w{2,5})?/?$", re.I)
_PAGE_NAME = re.compile(r"(?:^|[/_.-])(?:page|seite|pagina|strana|side)[-_/]?\d+(?:\.\w{2,5})?/?$", re.IGNORECASE)
_APPENDED = re.compile(r"[-_/.]?\d{1,3}")
_INDEX = re.compile(r"/(?:index|default)\.\w{2,5}$|/$", re.IGNORECASE)
_PAGE_PARAMETER = re.compile(
    r"page|^p$|^pg$|seite|pagina|start|offset|skip|from|after|before|cursor|token|begin|^s$|^o$|limit|size|rows",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"\b(?:page|seite|pagina|página|side|strana|of|von|de)\b|[\d\W_]+", re.IGNORECASE)


def is_page_of(first: str, other: str) -> bool:
    """Return whether two addresses differ only by what numbers the pages of one list."""
    first_url, other_url = address_parts(first), address_parts(other)
    if (first_url.scheme, first_url.netloc) != (other_url.scheme, other_url.netloc):
        return False
    if first_url.path == other_url.path:
        parts = [set(parse_qsl(address.query, keep_blank_values=True)) for address in (first_url, other_url)]
        differing = parts[0] ^ parts[1]
        return bool(differing) and all(_PAGE_PARAMETER.search(name) for name, _ in differing)
    if first_url.query == other_url.query and _is_numbered(first_url.path, other_url.path):
        return True
    if not _PAGE_WORD.search(other_url.path):
        return False
    return _bare(first_url.path) == _bare(other_url.path) and first_url.query == other_url.query


def _is_numbered(path: str, other: str) -> bool:
    """Return whether the path `other` is `path`, which ends in no number, with a short number behind it."""
    (stem, ending), (longer, other_ending) = splitext(path.rstrip("/")), splitext(other.rstrip("/"))
    is_extended = stem[-1:].isalpha() and ending == other_ending and longer.startswith(stem)
    return is_extended and _APPENDED.fullmatch(longer, len(stem)) is not None


def numbers_page(url: str) -> bool:
    """Return whether an address itself says that it is one of several pages:
    by its query, or by "page/2" at its end.
    """
    parts = address_parts(url)
    if any(_PAGE_PARAMETER.search(name) for name, _ in parse_qsl(parts.query)):
        return True
    return _PAGE_NAME.search(parts.path) is not None


def leads_on(page: ListPage, url: str) -> bool:
    """Return whether what a page calls its next page is plainly one of a list:
    "/list" may go on at "/browse?page=2".
    """
    return is_page_of(page.address, url) or numbers_page(url)


def _bare(path: str) -> str:
    """A path without its page number, and without the name of an index."""
    return _INDEX.sub("", _PAGE_PART.sub("", path) if _PAGE_WORD.search(path) else path).rstrip("/")


def same_list(first: ListPage, other: ListPage) -> bool:
    """Return whether the page `other`, to which a link for the next page led,
    goes on with the list of the page `first`.

    The "Next" of a document leads to another document: it has another address and another name.
    """
    if is_page_of(first.address, other.address):
        return True
    names = [
        (_unnumbered(first.title), _unnumbered(other.title)),
        (_unnumbered(first.heading), _unnumbered(other.heading)),
    ]
    comparable = [(name, other_name) for name, other_name in names if name or other_name]
    return bool(comparable) and all(name == other_name for name, other_name in comparable)


def goes_on_with(first: ListPage, before: ListPage, after: ListPage, url: str) -> bool:
    """Return whether the page `after`, which the link `url` led to,
    goes on with the list of the pages before it.

    One at another path may be called otherwise, where its address says which page of a list it is.
    """
    if same_list(first, after) or same_list(before, after):
        return True
    is_there = after.key == canonical_address(url)
    return is_there and numbers_page(url) and not is_page_of(before.address, url)


def _unnumbered(name: str) -> str:
    """A page's name without what numbers it."""
    return " ".join(_NUMBERING.sub(" ", name).casefold().split())


def is_pager(page: ListPage, step: Onward) -> bool:
    """Return whether a way on plainly belongs to a list:
    by its address or place, by numbers beside it, or by its words.
    """
    if step.url and leads_on(page, step.url):
        return True
    numbered = any(control.visible and _PAGE_NUMBER.fullmatch(control.text) for control in page.controls)
    return bool(page.current or step.select) or numbered or squash(step.label) in _MORE


# --- going there --------------------------------------------------------------------------------------


async def open_next(state: SessionState, url: str) -> str:
    """Opens the next page of a list; why it cannot be opened, in words, "" where it is open.

    What was read of the list so far is kept, unless another attempt may read all of it.

    Raises:
        NavigationError: it cannot be opened now, and another attempt follows.
    """
    try:
        landing = await state.page.goto(url)
        if landing.status >= 400:  # a session's page raises by itself
            error_class = NavigationError if landing.status >= 500 else PageMissing
            raise error_class(f"{url} answered {landing.status}", url=url, status=landing.status)
    except (NavigationError, SiteRefused) as error:
        if error.retryable and not state.is_last_attempt:
            raise
        return f"the next page could not be opened: {error.message}"
    return ""


async def button_id(page: Context, seen: Observation, step: Onward) -> str | None:
    """The id of the button of a way on: by its selector, else by what it is called; None where it is not there."""
    (bid,) = await page.locate([step.select]) if step.select else (None,)
    if bid is not None:
        return bid
    button = find_button(seen.elements, step)
    return button.bid if button is not None else None


async def press(state: SessionState, step: Onward) -> bool:
    """Presses the button that brings further items; False when it is not there or takes no click."""
    seen = await state.page.observe()
    bid = await button_id(state.page, seen, step)
    if bid is None:
        return False
    result = await state.turn_page(Action("click", {"bid": bid}, "to the next items"))
    return result.error is None
