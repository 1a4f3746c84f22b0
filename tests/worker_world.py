"""A worker's parts in one process: a fake browser, a plain policy, pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from shoal.agent.browser import ContextOptions
from shoal.agent.documents.context import DocumentReader, read_here
from shoal.agent.documents.fetching import DocumentClient
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.attended.human_help import Helper
from shoal.agent.sessions.dependencies import Glossaries
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, LoopItem, Record, Step
from shoal.agent.worker_messages import LiveRequest, Work
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.network.navigation_guard import RateSlots, SiteNavigationGuard
from shoal.services.browsers.session_parts.browser_owner import BrowserOwner
from shoal.services.browsers.session_parts.field_glossaries import SharedGlossaries
from tests.doubles import FakeBrowser, FakePage


class PlainPolicy:
    """Loops over the links that the page reads as, clicks "send" once when there is data, extracts what it reads."""

    instant = True

    async def plan(self, state: SessionState) -> Plan:
        done = {task.type for task in state.history}
        if state.loop is not None and state.children is None:
            return Plan(plan="each", task_type="loop", loop_values=state.loop.values, is_loop_value_link=True)
        if state.spec.data is not None and state.loop is None and "navigate" not in done:
            return Plan(plan="send it", task_type="navigate")
        if state.spec.extract is not None and state.loop is None and "extract" not in done:
            return Plan(plan="read it", task_type="extract")
        return Plan(thoughts="done", user_goal_achieved=True)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if steps:
            return StepDecision("sent", (Action("complete"),))
        return StepDecision("send", (Action("click", {"bid": "1"}, submits=True),))

    async def extract(self, state: SessionState) -> Extraction:
        return Extraction((Record(await state.page.read("facts")),))

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        for index, link in enumerate(await state.page.read("links")):
            yield LoopItem(index, link, is_link=True)


class OpenGate:
    """Lets everybody pass."""

    crawl_delay_s: float | None = None

    async def __call__(self, url: str) -> None:
        pass


@dataclass
class FakeParts:
    """The parts of this world's workers."""

    browsers: list[FakeBrowser]
    make: Callable[[], FakeBrowser]
    config: WorkerConfig
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)

    def __post_init__(self) -> None:
        self.owner = BrowserOwner(self._launch, self.config.browser)

    async def _launch(self) -> FakeBrowser:
        self.browsers.append(self.make())
        return self.browsers[-1]

    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return PlainPolicy()

    def navigation_guard(self, work: Work, rate_slots: RateSlots) -> SiteNavigationGuard:
        return OpenGate()

    async def context(self, work: Work, *, opened: bool = True) -> ContextOptions:
        return self.config.context

    def ended(self, work: Work) -> str:
        return ""

    @property
    def document_reader(self) -> DocumentReader:
        return read_here

    def documents(self, tenant: str) -> DocumentClient | None:
        return None

    def link(self, attendance: Attendance, request: LiveRequest) -> Coroutine[None, None, None]:
        async def none() -> None:
            """Nobody looks."""

        return none()

    def glossaries(self, work: Work, shared: SharedGlossaries) -> Glossaries | None:
        return None

    def helper(self, work: Work) -> Helper | None:
        return None

    async def close(self) -> None:
        await self.owner.close()


def shop(n: int, **more: Any) -> dict[str, FakePage]:
    """A front page with `n` links, and the pages behind them, each with one record."""
    links = [f"http://shop.example/{i}" for i in range(n)]
    pages = {link: FakePage(read={"n": i}, **more) for i, link in enumerate(links)}
    return {"http://shop.example/": FakePage(read=links)} | pages


def form(act_seconds: float = 0.0) -> dict[str, FakePage]:
    """A page with a button that sends, and the page behind it, with one record."""
    return {
        "http://shop.example/": FakePage(actions={"click 1": "http://shop.example/thanks"}, act_seconds=act_seconds),
        "http://shop.example/thanks": FakePage(read={"n": 1}),
    }


COMPLETED = Status.COMPLETED
EXTRACT = {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
LOOP = {"from": {"select": "a"}}
PLAN = {
    "thoughts": "scripted",
    "require_extraction": True,
    "user_goal_achieved": False,
    "should_terminate": False,
    "termination_reason": None,
    "plan": None,
    "task_type": None,
    "loop_values": None,
    "is_loop_value_link": False,
}
"""A reply of a model where nothing remains but to read."""
