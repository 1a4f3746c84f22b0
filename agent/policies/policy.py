"""The policy seam: who decides. Implementations: rules, model, workflow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agent.browser import Context, ObserveOptions
from agent.plan import Plan
from agent.secrecy import Hidden
from agent.sight import Sighting
from agent.spec import JobSpec, LoopSpec
from agent.step import StepDecision
from agent.types import ChildrenSummary, LoopItem, Observation, Record, Step, Task, Usage

Json = Any


@dataclass(slots=True)
class Scene:
    """All that a policy may look at: the job, what was done so far, and the page.

    One per session, owned by `agent.session`; a policy changes nothing but `usage`, `listed`, `sightings`, `proposed`
    and `decision_from`.
    """

    spec: JobSpec
    loop: LoopSpec | None  # the loop that this session has to do; None for a leaf
    item: LoopItem | None  # the value this session works for; None for the root
    page: Context
    history: tuple[Task, ...] = ()
    records: tuple[Record, ...] = ()  # extracted so far
    children: ChildrenSummary | None = None  # set once the session's loop is done
    usage: Usage = field(default_factory=Usage)  # policies add what they spend
    elapsed_s: float = 0.0
    depth: int = 0  # 0 for the job's root session, 1 for its loop's items, ...
    spent_before: Usage = Usage()  # by earlier attempts of this session
    job_tokens: int = 0  # spent by the job's other attempts, as far as is known; brought up to date while this one runs
    hidden: Hidden = field(default_factory=Hidden)  # values of secrets that were filled in: never shown again
    sightings: list[Sighting] = field(default_factory=list)  # pages of the running mini goal, where the job wants some
    listed: int | None = None  # how many items a list said that it has, while its items were collected
    cut: str = ""  # why collecting ended before the list did, in words; "" when it did not
    doubt: str = ""  # why the items that were collected may not be those that were meant, or why none were; in words
    decision_from: int = 0  # tokens of this attempt when the running decision began
    proposed: Json = None  # the schema that a model proposed where the job has none
    job: int | None = None  # the job's id; None: unknown, and then nothing seen here is used for other sessions

    def cut_after(self, page: int) -> None:
        """Notes that a list goes on after so many pages, and is not followed further."""
        self.cut = f"the list goes on after page {page:,}, where max_pages ended it"

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """The page now, with the goal filled in."""
        seen = self.hidden.observation(await self.page.observe(options))
        return replace(seen, goal=self.spec.goal or "", elapsed_s=self.elapsed_s)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read from one page, checked against the schema by the session, not by the policy."""

    records: tuple[Record, ...]
    complete: bool = True  # False: the page shows more than was read
    missing: tuple[str, ...] = ()  # fields of the schema that the page does not show
    shown: int | None = None  # how many records the page says that there are, where it says so
    schema: Json = None  # what the records were held to, where the job itself has no schema
    unproven: tuple[str, ...] = ()  # fields whose value was dropped, because the page does not say it
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked


class Policy(Protocol):
    """Decides; never acts on the page itself except by reading (and scrolling or paging while it collects)."""

    @property
    def instant(self) -> bool:
        """True when `plan` asks nobody and takes no time: then no checkpoint is written before it."""
        ...

    async def plan(self, scene: Scene) -> Plan:
        """The next mini goal.

        Raises:
            GoalNeedsModel: the goal is beyond this policy.
            ModelError: the model server could not be asked.
        """
        ...

    async def step(self, scene: Scene, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions to take now for the mini goal `goal`, after `steps` of it."""
        ...

    async def extract(self, scene: Scene) -> Extraction:
        """What the page shows of the job's `extract`.

        Raises:
            FieldsMissing: the page does not show what the schema requires.
        """
        ...

    def collect(self, scene: Scene, plan: Plan) -> AsyncIterator[LoopItem]:
        """The values of the session's loop, in order, page after page, without doubles."""
        ...
