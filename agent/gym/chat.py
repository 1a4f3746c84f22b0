"""The messages of agent and user in an episode."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypedDict, get_args

Role = Literal["assistant", "user", "user_image", "infeasible", "info"]


class ChatMessage(TypedDict):
    """One message, in the form that tasks of BrowserGym read."""

    role: Role
    timestamp: float  # seconds since 1970
    message: str  # text; of an image its address


class Chat:
    """The messages of one episode, in order."""

    def __init__(self, ask: Callable[[], str] = input) -> None:
        self.messages: list[ChatMessage] = []
        self._ask = ask

    def add_message(self, role: Role, msg: str) -> None:
        """Adds what somebody said; `info`, which experiment loops tell people who watch, is not part of the episode.

        Raises:
            ValueError: the role is unknown.
        """
        if role not in get_args(Role):
            raise ValueError(f"no such role: {role!r}")
        if role != "info":
            self.messages.append({"role": role, "timestamp": time.time(), "message": msg})

    def wait_for_user_message(self) -> None:
        """Asks the user and waits for the answer."""
        self.add_message("user", self._ask())
