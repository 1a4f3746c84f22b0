"""A model without a model: answers from a script, for tests of everything above the model seam."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator

from shoal.agent.errors import ModelUnavailable
from shoal.agent.models.model import Ask, Reply
from shoal.agent.support.json_value import Json
from shoal.agent.types import Usage

_CHARS_PER_TOKEN = 4


class ScriptedModel:
    """A model that answers from a script and remembers what it was asked.

    Args:
        script: the answers in order, or a function from the request to its answer. An answer is text, any other JSON
            value (sent as JSON text), a whole `Reply`, or an exception, which is raised.
        seconds: how long each answer takes.

    When the script is used up it raises `ModelUnavailable`, as a server that is gone would.
    """

    def __init__(self, script: Iterable[Json] | Callable[[Ask], Json], *, seconds: float = 0.0) -> None:
        self.asked: list[Ask] = []
        self.closed = False
        self._function = script if callable(script) else None
        self._answers: Iterator[Json] = iter(()) if callable(script) else iter(list(script))
        self._seconds = seconds

    async def ask(self, ask: Ask) -> Reply:
        """The script's next answer.

        Raises:
            ModelUnavailable: the script is used up, or the model was closed.
        """
        self.asked.append(ask)
        if self.closed:
            raise ModelUnavailable("the scripted model is closed")
        await asyncio.sleep(self._seconds)
        answer = self._function(ask) if self._function else next(self._answers, _END)
        if answer is _END:
            raise ModelUnavailable(f"the script has no answer number {len(self.asked)}")
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Reply):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Reply(text=text, usage=_estimated(ask, text), seconds=self._seconds)

    async def close(self) -> None:
        """Refuses what comes after; may be called twice."""
        self.closed = True


_END = object()


def _estimated(ask: Ask, text: str) -> Usage:
    """Figures of the right order: a scripted model has no tokenizer."""
    prompt = sum(len(message.text) for message in ask.messages)
    return Usage(
        model_calls=1,
        prompt_tokens=prompt // _CHARS_PER_TOKEN,
        completion_tokens=len(text) // _CHARS_PER_TOKEN,
    )
