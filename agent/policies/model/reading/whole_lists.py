"""Whole lists from a model whose replies have an end: a part that gave more than one reply holds is read in halves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from shoal.agent.models.reply import ModelAnswer
from shoal.agent.policies.model.requests.elements import in_parts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PartReading(Generic[T]):
    """The reading of one part of a page: its reply, or, where that was cut off, the readings of its halves."""

    answer: ModelAnswer[T] | None
    halves: tuple[PartReading[T], ...] = ()

    def answers(self) -> Iterator[ModelAnswer[T]]:
        """All replies that count, in the page's order."""
        if self.answer is not None:
            yield self.answer
        for half in self.halves:
            yield from half.answers()


async def in_whole(
    ask: Callable[[int, str], Awaitable[ModelAnswer[T]]],
    parts: Sequence[str],
    least: int,
    worth: Callable[[str], bool] = lambda words: True,
) -> tuple[PartReading[T], ...]:
    """The readings of `parts`, each of them whole as far as that goes.

    Where a reply was cut off at the model's limit, its part is asked for anew in halves, which overlap as parts do.
    Only a part of `least` characters or fewer may give a reply that is cut off, and is marked so.

    Args:
        ask: the number of a part, counted anew as parts are halved, and its text to its reply.
        worth: whether a part or half can hold anything at all.
    """
    count = 0

    async def read(words: str) -> PartReading[T]:
        nonlocal count
        answer = await ask(count, words)
        halves = in_parts(words, max(least, len(words) * 9 // 16)) if answer.cut_off and len(words) > least else []
        if len(halves) > 1:
            return PartReading(None, tuple([await read(half) for half in halves if worth(half)]))
        count += 1
        return PartReading(answer)

    return tuple([await read(part) for part in parts if worth(part)])
