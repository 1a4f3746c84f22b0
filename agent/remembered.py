"""What a function said of a text, remembered, in memory that has a bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def remembered(size: int, *, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Lets a pure function remember its last `size` answers, for several threads.

    Texts of more than `longest` characters are asked about anew each time: callers send them, as long as they like,
    and so what is remembered takes some `size` times `longest` characters at most.
    """

    def decorate(f: Callable[[str], T]) -> Callable[[str], T]:
        known = lru_cache(maxsize=size)(f)

        @wraps(f)
        def ask(text: str) -> T:
            return known(text) if len(text) <= longest else f(text)

        return ask

    return decorate
