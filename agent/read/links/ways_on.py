"""The links and buttons of a page that may lead to the next page of its list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lxml.html import HtmlElement

from shoal.agent.read.facts.texts import names_of, one_line
from shoal.agent.read.links.page_links import PageLinks, is_link, text_in

_PAGER = re.compile(r"paginat|pager|paging", re.I)
_MOST_NAMED = 4_000
_MOST_CONTROLS = 600
_LONGEST_NAME, _LONGEST_WORDS = 40, 60
"""Characters of what a control shows, and of that with its name and its tool tip."""
_MOST_CHARS = 80
_PAGE_NUMBER = re.compile(r"\d{1,5}")
_DRAWN_NEXT = re.compile(r"(^|[-_\s])(next|(chevron|angle|arrow|caret)[-_]?right)([-_\s]|$)", re.I)
_DRAWN_OTHER = re.compile(r"prev|left|last|double", re.I)
_DISABLED = re.compile(r"(^|[-_\s])disabled([-_\s]|$)", re.I)
_CURRENT_CLASSES = frozenset({"active", "current", "selected"})
_OWN_PAGER = frozenset({"pagination", "pager"})
_CONTROLS = "//a[@href] | //button | //*[@role='button'] | //input[@type='button']"
_PRESSED = ("a", "li", "span", "div")
"""Elements of which pagers are made beside links and buttons."""
_FIELDS = frozenset({"button", "input", "select", "textarea", "fieldset", "option", "optgroup"})


@dataclass(frozen=True, slots=True)
class ListControl:
    """A link or a button that may lead on."""

    link: str  # where it leads; "" for a button
    text: str
    aria_label: str
    tip: str
    names: str  # classes and id
    rel: str
    sends: str  # the method by which it sends a form: "post" or "get"; "" where it sends none
    disabled: bool
    visible: bool
    place: str = ""  # selector of a button in a pager; "" for a link, and for buttons elsewhere

    @property
    def name(self) -> str:
        """Return what it is called by its text, else by its label."""
        return self.text or self.aria_label

    @property
    def label(self) -> str:
        """The same, and its tool tip where it has neither."""
        return self.name or self.tip


class WaysOn:
    """The controls of one page."""

    def __init__(self, links: PageLinks) -> None:
        self._links, self._page = links, links.page
        self._in_pager: dict[HtmlElement, bool] = {}

    def controls(self) -> tuple[ListControl, ...]:
        """The links and buttons with a short name, and all in pagers; those that a pager is made of otherwise last."""
        named = []
        for el in (*self._page.root.xpath(_CONTROLS), *self._pressed()):
            text = self._text(el)
            if len(text) > _LONGEST_NAME and not el.get("aria-label"):
                continue
            words = f"{text}{el.get('aria-label') or ''}{el.get('title') or ''}"
            if (words and len(words) <= _LONGEST_WORDS) or (not words and self.in_pager(el)):
                named.append(el)
            if len(named) > _MOST_NAMED:
                break
        return tuple(map(self.control, named[-_MOST_CONTROLS:]))

    def control(self, el: HtmlElement) -> ListControl:
        """An element as a control: the link or the button that it is, stands in or holds."""
        target = next(filter(_is_target, (el, *el.iterancestors())), None)
        if target is None:
            target = next(filter(_is_control, el.iterdescendants()), el)
        link = self._links.address(target) if is_link(target) and self._links.is_usable(target) else ""
        text, in_pager = self._text(target)[:_MOST_CHARS], self.in_pager(target)
        named = text or target.get("aria-label") or target.get("title")
        drawn = in_pager and not named and self._is_drawn_next(target)
        return ListControl(
            link=link,
            text=text,
            aria_label=target.get("aria-label") or "",
            tip=target.get("title") or "",
            names=names_of(target),
            rel="next" if drawn else target.get("rel") or "",
            sends=self._sends(target),
            disabled=self._is_disabled(target),
            visible=self._page.drawn(target),
            place=self._place(target) if in_pager and not link else "",
        )

    def in_pager(self, el: HtmlElement) -> bool:
        """True for what stands in a block that is named as a pager."""
        walked = []
        known = False
        for around in (el, *el.iterancestors()):
            if around in self._in_pager:
                known = self._in_pager[around]
                break
            walked.append(around)
            if _is_pager(around):
                known = True
                break
        self._in_pager |= dict.fromkeys(walked, known)
        return known

    def current(self) -> str:
        """The number of the page that is open: marked as current in a pager, else anywhere; "" where none is."""
        marked = [el for el in self._page.root.xpath("//*[@class or @aria-current]") if _is_current(el)]
        numbered = (el for el in marked if re.search(r"\d", str(el.text_content())) and self.in_pager(el))
        open_ = next(numbered, None)
        if open_ is None:
            current = (el for el in marked if el.get("aria-current") in ("page", "true") or _in_own_pager(el))
            open_ = next(current, None)
        return text_in(open_) if open_ is not None else ""

    def rel_next(self) -> HtmlElement | None:
        """The first element that leads to the next page by its `rel`."""
        linked = (el for el in self._page.root.iter("link", "a") if el.get("href") is not None)
        return next((el for el in linked if "next" in (el.get("rel") or "").split()), None)

    def _text(self, el: HtmlElement) -> str:
        text = str(el.text_content())
        return one_line(text or (self._page.value(el) or "" if el.tag == "input" else ""))

    def _pressed(self) -> Iterator[HtmlElement]:
        """Yield what takes clicks in a pager and is neither a link nor a button."""
        for el in self._page.root.iter(*_PRESSED):
            if self._page.takes_clicks(el) and self.in_pager(el):
                around = any(map(_is_control, (el, *el.iterancestors())))
                if not around and not any(map(_is_control, el.iterdescendants())):
                    yield el

    def _is_drawn_next(self, target: HtmlElement) -> bool:
        """True for a drawing whose names, or whose entry's, say that it leads on."""
        names = " ".join(map(names_of, (target, _entry_of(target), *target.iterdescendants())))
        return bool(_DRAWN_NEXT.search(names)) and not _DRAWN_OTHER.search(names)

    def _is_disabled(self, target: HtmlElement) -> bool:
        if target.tag in _FIELDS and target.get("disabled") is not None:
            return True
        around = (target, *target.iterancestors())
        if any(el.get("aria-disabled") == "true" or "disabled" in _classes(el) for el in around):
            return True
        return any(_DISABLED.search(el.get("class") or "") for el in (target, _entry_of(target)))

    def _sends(self, target: HtmlElement) -> str:
        kind = (target.get("type") or ("submit" if target.tag == "button" else "")).lower()
        if target.tag not in ("button", "input") or kind not in ("submit", "image"):
            return ""
        owner = target.get("form")
        forms = target.iterancestors("form") if owner is None else self._page.root.iterfind(f".//form[@id='{owner}']")
        form = next(iter(forms), None)
        if form is None:
            return ""
        return "post" if (form.get("method") or "").lower() == "post" else "get"

    def _place(self, target: HtmlElement) -> str:
        """The way to an element by its place: one of many that no name tells apart. "" in a shadow tree."""
        steps = self._page.selector(target)
        return steps[0] if len(steps) == 1 else ""


def _is_control(el: HtmlElement) -> bool:
    named = el.tag == "button" or el.get("role") == "button"
    return named or (el.tag == "a" and el.get("href") is not None) or (el.tag == "input" and el.get("type") == "button")


def _is_target(el: HtmlElement) -> bool:
    return bool((_is_control(el) and el.tag != "input") or el.get("role") == "link")


def _is_pager(el: HtmlElement) -> bool:
    name, label = el.get("class") or "", el.get("aria-label") or ""
    match = _PAGER.search(name) or _PAGER.search(el.get("id") or "") or re.search("paginat", label, re.I)
    return bool(match) or "pages" in name.split()


def _is_current(el: HtmlElement) -> bool:
    return el.get("aria-current") in ("page", "true") or not _CURRENT_CLASSES.isdisjoint(_classes(el))


def _in_own_pager(el: HtmlElement) -> bool:
    marked = not {"active", "current"}.isdisjoint(_classes(el))
    return marked and any(not _OWN_PAGER.isdisjoint(_classes(around)) for around in el.iterancestors())


def _entry_of(target: HtmlElement) -> HtmlElement:
    """The entry of a list that a control is, else the control."""
    parent = next(islice(target.iterancestors(), 1), None)
    return parent if parent is not None and parent.tag == "li" else target


def _classes(el: HtmlElement) -> list[str]:
    return (el.get("class") or "").split()
