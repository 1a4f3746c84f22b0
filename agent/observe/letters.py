"""Letters for elements that a model chooses among."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.agent.types import Element


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
