"""Candidates for a model that chooses among elements: ranked, cut, lettered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.observe.tree import clickable_elements
from agent.types import Element

_WORD = re.compile(r"\w{2,}")


def ranked(root: Element, goal: str, limit: int | None = None) -> list[Element]:
    """What takes clicks, what fits the goal's words first; among equals, what is in view, then document order."""
    wanted = set(_WORD.findall(goal.lower()))
    elements = clickable_elements(root)

    def key(item: tuple[int, Element]) -> tuple[int, bool, int]:
        index, element = item
        said = set(_WORD.findall(f"{element.name} {element.text} {' '.join(element.attributes.values())}".lower()))
        return (-len(wanted & said), not element.in_viewport, index)

    return [element for _, element in sorted(enumerate(elements), key=key)][:limit]


def letters() -> Iterator[str]:
    """A, B, …, Z, AA, AB, …"""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield from alphabet
    for first in letters():
        for second in alphabet:
            yield first + second


def lettered(elements: Sequence[Element]) -> dict[str, Element]:
    """The elements by the letters under which a model may choose them, in order."""
    return dict(zip(letters(), elements, strict=False))
