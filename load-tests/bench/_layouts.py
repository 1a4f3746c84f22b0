"""Stand-ins for a page and a model in benches of prompts: one shows a page, the other only counts the tokens of a
prompt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.browser import ObserveOptions
from shoal.agent.errors import ModelError
from shoal.agent.models.images import fitted
from shoal.agent.models.model import Ask, Message, Model, Reply
from shoal.agent.models.settings import ImageGrid
from shoal.agent.support.json_value import Json
from shoal.agent.types import Observation, Usage

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
    """As the policy sends it: instructions, job, page, history, time."""
    return tuple(messages)


def history_before_page(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Ours but for one thing: what was done, which only grows, stands before the page, and only the time behind it."""
    head, job, *page, asked = messages
    told, _, time = asked.text.rpartition("\n")
    return (head, job, Message("user", told), *page, Message("user", time))


def own_heads(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what was sent before: each decision's instructions alone, then job, history, page,
    time.

    The item of a reading stood behind its page already.
    """
    head, job, *page, asked = messages
    intro, *sections = head.text.split("\n\n## ")
    decision = _DECISION.findall(asked.text)[-1]
    own = next(section for section in sections if section.startswith(f"{decision}\n"))
    told, _, time = asked.text.rpartition("\n")
    instructions = Message("system", f"{intro}\n\n{own}")
    if decision == "extract":
        return (instructions, job, *_pictures_first(page), asked)
    return (instructions, job, Message("user", told), *_pictures_first(page), Message("user", time))


def history_first(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The time and what was done stand first, then job and page, then the instructions: the order of many agents."""
    head, job, *page, asked = messages
    told, _, time = asked.text.rpartition("\n")
    return (Message("system", time), Message("user", told), job, *_pictures_first(page), Message("user", head.text))


_DECISION = re.compile(r"^# Now: (\w+)$", re.MULTILINE)


def _pictures_first(page: Sequence[Message]) -> Sequence[Message]:
    return list(reversed(page))


@dataclass(frozen=True, slots=True)
class LayoutOption:
    """One way to lay a prompt out."""

    layout: Layout
    frames: bool = False  # whether lines that pages repeat are told once


LAYOUTS: dict[str, LayoutOption] = {
    "ours": LayoutOption(ours, frames=True),
    "ours, pages whole": LayoutOption(ours),
    "ours, history before page": LayoutOption(history_before_page, frames=True),
    "own heads, history, page": LayoutOption(own_heads),
    "time and history first": LayoutOption(history_first),
}


@dataclass
class Counting:
    """Counts each prompt, on a server where there is one, and keeps it for the block model."""

    told: LayoutOption
    grid: ImageGrid
    model: Model | None = None
    usages: list[Usage] = field(default_factory=list)
    requests: list[list[Json]] = field(default_factory=list)  # texts, and [identity, tokens] for images
    schemas: list[Json] = field(default_factory=list)  # what each reply is held to

    async def ask(self, ask: Ask) -> Reply:
        messages = self.told.layout(ask.messages)
        self.schemas.append(ask.json_schema)
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
