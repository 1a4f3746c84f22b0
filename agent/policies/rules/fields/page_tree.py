"""The tree of the page that is open, and selectors of its elements."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping

from lxml.html import HtmlElement

from shoal.agent.browser import PageDocument
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer

MOST_ELEMENTS = 40_000
"""Of a page that is read: reading takes 2 s of 20,000 elements."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


async def page_on(document: PageDocument) -> Page | None:
    """The page's tree; None where it is too large to be read in good time."""
    answer = await document.read(SCRIPT, {"boxes": False})
    page = await asyncio.to_thread(page_of_answer, answer)
    return page if len(page.marks) <= MOST_ELEMENTS else None


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
