"""MiniWoB++: small pages with a goal, which say for themselves how it stands.

Seeds, rewards, window and what the page shows are those of browsergym-miniwob, so that scores can be compared.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from shoal.agent.errors import BrowserError
from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import ChatMessage
from shoal.agent.gym.task import Goal, GymTask
from shoal.agent.support.json_value import Json

BEGIN = Path(__file__).with_name("miniwob.js").read_text(encoding="utf-8")
"""A function that begins an episode, of `[seed of the page, milliseconds that it may last, whether the page is bare]`.

Timers are stopped on a bare page, so that the page does not end an episode while somebody thinks.
"""
MOST_MS = 1_000_000
_SEEDS = 1_000_000
_TOLD = (
    "() => ({REWARD_GLOBAL: WOB_REWARD_GLOBAL, RAW_REWARD_GLOBAL: WOB_RAW_REWARD_GLOBAL, "
    "REWARD_REASON: WOB_REWARD_REASON, DONE_GLOBAL: WOB_DONE_GLOBAL, EPISODE_ID: WOB_EPISODE_ID, "
    "TASK_READY: WOB_TASK_READY})"
)


class MiniWob(GymTask):
    """One of the tasks that come with the package `miniwob`."""

    viewport: Mapping[str, int] | None = {"width": 332, "height": 214}
    timeout: float | None = 5000
    scale: float = 1.5

    def __init__(
        self,
        name: str,
        seed: int | None = None,
        *,
        base_url: str | None = None,
        episode_max_time: int = MOST_MS,
        remove_human_display: bool = True,
    ) -> None:
        """Args:
        base_url: where the pages are, with a slash at its end; None: those of the package.
        episode_max_time: milliseconds, for a page that keeps its display; the timer of a bare one is stopped.
        remove_human_display: whether goal, timer and rewards are taken off the page.
        """
        super().__init__(seed)
        self.name = name
        if base_url is None and not (pages() / f"{name}.html").is_file():
            raise ValueError(f"miniwob has no task {name!r}")
        self.url = f"{base_url or pages().as_uri() + '/'}{name}.html"
        self._most_ms, self._bare = episode_max_time, remove_human_display
        self._page: Blocking | None = None

    @staticmethod
    def names() -> list[str]:
        """All tasks of the package."""
        return sorted(page.stem for page in pages().glob("*.html"))

    def setup(self, page: Blocking) -> tuple[Goal, Mapping[str, Json]]:
        self._page = page
        page.goto(self.url)
        page.evaluate(BEGIN, [page_seed(self.seed), self._most_ms, self._bare])
        page.wait_for_function("() => WOB_TASK_READY")
        utterance = page.evaluate("() => core.getUtterance()")
        return str(utterance["utterance"] if isinstance(utterance, dict) else utterance), self._task_state(page)

    def validate(
        self, page: Blocking, chat_messages: Sequence[ChatMessage]
    ) -> tuple[float, bool, str, Mapping[str, Json]]:
        if page != self._page:
            return 0.0, True, "", {"error": "the agent turned to another tab: the task is over"}
        if page.url != self.url:
            return 0.0, True, "", {"error": "the agent left the page: the task is over"}
        task_state = self._task_state(page)
        return float(task_state["RAW_REWARD_GLOBAL"] > 0), bool(task_state["DONE_GLOBAL"]), "", task_state

    def _task_state(self, page: Blocking) -> Mapping[str, Json]:
        task_state = page.evaluate(_TOLD)
        if not isinstance(task_state, dict):
            raise BrowserError(f"the task {self.name} does not say how it stands")
        return task_state


def page_seed(seed: int | None) -> int:
    """The seed that the page's own random numbers get for a task's seed; another one each time for None."""
    return int(np.random.RandomState(seed).randint(0, _SEEDS))


def pages() -> Path:
    """The folder of the tasks' pages.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    package = importlib.util.find_spec("miniwob")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("MiniWoB++ needs the package 'miniwob': pip install 'shoal[gym]'")
    return Path(package.origin).parent / "html" / "miniwob"
