"""An environment after Gymnasium's interface: `reset` and `step` over one browser context.

    with BrowserEnv(MiniWob("click-test")) as env:
        observation, info = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step("click('1')")

Actions are text in any dialect. Gymnasium itself is not needed; the five-tuple is its.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from shoal.agent.actions.dialects.notations import Dialect, read_reply_on
from shoal.agent.browser import Browser, Context, ContextOptions, ObserveOptions
from shoal.agent.chromium.process.launch import launch
from shoal.agent.errors import BrowserError, ReplyUnparsable
from shoal.agent.types import ActionResult, Observation

Info = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a task stands."""

    reward: float
    done: bool
    message: str = ""


class Task(Protocol):
    """What an environment is about."""

    async def setup(self, page: Context, seed: int | None) -> str:
        """Brings the page to where the task begins; the goal in words."""
        ...

    async def validate(self, page: Context, results: Sequence[ActionResult]) -> Verdict:
        """How the task stands after a step."""
        ...

    async def teardown(self, page: Context) -> None:
        """Undoes what the task left outside the browser."""
        ...


class BrowserEnv:
    """Runs a task step by step; owns its browser unless one is given by `start`."""

    def __init__(
        self,
        task: Task,
        *,
        dialect: Dialect = "browsergym",
        max_steps: int = 50,
        observe: ObserveOptions = ObserveOptions(),
        options: ContextOptions = ContextOptions(),
        start: Callable[[], Awaitable[Browser]] = launch,
    ) -> None:
        self.task = task
        self._dialect: Dialect = dialect
        self._max_steps = max_steps
        self._observe = observe
        self._options = options
        self._start = start
        self._runner = asyncio.Runner()
        self._browser: Browser | None = None
        self._context: Context | None = None
        self._seen: Observation | None = None
        self._goal = ""
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """A fresh context at the beginning of the task."""
        return self._runner.run(self._reset(seed))

    def step(self, action: str) -> tuple[Observation, float, bool, bool, Info]:
        """What the page shows after `action`, reward, whether the task is over, whether its steps are used up, info."""
        return self._runner.run(self._step(action))

    def close(self) -> None:
        """Ends context, browser and event loop."""
        self._runner.run(self._close())
        self._runner.close()

    def __enter__(self) -> BrowserEnv:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _reset(self, seed: int | None) -> tuple[Observation, Info]:
        if self._browser is None:
            self._browser = await self._start()
        await self._leave()
        local = (*self._options.schemes, "file")  # tasks are pages of packages on this machine
        self._context = await self._browser.new_context(replace(self._options, schemes=local))
        self._goal = await self.task.setup(self._context, seed)
        self._steps = 0
        return await self._look(), {"goal": self._goal}

    async def _step(self, action: str) -> tuple[Observation, float, bool, bool, Info]:
        if self._context is None or self._seen is None:
            raise RuntimeError("reset comes before the first step")
        self._steps += 1
        results: list[ActionResult] = []
        unparsable = ""
        try:
            actions = await read_reply_on(self._dialect, action, self._seen.elements, self._context)
        except ReplyUnparsable as error:
            actions, unparsable = [], error.message
        for one in actions:
            results.append(await self._context.act(one))
            if results[-1].error is not None:
                break
        verdict = await self.task.validate(self._context, results)
        seen = await self._look()
        if unparsable:
            seen = replace(seen, last_error=unparsable)
        info = {"message": verdict.message, "results": tuple(results)}
        return seen, verdict.reward, verdict.done, self._steps >= self._max_steps and not verdict.done, info

    async def _look(self) -> Observation:
        assert self._context is not None
        self._seen = replace(await self._context.observe(self._observe), goal=self._goal)
        return self._seen

    async def _leave(self) -> None:
        if self._context is not None:
            await self.task.teardown(self._context)
            await self._context.close()
            self._context = None

    async def _close(self) -> None:
        await self._leave()
        if self._browser is not None:
            await self._browser.close()


class MiniWob:
    """One of the MiniWoB++ tasks that come with the package `miniwob`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._page = _miniwob_pages() / f"{name}.html"
        if not self._page.is_file():
            raise ValueError(f"miniwob has no task {name!r}")

    @staticmethod
    def names() -> list[str]:
        """All tasks of the package."""
        return sorted(page.stem for page in _miniwob_pages().glob("*.html"))

    async def setup(self, page: Context, seed: int | None) -> str:
        await page.goto(self._page.as_uri())
        begin = f"Math.seedrandom({seed}); " if seed is not None else ""
        # A task's clock would end it while somebody thinks.
        await page.read(_IN_PAGE, f"{begin}core.EPISODE_MAX_TIME = 1e7; core.startEpisodeReal()")
        await page.settle(quiet_s=0.05, budget_s=2)
        return str(json.loads(await page.read(_IN_PAGE, "return core.getUtterance()") or '""'))

    async def validate(self, page: Context, results: Sequence[ActionResult]) -> Verdict:
        said = await page.read(_IN_PAGE, "return [WOB_RAW_REWARD_GLOBAL, WOB_DONE_GLOBAL, WOB_REWARD_REASON]")
        if not said:
            raise BrowserError(f"the task {self.name} does not say how it stands")
        reward, done, reason = json.loads(said)
        return Verdict(float(reward), bool(done), str(reason or ""))

    async def teardown(self, page: Context) -> None:
        """Nothing lies outside the page."""


# The task's functions live in the page's own world, which only a script of the page reaches.
_IN_PAGE = """source => {
  const root = document.documentElement, script = document.createElement('script');
  script.textContent = `document.documentElement.dataset.answer = JSON.stringify((() => { ${source} })() ?? null)`;
  root.append(script);
  script.remove();
  const answer = root.dataset.answer;
  delete root.dataset.answer;
  return answer;
}"""


def _miniwob_pages() -> Path:
    found = importlib.util.find_spec("miniwob")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("MiniWoB++ needs the package 'miniwob'")
    return Path(found.origin).parent / "html" / "miniwob"
