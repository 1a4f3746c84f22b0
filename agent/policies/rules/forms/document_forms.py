"""The reader of what an observation does not carry of forms: groups, headings, messages, and what covers the page."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.page.page import Page
from shoal.agent.policies.rules.forms.form import (
    DocumentField,
    FormDocument,
    FormFacts,
    FormNotice,
    FormPage,
    NoticeKind,
    Overlay,
    form_page,
)
from shoal.agent.read.drawn.page_tree import read_tree
from shoal.agent.read.facts.texts import one_line
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_value import Json
from shoal.agent.types import Observation

STATE_JS = (Path(__file__).parent / "form_state.js").read_text(encoding="utf-8")

_BAD = re.compile(
    r"(?:^|[-_\s])(?:errors?|error(?:note|list|msg|message|text|box)s?|invalid|danger|warn|warning|problem"
    r"|failure|failed|fail|fehler|erreur|chyba|fout|errore)(?:[-_\s]|$)",
    re.I,
)
_COLOUR = re.compile(r"(?:^|[-_\s])(?:danger|warn|warning|problem)(?:[-_\s]|$)", re.I)
"""Names that may only colour a text, or name a part of the page."""
_NOTICE = re.compile(
    r"(?:^|[-_\s])(?:alerts?|messages?|msg|flash|flashes|notices?|notifications?|note|toast|callout|banner|feedback)"
    r"(?:[-_\s]|$)",
    re.I,
)
_GOOD = re.compile(r"(?:^|[-_\s])(?:success|successful|confirmation|confirmed|thanks|thank-you|ok)(?:[-_\s]|$)", re.I)
_CAPITAL = re.compile(r"([a-z])([A-Z])")
_SAYS = re.compile(r"[^\W\d_]{2}")
"""Letters: an asterisk or a counter says nothing."""
_FIELD_TAGS = frozenset({"input", "select", "textarea"})
_ACT_TAGS = frozenset({"button", "input", "select", "textarea", "label", "option"})
_ASIDE_TAGS = frozenset({"nav", "aside", "footer", "pre", "code", "tbody"})
_NEAR_TAGS = frozenset({"p", "div", "span", "li", "td", "strong", "b", "em", "font", "small"})
_NEAR_INLINE = frozenset({"p", "li", "strong", "b", "em", "font", "td"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5"})
_TICKED = frozenset({"radio", "checkbox"})
_TYPES = frozenset(
    {*("button", "checkbox", "color", "date", "datetime-local", "email", "file", "hidden", "image", "month", "number")}
    | {*("password", "radio", "range", "reset", "search", "submit", "tel", "text", "time", "url", "week")}
)
_BUTTONS = etree.XPath("//button | //*[@role='button']")
_PRESSES = etree.XPath("//button | //*[@role='button' or @type='submit' or @type='button']")
_NAMED = etree.XPath("//*[@class or @id or @role='alert' or @role='status']")
_BUSY = etree.XPath("boolean(//*[@aria-busy='true'])")
_MOST_MARKED, _MOST_MESSAGES, _MOST_NEAR, _MOST_OF_SIBLING = 40, 90, 20, 10
_MOST_SIBLINGS = 100  # on each side of a form, or of what it stands in
_MOST_MESSAGE_CHARS, _MOST_NOTE_CHARS, _MOST_ERROR_CHARS, _MOST_LABEL_CHARS = 400, 200, 300, 80
_MOST_HEADING_CHARS, _MOST_OVERLAY_CHARS, _MOST_TEXT_CHARS, _MOST_BUTTONS = 100, 500, 20_000, 30
_TRIES = 3  # of a page that goes on to another document while it is read
_LEVELS = 3
"""Elements around a field or a form that may hold words about it."""


@dataclass(frozen=True, slots=True)
class FormState:
    """The part of a page's forms that only the live document tells, by the numbers of its tree."""

    owners: Mapping[int, int]  # the form of each field; -1: none
    native_errors: Mapping[int, str]  # the browser's own complaint about a field
    middle: int  # what lies in the middle of the window; -1: nothing
    loaded: float  # when the document began to load, in ms

    @classmethod
    def of(cls, answer: Mapping[str, Json]) -> Self:
        """The state that the script sent."""
        fields = {int(number): entry for number, entry in answer["fields"].items()}
        owners = {number: int(owner) for number, (owner, _) in fields.items()}
        errors = {number: str(wrong) for number, (_, wrong) in fields.items()}
        return cls(owners, errors, int(answer["middle"]), float(answer["loaded"]))


async def read_form_page(page: Context, seen: Observation) -> FormPage:
    """The forms of the page that `seen` shows.

    Raises:
        BrowserError: the page goes on to another document each time that it is read.
    """
    for _ in range(_TRIES):
        tree, state = await read_tree(page), await _read_state(page)
        if state["known"] == len(tree.elements):  # else the state is of a document that came after that of the tree
            return form_page(seen, await asyncio.to_thread(form_document, tree, FormState.of(state)))
    raise BrowserError(f"the page went on to another document {_TRIES} times while its forms were read")


async def read_opening_page(page: Context, seen: Observation) -> FormPage:
    """The page that `seen` shows; what the document says of its forms, only where something lies over its middle."""
    state = await _read_state(page)
    if state["covered"]:
        return await read_form_page(page, seen)
    return form_page(seen, FormDocument(heading=one_line(str(state["heading"])), busy=bool(state["busy"])))


async def _read_state(page: Context) -> Mapping[str, Json]:
    answer = await page.read(STATE_JS)
    if not isinstance(answer, Mapping):
        raise BrowserError("the page answered nothing about its forms")
    return answer


def form_document(page: Page, state: FormState) -> FormDocument:
    """Return what a page says of its forms."""
    return _FormReader(page, state).document()


class _FormReader:
    """One look at the forms of a page."""

    def __init__(self, page: Page, state: FormState) -> None:
        self._page, self._state = page, state
        self._body = page.root.find("body")
        self._forms = self._numbers(page.root.iter("form"))
        self._places = {number: place for place, number in enumerate(self._forms)}
        self._any_fields = self._numbers(page.root.iter(*_FIELD_TAGS))
        self._fields = [number for number in self._any_fields if not _is_hidden(page.elements[number])]
        self._holders = self._numbers(page.root.iter("p", "div", "li", "td", *_FIELD_TAGS))
        self._buttons = self._numbers(_BUTTONS(page.root))
        self._messages: dict[str, FormNotice] = {}
        self._looked_at: set[HtmlElement] = set()  # for notes: elements are near several forms

    def document(self) -> FormDocument:
        """All that the page says of them."""
        self._add_marked()
        self._add_notes()
        page, root = self._page, self._page.root
        heading = next(root.iter("h1"), None)
        return FormDocument(
            fields=tuple(map(self._field, self._fields)),
            messages=tuple(self._messages.values()),
            forms=tuple(self._facts(place, page.elements[number]) for place, number in enumerate(self._forms)),
            overlay=self._overlay(),
            heading="" if heading is None else one_line(heading.text_content()),
            text=one_line(page.text(self._body, drawn=True))[:_MOST_TEXT_CHARS] if self._body is not None else "",
            busy=bool(_BUSY(root)),
            loaded=self._state.loaded,
            status=page.status,
            lang=root.get("lang") or "",
        )

    # --- where elements are ---------------------------------------------------------------------------

    def _numbers(self, elements: Iterable[HtmlElement]) -> list[int]:
        return [self._page.number(el) for el in elements]

    def _within(self, el: HtmlElement, numbers: Sequence[int]) -> Sequence[int]:
        """Those of the numbers whose elements an element holds, itself left out."""
        own = self._page.number(el)
        return numbers[bisect_right(numbers, own) : bisect_right(numbers, self._page.last_within[own])]

    def _shown(self, el: HtmlElement) -> bool:
        return self._page.drawn(el)

    @cached_property
    def _by_id(self) -> Mapping[str, HtmlElement]:
        return {str(el.get("id")): el for el in reversed(self._page.elements) if el.get("id")}

    @cached_property
    def _labels(self) -> Mapping[HtmlElement, Sequence[HtmlElement]]:
        labels: defaultdict[HtmlElement, list[HtmlElement]] = defaultdict(list)
        for label in self._page.root.iter("label"):
            if label.get("for") is not None:
                control = self._by_id.get(label.get("for"))
            else:
                control = next((el for el in label.iterdescendants(*_FIELD_TAGS, "button") if not _is_hidden(el)), None)
            if control is not None:
                labels[control].append(label)
        return labels

    def _text_of_ids(self, ids: str | None) -> str:
        named = (self._by_id.get(name) for name in (ids or "").split())
        return one_line(" ".join(el.text_content() for el in named if el is not None and self._shown(el)))

    def _saying(self, el: HtmlElement) -> str:
        """The text of an element without that of what can be pressed in it: "×", "Delete profile"."""
        if not self._within(el, self._buttons):
            return one_line(el.text_content())
        return one_line(_text_without(el, _is_button))

    # --- fields ---------------------------------------------------------------------------------------

    def _field(self, number: int) -> DocumentField:
        el = self._page.elements[number]
        owner = self._state.owners.get(number, -1)
        kind = _type_of(el)
        return DocumentField(
            tag=el.tag,
            type=kind,
            name=el.get("name") or "",
            id=el.get("id") or "",
            label=self._label(el) or self._label_before(el),
            autocomplete=el.get("autocomplete") or "",
            group=self._group(el),
            required=el.get("required") is not None or el.get("aria-required") == "true",
            form=self._places.get(owner, -1),
            visible=self._shown(el),
            native_error=self._state.native_errors.get(number, ""),
            marked_invalid=el.get("aria-invalid") == "true",
            error=self._error(el, kind),
            value=str(el.get("value", "on")) if kind in _TICKED else "",
        )

    def _label(self, el: HtmlElement) -> str:
        labels = self._labels.get(el, ())
        if labels:
            return one_line(" ".join(_text_without(label, _is_control) for label in labels))
        return one_line(el.get("aria-label") or "") or self._text_of_ids(el.get("aria-labelledby"))

    def _label_before(self, el: HtmlElement) -> str:
        """The short text right before a field without a label, in its cell or block."""
        for around in islice(_up(el, "form"), _LEVELS):
            for before in _before(around):
                if isinstance(before, str):
                    text = one_line(before)
                elif _is_control(before) or self._within(before, self._any_fields):
                    return ""
                else:
                    text = one_line(before.text_content())
                if text:
                    return text if len(text) <= _MOST_LABEL_CHARS else ""
        return ""

    def _group(self, el: HtmlElement) -> str:
        groups = ("group", "radiogroup")
        box = next((up for up in _up(el) if up.tag == "fieldset" or up.get("role") in groups), None)
        if box is None:
            return ""
        legend = next(box.iterdescendants("legend"), None)
        named = one_line(box.get("aria-label") or "") or self._text_of_ids(box.get("aria-labelledby"))
        return named or ("" if legend is None else one_line(legend.text_content()))

    def _error(self, el: HtmlElement, kind: str) -> str:
        """The message beside a field."""
        message = self._text_of_ids(el.get("aria-errormessage"))
        if not message and el.get("aria-invalid") == "true":
            message = self._text_of_ids(el.get("aria-describedby"))
        if message:
            return message
        for level, around in enumerate(islice(_up(el, "form"), _LEVELS)):
            if level and len(self._within(around, self._fields)) > 1 and kind not in _TICKED:
                break
            for number in self._within(around, self._bad)[:_MOST_NEAR]:
                text = self._saying(self._page.elements[number])
                if _SAYS.search(text):
                    return text[:_MOST_ERROR_CHARS]
        return ""

    @cached_property
    def _bad(self) -> Sequence[int]:
        """Shown elements that are named as errors are, and are no part or place of a field."""
        named = (el for el in _NAMED(self._page.root) if _names_of(el).bad and not _acts(el))
        return self._numbers(el for el in named if self._shown(el) and not self._within(el, self._any_fields))

    # --- messages -------------------------------------------------------------------------------------

    def _add(self, el: HtmlElement, kind: NoticeKind) -> None:
        text = self._saying(el)
        if _SAYS.search(text) and len(text) <= _MOST_MESSAGE_CHARS and text not in self._messages:
            aside = any(up.tag in _ASIDE_TAGS or up.get("role") in ("navigation", "complementary") for up in _up(el))
            self._messages[text] = FormNotice(text, kind, aside)

    def _add_marked(self) -> None:
        """Adds what says by its role or its names that it is a message."""
        for el in _NAMED(self._page.root):
            kind = _marked_kind(el)
            if kind is None or _acts(el) or not self._shown(el) or self._within(el, self._fields):
                continue
            self._add(el, kind)
            if len(self._messages) >= _MOST_MARKED:
                break

    def _add_notes(self) -> None:
        """Adds short texts in and around forms: what a site says without marking it in any way."""
        around = (self._page.elements[number] for number in self._forms)
        for form in dict.fromkeys((*around, *self._around_lone_fields())):
            if self._shown(form):
                self._add_notes_of(form)

    def _around_lone_fields(self) -> Iterator[HtmlElement]:
        """The part of the page with a button around each shown field that has no form."""
        presses = self._numbers(_PRESSES(self._page.root))
        for number in self._fields:
            el = self._page.elements[number]
            if self._state.owners.get(number, -1) < 0 and self._shown(el) and self._body is not None:
                parts = (up for up in el.iterancestors() if up is self._body or self._within(up, presses))
                yield next(parts, self._body)

    def _add_notes_of(self, form: HtmlElement) -> None:
        added = 0
        for el in self._near(form):
            if added >= _MOST_NEAR or len(self._messages) >= _MOST_MESSAGES:
                break
            if el in self._looked_at:
                continue
            self._looked_at.add(el)
            if _acts(el) or self._within(el, self._holders) or not self._shown(el) or _is_within_control(el):
                continue
            before = len(self._messages)
            if len(one_line(el.text_content())) <= _MOST_NOTE_CHARS:
                self._add(el, "note")
            added += len(self._messages) - before

    def _near(self, form: HtmlElement) -> Iterator[HtmlElement]:
        yield from form.iterdescendants(*_NEAR_TAGS)
        for el in islice(_up(form, "body"), _LEVELS):
            before = list(islice(el.itersiblings(preceding=True), _MOST_SIBLINGS))
            for sibling in (*reversed(before), *islice(el.itersiblings(), _MOST_SIBLINGS)):
                new = isinstance(sibling.tag, str) and sibling not in self._looked_at
                if new and not self._within(sibling, self._forms):
                    yield sibling
                    yield from islice(sibling.iterdescendants(*_NEAR_INLINE), _MOST_OF_SIBLING)

    # --- forms ----------------------------------------------------------------------------------------

    def _facts(self, place: int, form: HtmlElement) -> FormFacts:
        names = (form.get(name) for name in ("name", "id", "class", "role"))
        sending = (el for el in form.iterdescendants() if _sends(el) and self._shown(el))
        labels = (one_line(el.text_content()) or self._page.value(el) for el in sending)
        return FormFacts(
            place,
            heading=self._heading(form),
            named=" ".join(filter(None, names)),
            action=form.get("action") or "",
            method=(form.get("method") or "get").lower(),
            send=tuple(filter(None, labels)),
        )

    def _heading(self, form: HtmlElement) -> str:
        """The heading of a form: its own legend or heading, else the nearest heading before it."""
        own = one_line(form.get("aria-label") or "") or self._text_of_ids(form.get("aria-labelledby"))
        inner = next(form.iterdescendants(*_HEADINGS, "legend"), None)
        if own:
            return own
        if inner is not None:
            return one_line(inner.text_content())[:_MOST_HEADING_CHARS]
        for el in _up(form, "body"):
            for before in el.itersiblings(preceding=True):
                if not isinstance(before.tag, str):
                    continue
                if before.tag == "form" or self._within(before, self._forms):
                    break
                headings = list(before.iter(*_HEADINGS))
                if headings:
                    return one_line(headings[-1].text_content())[:_MOST_HEADING_CHARS]
        return ""

    # --- what covers the page -------------------------------------------------------------------------

    def _overlay(self) -> Overlay | None:
        """The element that lies over the middle of the window and is no part of the page's flow."""
        if self._state.middle < 0:
            return None
        covering = None
        for up in _up(self._page.elements[self._state.middle], "body"):
            if self._page.fixed(up) or up.tag == "dialog" or up.get("aria-modal") == "true":
                covering = up
        if covering is None:
            return None
        fields = (el for el in covering.iterdescendants(*_FIELD_TAGS) if _type_of(el) not in ("hidden", "checkbox"))
        buttons = (el for el in covering.iterdescendants() if _is_pressed(el) and self._shown(el))
        labels = (
            one_line(el.text_content()) or self._page.value(el) or el.get("aria-label") or el.get("title") or ""
            for el in islice(buttons, _MOST_BUTTONS)
        )
        return Overlay(one_line(covering.text_content())[:_MOST_OVERLAY_CHARS], tuple(labels), sum(1 for _ in fields))


# --- single elements ----------------------------------------------------------------------------------


def _type_of(el: HtmlElement) -> str:
    """The type of an input; "" of other fields."""
    if el.tag != "input":
        return ""
    stated = (el.get("type") or "").lower()
    return stated if stated in _TYPES else "text"


def _is_hidden(el: HtmlElement) -> bool:
    return el.tag == "input" and (el.get("type") or "").lower() == "hidden"


def _is_control(el: HtmlElement) -> bool:
    return el.tag in _FIELD_TAGS or el.tag == "button"


def _is_button(el: HtmlElement) -> bool:
    return bool(el.tag == "button" or el.get("role") == "button")


def _acts(el: HtmlElement) -> bool:
    return el.tag in _ACT_TAGS or el.get("role") == "button" or (el.tag == "a" and el.get("href") is not None)


def _is_pressed(el: HtmlElement) -> bool:
    if el.tag == "input":
        return _type_of(el) in ("button", "submit")
    return isinstance(el.tag, str) and (_is_button(el) or (el.tag == "a" and el.get("href") is not None))


def _sends(el: HtmlElement) -> bool:
    if not isinstance(el.tag, str):
        return False
    stated = el.get("type")
    return (el.tag == "button" and stated is None) or (stated or "").lower() in ("submit", "image")


def _is_within_control(el: HtmlElement) -> bool:
    tags = ("label", "button", "nav", "h1", "h2")
    return any(up.tag in tags or (up.tag == "a" and up.get("href") is not None) for up in _up(el))


class _Names(NamedTuple):
    """The meaning of an element's class and id."""

    bad: bool  # they name an error
    bad_apart: bool  # they do without words that may only colour a text
    good: bool
    notice: bool


def _names_of(el: HtmlElement) -> _Names:
    return _meaning(el.get("class") or "", el.get("id") or "")


@bounded_cache(4_000, longest=200)
def _meaning(classes: str, name: str) -> _Names:
    names = _CAPITAL.sub(r"\1-\2", f"{classes} {name}")
    bad, good, notice = (pattern.search(names) is not None for pattern in (_BAD, _GOOD, _NOTICE))
    return _Names(bad, bad and _BAD.search(_COLOUR.sub(" ", names)) is not None, good, notice)


def _marked_kind(el: HtmlElement) -> NoticeKind | None:
    """The kind of message that an element is by its role or its names; None for none."""
    role, names = el.get("role"), _names_of(el)
    bad = names.bad if role == "alert" or names.notice else names.bad_apart
    if bad and el.tag not in ("form", "body", "html", "main"):
        return "error"
    if names.good:
        return "success"
    return "alert" if role == "alert" else "status" if role == "status" else None


def _up(el: HtmlElement, end: str = "") -> Iterator[HtmlElement]:
    """An element and what it stands in, up to one with the tag `end`."""
    at: HtmlElement | None = el
    while at is not None and at.tag != end:
        yield at
        at = at.getparent()


def _before(el: HtmlElement) -> Iterator[HtmlElement | str]:
    """The elements and texts before an element in its parent, the nearest first."""
    for sibling in el.itersiblings(preceding=True):
        yield sibling.tail or ""
        if isinstance(sibling.tag, str):
            yield sibling
    parent = el.getparent()
    yield "" if parent is None else parent.text or ""


def _text_without(el: HtmlElement, is_left_out: Callable[[HtmlElement], bool]) -> str:
    """The text of an element without that of some in it."""
    texts: list[str] = []
    waiting: list[HtmlElement | str] = [el]
    while waiting:
        at = waiting.pop()
        if isinstance(at, str):
            texts.append(at)
            continue
        texts.append(at.text or "")
        for child in reversed(at):
            waiting.append(child.tail or "")
            if isinstance(child.tag, str) and not is_left_out(child):
                waiting.append(child)
    return "".join(texts)
