"""The steps of every decision of the model policy: look, render, ask within the budgets."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shoal.agent.browser import ObserveOptions
from shoal.agent.models.model import Ask, Model, Reply
from shoal.agent.models.reply import ModelAnswer, ask_for
from shoal.agent.models.settings import ImageGrid, ModelSettings, Points
from shoal.agent.models.token_budget import Spent, check_budget, tokens
from shoal.agent.policies.model.requests.elements import in_view, unmistakable, with_addresses, without_ids
from shoal.agent.policies.model.requests.job_words import Jobs
from shoal.agent.policies.model.requests.messages import fitting, page_variables, session_variables
from shoal.agent.policies.model.requests.shared_frames import Framed, Frames
from shoal.agent.policies.policy import SessionState
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.support.json_value import Json
from shoal.agent.types import Element, Observation, Usage

T = TypeVar("T")

_WORD = re.compile(r"\w{4,}")
_MAX_WORDS = 40
_ONE_SERVERS_ITEMS = 32
"""The first so many items of a loop are one server's: fewer than it works at beside each other."""


@dataclass(frozen=True, slots=True)
class ModelPolicyOptions:
    """Limits on the pages that a model is shown, and on its replies."""

    images: bool = True  # False for models that read text only
    grid: ImageGrid | None = (
        None  # how the model counts images, where it points at them; None: they are sent as they are
    )
    points: Points = "pixels"  # what it counts in then
    page_chars: int = 24_000  # of a page's text in one prompt; halved until the prompt fits
    least_page_chars: int = 1_500
    page_elements: int | None = 600  # in one prompt
    frames: bool = True  # lines that a loop's pages repeat are told once, in front of each page
    parts: int = 20  # of a long page that an extraction reads at most
    step_tokens: int = 2_048  # of one reply
    plan_tokens: int = 1_536
    extract_tokens: int = 8_192
    collect_tokens: int = 4_096
    check_tokens: int = 512
    propose_tokens: int = 1_536
    glossary_tokens: int = 8_192

    @classmethod
    def of(cls, settings: ModelSettings) -> ModelPolicyOptions:
        """The options for the model that `settings` describe."""
        return cls(images=settings.images, grid=settings.grid, points=settings.points)


class Asker:
    """Asks one model about pages."""

    def __init__(
        self,
        model: Model,
        render: Callable[[Element], str],
        jobs: Jobs,
        options: ModelPolicyOptions,
        clock: Callable[[], datetime],
    ) -> None:
        self.options = options
        self.jobs = jobs
        self._model = model
        self._render = render
        self._clock = clock
        self._frames = Frames()

    async def look(self, state: SessionState, chars: int) -> Observation:
        """The page as a plan or a step needs it: what is near the viewport and what the goal names, with a picture."""
        marked = state.spec.grounding == "mark" or state.spec.sight.marks
        seen = await state.observe(
            ObserveOptions(
                screenshot=self.options.images,
                marks=self.options.images and marked,
                max_elements=self.options.page_elements,
                max_chars=chars,
                words=tuple(dict.fromkeys(_WORD.findall((state.spec.goal or "").casefold())))[:_MAX_WORDS],
            )
        )
        state.pages.add(seen)
        return seen

    def text(self, state: SessionState, seen: Observation, chars: int) -> str:
        """The page as text, with ids that only its elements have; with its addresses where they are to be read."""
        if self.jobs.reads_addresses(state):
            addressed = self._render(unmistakable(with_addresses(seen.elements, seen.url)))
            if len(addressed) <= chars:
                return addressed
        return self._render(unmistakable(seen.elements))

    def text_to_read(self, state: SessionState, seen: Observation, *, addresses: bool) -> str:
        """The page as text for a reading; as plan and step see it, too, unless the session does nothing but read."""
        elements = with_addresses(seen.elements, seen.url) if addresses else seen.elements
        if state.spec.goal is not None and not state.only_reads:
            return self._render(unmistakable(elements))
        return without_ids(self._render(unmistakable(in_view(elements))))

    def prompt_variables(
        self, state: SessionState, seen: Observation, text: str, chars: int, part: int = 0
    ) -> dict[str, Json]:
        """All variables that the prompts of a browser session share: job, session, page, and the time there.

        Args:
            text: of the page, or of its part number `part`.
            chars: how much of a page is shown at most.
        """
        now = self._clock().astimezone(_zone(state.spec.browser.timezone))
        framed = self._framed(state, text, chars)
        return {
            **self.jobs.variables(state.spec),
            **session_variables(state, chars),
            **page_variables(seen, framed, now, part=part),
        }

    def _framed(self, state: SessionState, text: str, chars: int) -> Framed:
        # Where the whole prompt was too long for the model, what it can do without goes first.
        if not self.options.frames or state.job is None or state.item is None or chars < self.options.page_chars:
            return Framed((text,))
        framed = self._frames.framed((state.job, state.depth), state.item.value, text)
        # Another session may have seen on a page, as plain text, what is a secret to this one.
        if any(state.hidden.text(line) != line for line in framed.frame):
            return Framed((text,))
        return framed

    async def fitting(self, state: SessionState, ask: Callable[[int], Awaitable[T]]) -> T:
        """One decision: `ask` with as much of the page as fits the model; what it spends counts as one step's.

        Raises:
            BudgetSpent: before the request that no budget is left for.
        """
        state.decision_from = tokens(state.usage)
        return await fitting(ask, self.options.page_chars, self.options.least_page_chars)

    async def ask(
        self, state: SessionState, ask: Ask, read: Callable[[Json], T], *, doubt_cut: bool = True
    ) -> ModelAnswer[T]:
        """The model's answer, read by `read`; asked for once more where it cannot be used. See `ask_for`."""

        def spend(usage: Usage) -> None:
            state.usage = state.usage + usage

        metered = _Metered(self._model, state)
        before = state.usage
        try:
            return await ask_for(metered, replace(ask, affinity=_affinity(state)), read, spend, doubt_cut=doubt_cut)
        finally:
            if state.spent is not None and state.usage != before:
                await state.spent()


class _Metered:
    """A model that is asked only while the session's budgets allow it."""

    def __init__(self, model: Model, state: SessionState) -> None:
        self._model = model
        self._state = state

    async def ask(self, ask: Ask) -> Reply:
        state = self._state
        own = tokens(state.usage)
        session = tokens(state.spent_before) + own
        check_budget(state.spec.budget, Spent(own - state.decision_from, session, state.job_tokens + own))
        return await self._model.ask(_without_secrets(ask, state.hidden))

    async def close(self) -> None:
        """Nothing: the model belongs to somebody else."""


def _without_secrets(ask: Ask, hidden: Redactor) -> Ask:
    """The request without a secret that a page shows in a place which is not looked through when it is observed."""
    redacted = tuple(replace(message, text=hidden.prompt(message.text)) for message in ask.messages)
    return ask if redacted == ask.messages else replace(ask, messages=redacted)


def _affinity(state: SessionState) -> str:
    """Which requests keep to one model server: those of a job, since they share the longest prefix.

    A worker cannot see that a server is full of other workers' requests. So of a long loop each session has a key of
    its own: its decisions on one page stay together, and the loop is shared out over all servers there are, each of
    which computes what its items have in common once.
    """
    spec, item = state.spec, state.item
    key = f"{spec.url} {spec.goal} {spec.idempotency_key}"
    return key if item is None or item.index < _ONE_SERVERS_ITEMS else f"{key} {item.index}"


def _zone(name: str | None) -> Any:
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
