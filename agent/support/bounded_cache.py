"""A cache of a function's values for texts, in memory that has a bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def bounded_cache(size: int, *, longest: int) -> Callable[[F], F]:
    """Lets a pure function of texts, or of tuples of them, remember its last `size` answers, for several threads.

    Arguments that are longer together than `longest` (characters, or parts of tuples) are asked about anew each time:
    callers send them, as long as they like, and so what is remembered takes some `size` times `longest` at most.
    As with `functools.lru_cache`, the function's `cache_info` tells how much that is.
    """

    def decorate(f: F) -> F:
        known = lru_cache(maxsize=size)(f)

        @wraps(f)
        def ask(text: Any, *more: Any) -> Any:
            length = len(text) + sum(map(len, more)) if more else len(text)
            return known(text, *more) if length <= longest else f(text, *more)

        ask.cache_info = known.cache_info  # type: ignore[attr-defined]
        return cast(F, ask)

    return decorate
