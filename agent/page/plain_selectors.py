"""Elements that plain selectors find: tags, classes and ids, within one another.

lexbor goes through the whole tree for each selector, and style sheets have hundreds of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from shoal.agent.page.lexbor_tree import ParsedHtml
from shoal.agent.page.page import last_within
from shoal.agent.support.bounded_cache import bounded_cache

_STEP = re.compile(r"(^|\s*>\s*|\s+)(\*|[a-z][a-z0-9-]*)?((?:[.#]-?[^\W\d][\w-]*)*)", re.IGNORECASE)
_NAME = re.compile(r"[.#][\w-]+")


class SelectorStep(NamedTuple):
    """One compound of a selector."""

    is_child: bool  # its elements stand right in those of the step before, and not deeper
    names: tuple[str, ...]  # a tag, classes (`.class`) and ids (`#id`)


@bounded_cache(4096, longest=400)
def plain_steps(selector: str) -> tuple[SelectorStep, ...] | None:
    """The steps of a plain selector; None of any other."""
    steps, end = list[SelectorStep](), 0
    for hit in _STEP.finditer(selector):
        if hit.start() != end or not (hit[2] or hit[3]):
            return None
        tag = (hit[2].lower(),) if hit[2] and hit[2] != "*" else ()
        steps.append(SelectorStep(">" in hit[1], (*tag, *_NAME.findall(hit[3]))))
        end = hit.end()
    return tuple(steps) if end == len(selector) else None


class PlainSelectors:
    """The elements of one document by their tags, ids and classes."""

    def __init__(self, document: ParsedHtml) -> None:
        self._parents = document.parents
        self._all = range(len(document.tags))
        named: dict[str, dict[int, None]] = {}
        for number, (tag, attributes) in enumerate(zip(document.tags, document.attributes, strict=True)):
            named.setdefault(tag.lower(), {})[number] = None
            if "class" in attributes:
                for name in (attributes["class"] or "").split():
                    named.setdefault("." + name, {})[number] = None
            if "id" in attributes:
                named.setdefault(f"#{attributes['id'] or ''}", {})[number] = None
        self.named: Mapping[str, Mapping[int, None]] = named
        """The numbers of the elements of each tag, id (`#id`) and class (`.class`)."""
        self._ends = last_within(self._parents)

    def find(self, steps: Iterable[SelectorStep]) -> Sequence[int]:
        """The numbers of the elements in document order."""
        numbers: Sequence[int] = (-1,)
        for step in steps:
            if not numbers:
                break
            numbers = self._right_in(numbers, step) if step.is_child else self._within(numbers, step)
        return numbers

    def _called(self, step: SelectorStep) -> Sequence[int]:
        its = sorted((self.named.get(name, {}) for name in step.names), key=len)
        if not its:
            return self._all
        return [number for number in its[0] if all(number in other for other in its[1:])]

    def _right_in(self, around: Sequence[int], step: SelectorStep) -> Sequence[int]:
        outer = set(around)
        return [number for number in self._called(step) if self._parents[number] in outer]

    def _within(self, around: Sequence[int], step: SelectorStep) -> Sequence[int]:
        its = self._called(step)
        if around == (-1,):
            return its
        inner, end = list[int](), -1
        for outer in around:
            if outer > end:  # else all that is within was taken with what is around
                end = self._ends[outer]
                inner += its[bisect_right(its, outer) : bisect_right(its, end)]
        return inner
