"""MiniWoB++: small pages with a goal, which say for themselves how it stands."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

from shoal.agent.errors import BrowserError
from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import ChatMessage
from shoal.agent.gym.task import Goal, GymTask
from shoal.agent.support.json_value import Json


class MiniWob(GymTask):
    """One of the tasks that come with the package `miniwob`."""

    def __init__(self, name: str, seed: int | None = None) -> None:
        super().__init__(seed)
        self.name = name
        self._page = _pages() / f"{name}.html"
        if not self._page.is_file():
            raise ValueError(f"miniwob has no task {name!r}")

    @staticmethod
    def names() -> list[str]:
        """All tasks of the package."""
        return sorted(page.stem for page in _pages().glob("*.html"))

    def setup(self, page: Blocking) -> tuple[Goal, Mapping[str, Json]]:
        page.goto(self._page.as_uri())
        if self.seed is not None:
            page.evaluate("seed => Math.seedrandom(seed)", self.seed)
        # A task's clock would end it while somebody thinks.
        page.evaluate("() => { core.EPISODE_MAX_TIME = 1e7; core.startEpisodeReal() }")
        said = page.evaluate("() => core.getUtterance()")
        return str(said["utterance"] if isinstance(said, dict) else said), {}

    def validate(
        self, page: Blocking, chat_messages: Sequence[ChatMessage]
    ) -> tuple[float, bool, str, Mapping[str, Json]]:
        said = page.evaluate("() => [WOB_RAW_REWARD_GLOBAL, WOB_DONE_GLOBAL, WOB_REWARD_REASON ?? '']")
        if not isinstance(said, list):
            raise BrowserError(f"the task {self.name} does not say how it stands")
        reward, done, reason = said
        return float(reward), bool(done), "", {"reason": str(reason)}


def _pages() -> Path:
    package = importlib.util.find_spec("miniwob")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("MiniWoB++ needs the package 'miniwob': pip install 'shoal[gym]'")
    return Path(package.origin).parent / "html" / "miniwob"
