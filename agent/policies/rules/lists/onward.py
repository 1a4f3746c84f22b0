"""The way to the next page of a list: which link or button it is, and whether it led to the same list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag, urlsplit

from shoal.agent.browser import Context
from shoal.agent.errors import BadSelector, BrowserError, NavigationError
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.values.vocabulary import MORE_WORDS, NEXT_SIGNS, NEXT_WORDS
from shoal.agent.policies.rules.values.words import fold, overlap, phrase, squash
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.types import Action, Element

LINKS_JS = (Path(__file__).parent / "links.js").read_text(encoding="utf-8")

_CERTAINLY_CSS = re.compile(r"[#\[>*]|\.[A-Za-z_]|:[a-z]")


def certainly_css(text: str) -> bool:
    """Whether a text is a CSS selector and no words."""
    return _CERTAINLY_CSS.search(text) is not None


@dataclass(frozen=True, slots=True)
class Onward:
    """The way to more items."""

    url: str = ""  # where a link leads
    label: str = ""  # of a button: what it is called
    select: str = ""  # of one that the caller named by CSS: the selector
    sends: bool = False  # it sends a form by POST


_NEXT = frozenset(squash(word) for word in NEXT_WORDS)
_MORE = frozenset(squash(word) for word in MORE_WORDS)
_ARROWS = "".join(NEXT_SIGNS)


def next_step(view: Mapping[str, Json], asked: str | None) -> Onward | None:
    """The way to the next page: the given selector or words, rel=next, text, the number after the current one."""
    if view.get("nextCss"):
        return _step(next((one for one in view["nextCss"] if not one["off"]), None))
    controls = [one for one in view["controls"] if not one["off"] and one["v"]]
    if asked:
        if certainly_css(asked):
            return None  # the selector finds nothing here: this is the last page
        words = phrase(asked)
        fitting = [one for one in controls if overlap(words, phrase(_said(one))) >= 0.6]
        if fitting:
            return _step(fitting[-1])
    if view["relNext"]:
        return Onward(url=str(view["relNext"]))
    plain = max(map(_says_next, controls), default=0)
    found = [one for one in controls if plain and _says_next(one) == plain]
    linked = [one for one in found if one["h"]]
    if found:
        return _step((linked or found)[-1])
    more = [one for one in controls if squash(str(one["t"]) or str(one["a"])) in _MORE or _begins(one, _MORE)]
    if more:
        return _step(more[-1])
    return _numbered(view, controls)


def asked_step(view: Mapping[str, Json], asked: str) -> Onward | None:
    """The way on that the caller named, by CSS, else by its words; None where it is not there or cannot be used.

    Only that one: what a page calls "Next" may lead anywhere, and here it was said which is meant.

    Raises:
        BadSelector: it is meant as CSS and is none.
    """
    if view["unread"] and _MEANT_AS_CSS.search(asked):
        raise BadSelector(
            f"`extract.next`: {asked} is no CSS selector, and it is written like one", field="extract.next"
        )
    if view["nextCss"]:
        control = next((one for one in view["nextCss"] if not one["off"] and one["v"]), None)
        return _pressed_or_opened(control, asked)
    if certainly_css(asked):
        return None
    words = phrase(asked)
    controls = [one for one in view["controls"] if not one["off"] and one["v"]]
    fitting = [one for one in controls if overlap(words, phrase(_said(one))) >= _NAMED]
    exact = [one for one in fitting if squash(str(one["t"]) or str(one["a"])) == squash(asked)]
    return _pressed_or_opened(next(iter((exact or fitting)[::-1]), None))


def _pressed_or_opened(control: Mapping[str, Json] | None, select: str = "") -> Onward | None:
    """The way on by this control. A link is pressed where its address is only another place on the page."""
    step = _step(control)
    return replace(step, label=_label(control), select=select) if step is not None and control is not None else None


_NAMED = 0.6
"""Share of the asked words that a control's own words must have."""
_MEANT_AS_CSS = re.compile(r"[\[\]>{}]|^\s*[.#][A-Za-z_]|:[a-z-]+\(")


def _said(control: Mapping[str, Json]) -> str:
    return f"{control['t']} {control['a']} {control['ti']} {control['c']}"


def _says_next(control: Mapping[str, Json]) -> int:
    """How plainly a control says that it leads to the next page: 3 in words, 2 by one arrow, 1 by two; 0 not at all.

    Two arrows lead to the last page where one arrow stands beside them. A name wins over an arrow.
    """
    if "next" in str(control["rel"]).split():
        return 3
    said = [str(text).strip() for text in (control["a"], control["ti"], control["t"])]
    bare = [squash(text.strip(_ARROWS + " .…")) for text in said]
    if not _NEXT.isdisjoint(bare):
        return 3
    signs = [text for text in said if text in NEXT_SIGNS]
    if not signs or any(bare) or "prev" in str(control["c"]).lower():
        return 0
    return 1 if signs[0] in ("»", ">>") else 2


def _begins(control: Mapping[str, Json], known: frozenset[str]) -> bool:
    said = squash(str(control["t"]) or str(control["a"]))
    return len(said) <= 40 and any(said.startswith(one + " ") for one in known)


def _numbered(view: Mapping[str, Json], controls: Sequence[Mapping[str, Json]]) -> Onward | None:
    """The link whose text is the number after the current page's."""
    numbers = {int(str(one["t"])): one for one in controls if re.fullmatch(r"\d{1,5}", str(one["t"])) and one["h"]}
    here = re.search(r"\d+", str(view.get("current", "")))
    if here is not None:
        now = int(here.group())
    else:  # the current page is the number that is missing between the links, or that links to itself
        own = [number for number, one in numbers.items() if urldefrag(str(one["h"])).url == page_address(view)]
        gaps = [n for n in range(1, max(numbers, default=0)) if n not in numbers]
        now = own[0] if own else gaps[0] if gaps else 0
    following = numbers.get(now + 1)
    return _step(following) if now and following is not None else None


def _step(control: Mapping[str, Json] | None) -> Onward | None:
    if control is None:
        return None
    if control["h"]:
        return Onward(url=str(control["h"]))
    return Onward(label=_label(control), sends=bool(control.get("post")))


def _label(control: Mapping[str, Json]) -> str:
    return str(control["t"]) or str(control["a"]) or str(control["ti"])


def find_control(root: Element, label: str) -> Element | None:
    """The last clickable element that is called `label`; pagers stand after the list."""
    wanted = fold(label)
    found = None
    for element in walk(root):
        if element.bid and element.visible and "disabled" not in element.states:
            said = {fold(element.name), fold(element.text), fold(element.attributes.get("title", ""))}
            if wanted in {" ".join(one.split()) for one in said} and (
                element.clickable or element.tag in ("a", "button")
            ):
                found = element
    return found


def walk(root: Element) -> Iterator[Element]:
    """The elements of a tree in document order."""
    yield root
    for child in root.children:
        yield from walk(child)


# --- the same list? -----------------------------------------------------------------------------------

_PAGE_PART = re.compile(r"[/_.-]?(?:page|pages|seite|pagina|pag|pg|p)?[-_/]?(?<!\d)\d+(?:\.\w{2,5})?/?$", re.IGNORECASE)
_PAGE_WORD = re.compile(r"(?:^|[/_.-])(?:page|pages|seite|pagina|pag|pg|p)[-_/]?(?<!\d)\d+(?:\.\w{2,5})?/?$", re.I)
_INDEX = re.compile(r"/(?:index|default)\.\w{2,5}$|/$", re.IGNORECASE)
_PAGE_PARAMETER = re.compile(
    r"page|^p$|^pg$|seite|pagina|start|offset|skip|from|after|before|cursor|token|begin|^s$|^o$|limit|size|rows",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"\b(?:page|seite|pagina|página|side|strana|of|von|de)\b|[\d\W_]+", re.IGNORECASE)


def page_address(view: Mapping[str, Json]) -> str:
    """Where a page is, without the place on it."""
    return urldefrag(str(view["url"])).url


def is_page_of(first: str, other: str) -> bool:
    """Whether two addresses differ only by what numbers the pages of one list."""
    one, two = urlsplit(first), urlsplit(other)
    if (one.scheme, one.netloc) != (two.scheme, two.netloc):
        return False
    if one.path == two.path:
        parts = [set(parse_qsl(address.query, keep_blank_values=True)) for address in (one, two)]
        differing = parts[0] ^ parts[1]
        return bool(differing) and all(_PAGE_PARAMETER.search(name) for name, _ in differing)
    if not _PAGE_WORD.search(two.path):
        return False
    return _bare(one.path) == _bare(two.path) and one.query == two.query


def _bare(path: str) -> str:
    """A path without its page number, and without the name of an index."""
    return _INDEX.sub("", _PAGE_PART.sub("", path) if _PAGE_WORD.search(path) else path).rstrip("/")


def same_list(first: Mapping[str, Json], other: Mapping[str, Json]) -> bool:
    """Whether the page `other`, to which a link for the next page led, goes on with the list of the page `first`.

    The "Next" of a document leads to another document: it has another address and another name.
    """
    if is_page_of(page_address(first), page_address(other)):
        return True
    names = [(_unnumbered(first[part]), _unnumbered(other[part])) for part in ("title", "h1")]
    told = [(one, two) for one, two in names if one or two]
    return bool(told) and all(one == two for one, two in told)


def _unnumbered(name: Json) -> str:
    """A page's name without what numbers it."""
    return " ".join(_NUMBERING.sub(" ", str(name)).casefold().split())


def is_pager(view: Mapping[str, Json], step: Onward) -> bool:
    """Whether a way on plainly belongs to a list: by its address, by page numbers beside it, or by its words."""
    if step.url and is_page_of(page_address(view), step.url):
        return True
    numbers = [one for one in view["controls"] if re.fullmatch(r"\d{1,5}", str(one["t"])) and one["v"]]
    return bool(view["current"]) or bool(numbers) or squash(step.label) in _MORE


# --- going there --------------------------------------------------------------------------------------


async def read_view(page: Context, asked: Mapping[str, Json]) -> Mapping[str, Json]:
    """What the page offers to loop over and to go on by, in one call.

    Raises:
        BrowserError: the page answered nothing of the kind.
    """
    found = await page.read(LINKS_JS, dict(asked))
    view = readable_json(found) if isinstance(found, str) else found
    if not isinstance(view, Mapping):
        raise BrowserError("the page answered no links")
    return view


async def open_next(state: SessionState, url: str) -> None:
    """Opens the next page of a list.

    Raises:
        NavigationError: it answers with an error.
    """
    landing = await state.page.goto(url)
    if landing.status >= 400:
        raise NavigationError(f"the next page answered {landing.status}", url=url, status=landing.status)


async def press(state: SessionState, step: Onward) -> bool:
    """Presses the button that brings further items; False when it is not there or takes no click."""
    seen = await state.page.observe()
    (bid,) = await state.page.locate([step.select]) if step.select else (None,)
    if bid is None and step.label:
        button = find_control(seen.elements, step.label)
        bid = button.bid if button is not None else None
    if bid is None:
        return False
    result = await state.turn_page(Action("click", {"bid": bid}, "to the next items"))
    return result.error is None
