"""What benches of prompts put in place of a page and of a model: one shows, the other asks only what a prompt costs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.browser import ObserveOptions
from agent.errors import ModelError
from agent.models.images import Grid, fitted
from agent.models.model import Ask, Message, Model, Reply
from agent.types import Observation, Usage

Json = Any
Layout = Callable[[Sequence[Message]], tuple[Message, ...]]


class Shown:
    """A context that shows one page and does nothing."""

    def __init__(self, seen: Observation) -> None:
        self._seen = seen
        self.url = seen.url

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        return self._seen


class Enough(ModelError):
    """The prompt was counted; nothing is decided here."""


def ours(messages: Sequence[Message]) -> tuple[Message, ...]:
    """As the policy sends it: instructions, job, history, page, time."""
    return tuple(messages)


def history_first(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The time and what was done stand first, then the page, then the instructions: the order of many agents."""
    head, *rest = messages
    page = rest[-1]
    body, _, time = page.text.rpartition("\n\n")
    return (Message("system", time), *rest[:-1], replace(page, text=body), Message("user", head.text))


def page_first(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The page stands before the instructions, so that several decisions on one page share it."""
    head, *rest = messages
    page = rest[-1]
    body, _, time = page.text.rpartition("\n\n")
    return (replace(page, text=body), Message("user", head.text), *rest[:-1], Message("user", time))


LAYOUTS: dict[str, Layout] = {"ours": ours, "history first": history_first, "page first": page_first}


@dataclass
class Counting:
    """Counts each prompt, on a server where there is one, and keeps it for the block model."""

    layout: Layout
    grid: Grid
    model: Model | None = None
    usages: list[Usage] = field(default_factory=list)
    requests: list[list[Json]] = field(default_factory=list)  # texts, and [identity, tokens] for images

    async def ask(self, ask: Ask) -> Reply:
        messages = self.layout(ask.messages)
        self.requests.append([part for message in messages for part in self._parts(message)])
        if self.model is not None:
            bare = replace(ask, messages=messages, json_schema=None, max_tokens=1)
            self.usages.append((await self.model.ask(bare)).usage)
        raise Enough

    def _parts(self, message: Message) -> list[Json]:
        images: list[Json] = []
        for image in message.images:
            found = fitted(image, self.grid)
            assert found is not None
            images.append([hashlib.sha256(image.data).hexdigest(), found.tokens(self.grid)])
        return [f"{message.role}\n", *images, f"{message.text}\n"]

    async def close(self) -> None:
        """Nothing: the model belongs to somebody else."""
