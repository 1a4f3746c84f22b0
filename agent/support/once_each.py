"""Values of a function for objects that nothing changes, remembered by the very object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def once_each(most: int) -> Callable[[Callable[[T], R]], Callable[[T], R]]:
    """Lets a pure function remember its answers for the last objects, `most` of them at most.

    For objects that are costly to compare: what was asked for an equal object is asked for anew. The objects are kept
    as long as the answers, so that no other one takes their place in memory.
    """

    def decorate(f: Callable[[T], R]) -> Callable[[T], R]:
        known: dict[int, tuple[T, R]] = {}

        @wraps(f)
        def ask(of: T) -> R:
            answer = known.get(id(of))
            if answer is not None:
                return answer[1]
            made = f(of)
            if len(known) >= most:
                known.clear()
            known[id(of)] = of, made
            return made

        return ask

    return decorate
