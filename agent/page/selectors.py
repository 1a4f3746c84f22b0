"""Selectors of a page's elements: by id, by a class that no other has, else from the parent's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice

from lxml.html import HtmlElement

from shoal.agent.page.page import Page

_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_STEP = re.compile(r"([\w-]+)(?::nth-of-type\((\d{1,6})\))?", re.ASCII)


def element_at(page: Page, selector: str) -> HtmlElement | None:
    """The element that a selector of `Selectors` leads to; None where the page has none."""
    first, *steps = selector.split(" > ")
    if first.startswith("#"):
        at = next((el for el in page.elements if el.get("id") == first[1:]), None)
    else:
        tag, _, name = first.partition(".")
        at = next((el for el in page.root.iter(tag) if not name or name in (el.get("class") or "").split()), None)
    for step in steps:
        hit = _STEP.fullmatch(step)
        if at is None or hit is None:
            return None
        at = next(islice(at.iterchildren(hit[1]), int(hit[2] or 1) - 1, None), None)
    return at


class Selectors:
    """Selectors of a page's elements: by id, by a class that no other has, else from the parent's."""

    def __init__(self, page: Page) -> None:
        named = (name for el in page.elements for name in set((el.get("class") or "").split()))
        self._classes = Counter(named)
        self._known: dict[HtmlElement, str] = {}
        self._steps: dict[HtmlElement, Mapping[HtmlElement, str]] = {}  # of the children, by parent

    def of(self, el: HtmlElement) -> str:
        """A selector of the element."""
        waiting = [el]
        while (
            waiting[-1].tag != "body"
            and waiting[-1] not in self._known
            and (parent := waiting[-1].getparent()) is not None
        ):
            if name := self._own(waiting[-1]):
                self._known[waiting[-1]] = name
                break
            waiting.append(parent)
        last = waiting.pop()
        made = self._known.setdefault(last, "body" if last.tag == "body" else str(last.tag))
        for below in reversed(waiting):
            made = self._known.setdefault(below, f"{made} > {self._step(below)}")
        return made

    def _own(self, el: HtmlElement) -> str:
        name = str(el.get("id") or "")
        if _PLAIN_NAME.fullmatch(name):
            return f"#{name}"
        classes = (each for each in (el.get("class") or "").split() if _PLAIN_NAME.fullmatch(each))
        only = next((each for each in classes if self._classes[each] == 1), "")
        return f"{el.tag}.{only}" if only else ""

    def _step(self, el: HtmlElement) -> str:
        parent = el.getparent()
        assert parent is not None
        if parent not in self._steps:
            children = [child for child in parent if isinstance(child.tag, str)]
            several = Counter(child.tag for child in children)
            seen: Counter[object] = Counter()
            steps = {}
            for child in children:
                seen[child.tag] += 1
                nth = f":nth-of-type({seen[child.tag]})" if several[child.tag] > 1 else ""
                steps[child] = f"{child.tag}{nth}"
            self._steps[parent] = steps
        return self._steps[parent][el]
