"""The task of an environment: its first page, and its state after each step."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import ChatMessage
from shoal.agent.support.json_value import Json

Goal = str | Sequence[Mapping[str, Json]] | None
"""Words, or messages of text and images: `{"type": "text", "text": …}`, `{"type": "image_url", "image_url": …}`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a task after a step."""

    reward: float
    done: bool
    message: str = ""  # what the user says now; "" for nothing
    info: Mapping[str, Json] | None = None


class GymTask(ABC):
    """One task. A new object is made for each episode, with the episode's seed.

    Tasks that are written for BrowserGym work as they are: they need `setup`, `validate` and `teardown`, and may have
    `viewport` (width and height), `timeout` (of an action, milliseconds), `locale` and `timezone_id`. Their `slow_mo`
    is passed over: pages settle before they are looked at.
    """

    viewport: Mapping[str, int] | None = None
    timeout: float | None = None
    locale: str | None = None
    timezone_id: str | None = None
    scale: float = 1.0  # pixels of the picture for one of the page's

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self.random = random.Random(seed)

    @abstractmethod
    def setup(self, page: Blocking) -> tuple[Goal, Mapping[str, Json]]:
        """Brings the page to where the task begins; its goal, and what else is to be told."""

    @abstractmethod
    def validate(
        self, page: Blocking, chat_messages: Sequence[ChatMessage]
    ) -> tuple[float, bool, str, Mapping[str, Json]]:
        """Return how the task stands: reward since the last step, whether it is over, what the user says, what else."""

    def teardown(self) -> None:  # noqa: B027 - a hook: most tasks leave nothing behind
        """Undoes what the task left outside the browser."""


class OpenEnded(GymTask):
    """A page to begin with and a goal, without an end of its own: it ends when the user says "exit"."""

    def __init__(self, seed: int | None = None, *, start_url: str, goal: Goal = None) -> None:
        super().__init__(seed)
        self._start_url = start_url
        self._goal = goal

    def setup(self, page: Blocking) -> tuple[Goal, Mapping[str, Json]]:
        page.goto(self._start_url, wait_until="domcontentloaded")
        return self._goal, {}

    def validate(
        self, page: Blocking, chat_messages: Sequence[ChatMessage]
    ) -> tuple[float, bool, str, Mapping[str, Json]]:
        left = any(
            chat_message["role"] == "user" and chat_message["message"] == "exit" for chat_message in chat_messages
        )
        return 0.0, left, "", {}


def goal_object(goal: Goal) -> tuple[Mapping[str, Json], ...]:
    """The goal as messages."""
    if goal is None:
        return ()
    return ({"type": "text", "text": goal},) if isinstance(goal, str) else tuple(goal)


def goal_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """The words of a goal; each image is one line that says so."""
    return "\n".join(str(message["text"]) if message["type"] == "text" else "(an image)" for message in messages)
