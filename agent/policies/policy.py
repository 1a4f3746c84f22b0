"""The policy seam: what decides. Implementations: `rules`, `model`, and what replays a workflow."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.read.grounding.page_history import ShownPage
from shoal.agent.read.grounding.session_pages import SessionPages
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.spec import JobSpec, LoopSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ActionResult, ChildrenSummary, LoopItem, Observation, Record, Step, Task, Usage

LOG_IN = "log in with the given details"
"""The mini goal of a job's login. It is no policy's own plan; each policy can do it."""


@dataclass(slots=True)
class SessionState:
    """All that a policy may look at: the job, what was done so far, and the page.

    One per session, owned by `shoal.agent.sessions.session`. A policy changes `usage`, `proposed`, `wants_answer`,
    `pages` and `decision_from` when it asks a model, `sightings` and `pictured` when it shows pages to one, `hidden`
    when it fills in a password, and `listed`, `limited`, `cut`, `left_out` and `doubt` while it collects a list. It
    changes nothing else.
    """

    spec: JobSpec
    loop: LoopSpec | None  # the loop that this session has to do; None for a leaf
    item: LoopItem | None  # the value this session works for; None for the root
    page: Context
    history: tuple[Task, ...] = ()
    records: tuple[Record, ...] = ()  # extracted so far
    children: ChildrenSummary | None = None  # set once the session's loop is done
    usage: Usage = field(default_factory=Usage)  # policies add what they spend
    began: float = field(default_factory=time.monotonic)
    depth: int = 0  # 0 for the job's root session, 1 for its loop's items, ...
    spent_before: Usage = Usage()  # by earlier attempts of this session
    job_tokens: int = 0  # spent by the job's other attempts, as far as is known; brought up to date while this one runs
    hidden: Redactor = field(default_factory=Redactor)  # values of secrets that were filled in: never shown again
    sightings: list[ShownPage] = field(default_factory=list)  # pages of the running mini goal, where the job wants some
    pictured: dict[tuple[str, str, str], int] = field(default_factory=dict)  # elements: steps before their last picture
    listed: int | None = None  # how many items a list said that it has, while its items were collected
    limited: bool = False  # collecting ended at a limit that the caller set
    cut: str = ""  # why collecting ended before the list did, in words; "" when it did not
    left_out: int = 0  # links that would have been items of the loop, but do not lead to http or https
    doubt: str = ""  # why the items that were collected may not be those that were meant, or why none were; in words
    decision_from: int = 0  # tokens of this attempt when the running decision began
    proposed: Json = None  # the schema that a model proposed where the job has none
    spent: Callable[[], Awaitable[None]] | None = None  # is told once `usage` has grown: a killed attempt's counts, too
    act: Callable[[Action], Awaitable[ActionResult]] | None = None  # acts as the session does; None: as the page does
    items_only_read: bool = False  # of a loop's items: nothing is wanted but that their own page is read
    wants_answer: bool = False  # a plan said that the goal asks for something to be told in words
    reading: str = ""  # the plan's sentence, while its data are read
    pages: SessionPages = field(default_factory=SessionPages)  # all that were looked at in this attempt
    is_last_attempt: bool = False  # no other follows, however this one ends: what it has is better than nothing
    job: int | None = None  # the job's id; None: unknown, and then nothing seen here is used for other sessions

    def cut_after(self, page: int) -> None:
        """Notes that a list goes on after so many pages, and is not followed further."""
        self.cut = f"the list goes on after page {page:,}, where max_pages ended it"
        source = self.loop.source if self.loop else None
        self.limited = source is not None and "max_pages" in source.model_fields_set

    async def turn_page(self, action: Action) -> ActionResult:
        """Takes an action that brings further items of a list, while a policy collects them."""
        return await (self.act or self.page.act)(action)

    async def observe(self, options: ObserveOptions = ObserveOptions()) -> Observation:
        """The page now, with the goal filled in."""
        seen = self.hidden.observation(await self.page.observe(options))
        return replace(seen, goal=self.spec.goal or "", elapsed_s=round(time.monotonic() - self.began, 3))

    @property
    def only_reads(self) -> bool:
        """Return whether an item of a loop has its own page open,
        of which nothing is wanted but that it is read.

        Where the page turns out not to have what is wanted, a plan is made after all.
        """
        linked = self.item is not None and self.item.is_link and self.loop is None
        extract = self.spec.extract
        shaped = extract is not None and (extract.json_schema is not None or self.proposed is not None)
        return linked and shaped and self.items_only_read and not self.history and self.spec.data is None

    @property
    def asks(self) -> bool:
        """Return whether the goal asks for something to be told in words,
        and nothing that is read from pages tells it.
        """
        asked = self.wants_answer or "?" in (self.spec.goal or "")
        return asked and self.spec.extract is None and self.item is None

    @property
    def has_acted(self) -> bool:
        """Return whether the page that is open may be one that actions led to: its address may lead elsewhere."""
        return any(step.results for task in self.history for step in task.steps)

    @property
    def answered(self) -> bool:
        """Return whether a finished task has an answer."""
        return any(isinstance(task.result, str) and task.result for task in self.history)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The records read from one page, checked against the schema by the session, unless they are `valid`."""

    records: tuple[Record, ...]
    complete: bool = True  # False: the page shows more than was read
    empty: bool = False  # the page says that its list has nothing in it
    why: str = ""  # why there are no records, or not all of them, in words
    missing: tuple[str, ...] = ()  # fields of the schema that the page does not show
    shown: int | None = None  # how many records the page says that there are, where it says so
    schema: Json = None  # what the records were held to, where the job itself has no schema
    awaited: str = ""  # what was waited for in vain, in words: what is missing may come another time
    unproven: tuple[str, ...] = ()  # fields whose value was dropped, because the page does not say it
    prompt: str | None = None  # prompt and reply as text, kept as an artifact when a model was asked
    valid: bool = False  # the policy has held its one record to the job's schema

    @property
    def is_cut(self) -> bool:
        """Return whether the page holds more than was read of it, whatever other pages hold."""
        return not self.complete and (self.shown is None or self.shown <= len(self.records))


class Policy(Protocol):
    """Decides; never acts on the page itself except by reading (and scrolling or paging while it collects)."""

    @property
    def instant(self) -> bool:
        """True when `plan` asks no model and takes no time: then no checkpoint is written before it."""
        ...

    async def plan(self, state: SessionState) -> Plan:
        """The next mini goal.

        Raises:
            GoalNeedsModel: the goal is beyond this policy.
            ModelError: the model server could not be asked.
        """
        ...

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions to take now for the mini goal `goal`, after `steps` of it."""
        ...

    async def extract(self, state: SessionState) -> Extraction:
        """Return what the page shows of the job's `extract`.

        Raises:
            FieldsMissing: the page does not show what the schema requires.
        """
        ...

    def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The values of the session's loop, in order, page after page, without doubles."""
        ...
