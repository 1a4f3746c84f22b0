"""One attempt of a session: its state, its checkpoints, and where it begins."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import FormIncomplete, SiteNotSentTo, SiteRefused
from shoal.agent.models.token_budget import tokens
from shoal.agent.policies.policy import Policy, SessionState
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.policies.workflow.telling import detail_of
from shoal.agent.redaction.masking import secret_texts
from shoal.agent.redaction.redactor import Redactor
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.attended.human_help import helping, redacted
from shoal.agent.sessions.attended.takeover import OrTakeover
from shoal.agent.sessions.dependencies import Journal, SessionDependencies
from shoal.agent.sessions.evidence import Evidence
from shoal.agent.sessions.lazy_context import LazyContext
from shoal.agent.sessions.learning_evidence import LearningEvidence
from shoal.agent.sessions.login import is_done
from shoal.agent.sessions.loops.learning import replay_of, teaches
from shoal.agent.sessions.once import action_name, page_of
from shoal.agent.sessions.session_budget import SessionBudget
from shoal.agent.sessions.sites.site_rule import site_rule
from shoal.agent.spec import X_GLOSSARY, JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.prospect import Prospect
from shoal.agent.support.sites.sites import site_of
from shoal.agent.support.web_addresses import page_address
from shoal.agent.types import Action, ActionResult, Checkpoint, FieldGlossary, LoopItem, Replay, Step, Task, TaskType
from shoal.agent.worker_messages import JobLimits, LearnedUse, Work
from shoal.agent.workflows.by_hand.hand_book import HandBook

_HELP_MARGIN_S = 30.0
"""Beyond the time that people have for an answer: it still has to be typed in."""
_TURNING = frozenset({"new_tab", "tab_focus", "tab_close"})
"""Actions that leave no document by turning to another one."""


def start_url(work: Work) -> str:
    """Return where the session begins: where it was, else its link, else the job's first page."""
    if work.checkpoint and work.checkpoint.url:
        return work.checkpoint.url
    if work.spec.login and work.depth == 0:
        return work.spec.login.url
    if work.item and work.item.is_link:
        return work.item.value
    if work.item and work.item.page:
        return work.item.page
    return work.spec.url


def _reuse(work: Work) -> str | None:
    """The key of contexts that this session may share, one after the other: items of one loop, at their first try."""
    shared = work.item is not None and work.attempt == 1 and work.spec.browser.isolation == "reset"
    return f"job-{work.job}" if shared else None


def _reading(work: Work, policy: Policy) -> bool:
    """Return whether the page is likely to be only read: an item that is a link, by rules that extract from it."""
    spec = work.spec
    linked = work.item is not None and work.item.is_link and work.attempt == 1
    return linked and policy.instant and spec.extract is not None and not spec.data and spec.loop_at(work.depth) is None


def _read_by(glossary: FieldGlossary | None, spec: JobSpec) -> JobSpec:
    """The job as its policy reads it, with further names of the fields."""
    if glossary is None or not glossary.entries or spec.extract is None:
        return spec
    return spec.model_copy(update={"extract": spec.extract.with_glossary(glossary.entries)})


class _RedactedJournal:
    """A `Journal` that is given no value of a secret that the session knows."""

    def __init__(self, journal: Journal, hidden: Redactor) -> None:
        self._journal = journal
        self._hidden = hidden

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        await self._journal.checkpoint(self._hidden.stored_checkpoint(checkpoint), durable=durable)

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        await self._journal.items(at, [self._hidden.item(item) for item in items])


def _hidden(work: Work, deps: SessionDependencies) -> Redactor:
    """Return what the session has to hide from its beginning: another one of its job may have filled it in."""
    hidden = replace(deps.hidden or Redactor(), given={})
    for reference, value in deps.secrets.granted().items():
        hidden.learn(reference, value)
    hidden.hide(secret_texts(work.spec, work.item))
    return hidden


def _restored(work: Work, deps: SessionDependencies, hidden: Redactor) -> Work:
    """The work with the addresses that it goes by, where they were stored without a secret that stands in them."""

    if not hidden.values:  # no reference stands for any
        return work

    def restored(address: str) -> str:
        return hidden.restored(address, deps.secrets.resolve)

    item, checkpoint = work.item, work.checkpoint
    if item is not None:
        value = restored(item.value) if item.is_link else item.value
        item = replace(item, value=value, page=restored(item.page))
    return replace(work, item=item, checkpoint=checkpoint and replace(checkpoint, url=restored(checkpoint.url)))


@dataclass(frozen=True, slots=True)
class _HeldForm:
    """A form that was not sent."""

    page: str  # its document
    error: FormIncomplete
    left: frozenset[str]  # of what was guarded, that was not sent since
    elsewhere: bool = False  # another tab is in front


class Attempt:
    """The state of one attempt: what the session was given, what it has done so far, and what it uses for that."""

    def __init__(self, work: Work, deps: SessionDependencies) -> None:
        hidden = _hidden(work, deps)
        self.work = work = _restored(work, deps, hidden)
        self.deps = deps = replace(deps, journal=_RedactedJournal(deps.journal, hidden))
        checkpoint = work.checkpoint or Checkpoint()
        self.saved = work.checkpoint  # where a next attempt goes on
        self.steps_before = checkpoint.steps  # of the task in whose middle the last attempt ended
        self.glossary = checkpoint.glossary
        self.begun = ""  # an action that must not be repeated, from its mark to its confirmation
        self.confirmed = checkpoint.confirmed
        self.sent = False  # by an action of which the policy itself says so
        planned = work.children is not None and work.attempt == 1  # it comes back from its loop, not from a crash
        self.lost_pages = frozenset(() if planned else map(page_of, checkpoint.confirmed))  # where such were done
        self.sites = site_rule(work)
        self._held_back: _HeldForm | None = None  # that was to be sent last
        self.kept_off: SiteRefused | SiteNotSentTo | None = None  # the last action that was stopped by them
        self.attendance = deps.attendance or Attendance()
        self.hand_book: HandBook | None = None  # of a session in which a person shows what is to be done
        self.by_hand = False  # a person has acted: what was done teaches nothing
        self.under_way: tuple[Task, list[Step]] | None = None  # the task that is worked on, and its steps so far
        self.done_by_hand = ""  # what a person says who has done what comes next
        hooks = replace(
            deps.context.hooks,
            navigation_guard=deps.navigation_guard,
            fetch=deps.artifact_sink.fetch,
            answer_dialog=self.attendance.answer_dialog,
        )
        helper = redacted(OrTakeover(deps.helper, self.attendance), hidden) if deps.helper is not None else None
        options = replace(
            deps.context,
            browser=work.spec.browser,
            storage_state=deps.logins.state(work.job) or checkpoint.storage_state,
            accept_dialogs=deps.context.accept_dialogs and work.spec.browser.dialogs == "accept",
            reuse=_reuse(work),
            reuse_site=str(site_of(start_url(work)) or ""),
            sites=self.sites.sites,
            reading=_reading(work, deps.policy),
            fetched_json=work.spec.extract is not None
            and (work.spec.extract.asks_json or work.learned is LearnedUse.TEACH),
            trace=work.spec.artifacts.traced,
            recording=work.spec.artifacts.recording,
            trace_pictures=work.spec.artifacts.trace and work.spec.artifacts.screenshots != "none",
            human_timeout_s=max(deps.context.human_timeout_s, work.spec.help.timeout_s + _HELP_MARGIN_S),
            hooks=helping(hooks, work.spec, lambda name, url: str(deps.secrets.resolve(name, url)), helper),
        )
        self.ask_person = options.hooks.ask_user
        self.logged_in_by = options.storage_state
        self.logging_in = False
        begins, carried = start_url(work), self.sites.carried
        self.page = LazyContext(deps.browser, options, begins, deps.navigation_guard, deps.page, carried)
        self.page.pages_only = deps.policy.instant
        self.state = SessionState(
            spec=_read_by(checkpoint.glossary, work.spec),
            loop=work.spec.loop_at(work.depth),
            item=work.item,
            page=self.page,
            history=checkpoint.history,
            records=checkpoint.records,
            children=work.children,
            depth=work.depth,
            spent_before=checkpoint.usage,
            proposed=checkpoint.proposed,
            items_only_read=checkpoint.items_only_read,
            job=work.job,
            is_last_attempt=work.attempt >= work.spec.max_attempts,
            hidden=hidden,
        )
        self.state.spent = self.note_usage
        closed_to = "" if work.spec.sample is None else "a try sends nothing, and cannot be taken over"
        self.attendance.begin(self.page, self.state.hidden, closed_to=closed_to, tasks=self.tasks_so_far)
        self.evidence = Evidence(deps.artifact_sink, self.state, self.page)
        taught = partial(teaches, work, deps.policy)
        self.learning_evidence = LearningEvidence(self.state, self.evidence.keep, taught, exact=deps.policy.instant)
        self.budget = deps.budget or SessionBudget(JobLimits.of(work))
        self.budget.spent = lambda: tokens(self.state.usage)
        self.budget.on_change = self._note_limits
        self._note_limits()
        self.uncertain: dict[str, Json] = {}  # of a sample: what the page may state, by field
        self.rejected: list[ErrorInfo] = []  # entries of lists that are no valid records
        self.error_codes: tuple[str, ...] = ()  # the caller's own, named while it went on
        self.steps_known = sum(len(task.steps) for task in checkpoint.history) + len(checkpoint.steps)
        self.steps_taken = self.steps_known

    @contextmanager
    def working_on(self, kind: TaskType, goal: str) -> Iterator[list[Step]]:
        """While a mini goal is worked on: gives the list that takes its steps."""
        steps: list[Step] = []
        outer = self.under_way
        self.under_way = (Task(kind, goal, Status.RUNNING), steps)
        try:
            yield steps
        finally:
            self.under_way = outer

    def tasks_so_far(self) -> tuple[Task, ...]:
        """The finished tasks, and the one that is under way with its finished steps."""
        if self.under_way is None:
            return self.state.history
        task, steps = self.under_way
        return (*self.state.history, replace(task, steps=tuple(steps)))

    async def take_glossary(self) -> None:
        """Has the rules read by further names of the fields; a model is asked for them, or was asked before.

        Where no model is there to ask nothing changes, nor where the job's schema has a glossary of its own.
        """
        extract, glossaries = self.work.spec.extract, self.deps.glossaries
        schema = extract.record_schema if extract is not None else None
        if glossaries is None or self.glossary is not None or schema is None or X_GLOSSARY in schema:
            return
        self.glossary, prompt = await glossaries.of(self.state, schema)
        await self.evidence.keep_prompt(prompt)
        self.state.spec = _read_by(self.glossary, self.state.spec)

    async def snapshot(self) -> Checkpoint:
        """Return where a next attempt would go on from now."""
        return Checkpoint(
            history=self.state.history,
            url=self.page.url,
            storage_state=await self.page.storage_state(),
            records=self.state.records,
            usage=self.state.spent_before + self.state.usage,
            proposed=self.state.proposed,
            items_only_read=self.state.items_only_read,
            glossary=self.glossary,
            confirmed=self.confirmed,
        )

    async def checkpoint(self) -> None:
        """Keeps a snapshot in the store; it may be lost when the worker dies."""
        self.saved = await self.snapshot()
        await self.deps.journal.checkpoint(self.saved, durable=False)

    def note_usage(self) -> Awaitable[None]:
        """Has a next attempt know what this one spent, should it be killed; where it goes on stays the same."""
        self.saved = replace(self.saved or Checkpoint(), usage=self.state.spent_before + self.state.usage)
        return self.deps.journal.checkpoint(self.saved, durable=False)

    def name_of(self, action: Action) -> str:
        """Return how checkpoints name the action, done on the page as it is."""
        return action_name(action, self.state.hidden.text(self.page.url))

    @property
    def is_sample(self) -> bool:
        """Return whether nothing may be sent now, since only a sample of the job is wanted; its login is sent."""
        return self.work.spec.sample is not None and not self.logging_in

    def _note_limits(self) -> None:
        """Note that what the job may spend has changed, or what its other sessions have spent."""
        self.state.job_tokens = self.budget.others
        spec, most = self.state.spec, self.budget.job_tokens
        if spec.budget.job_tokens != most:
            budget = spec.budget.model_copy(update={"job_tokens": most})
            self.state.spec = spec.model_copy(update={"budget": budget})

    @property
    def asks_for_login(self) -> bool:
        """Return whether the site led to the page of the job's login instead of the one that was wanted."""
        return not self.logging_in and self.page.opened and self.work.spec.is_login_page(self.page.url)

    @property
    def has_logged_in(self) -> bool:
        """Return whether this session did so, in this attempt or an earlier one, or has come back from its loop."""
        return self.work.children is not None or is_done(self.state.history)

    def hold_back(self, prospect: Prospect, error: FormIncomplete | None) -> FormIncomplete | None:
        """Notes why a form of this page is not sent now; None: it is, and one that was held back may be among it."""
        if error is not None:
            self._held_back = _HeldForm(page_address(self.page.url), error, frozenset(prospect.guarded))
        elif self._held_back is not None:
            left = self._held_back.left - frozenset(prospect.guarded)
            self._held_back = replace(self._held_back, left=left) if left or not self._held_back.left else None
        return error

    def note_move(self, result: ActionResult) -> None:
        """Notes that an action may have turned to another tab: the form that was held back still stands in its own."""
        held = self._held_back
        if held is None:
            return
        if page_address(self.page.url) == held.page:
            self._held_back = replace(held, elsewhere=False)
        elif result.effect.new_tab or result.action.name in _TURNING:
            self._held_back = replace(held, elsewhere=True)
        elif not held.elsewhere:
            self._held_back = None

    @property
    def unsent(self) -> FormIncomplete | None:
        """Why the form that was to be sent last was not; None where its document was left since."""
        held = self._held_back
        return held.error if held and (held.elsewhere or page_address(self.page.url) == held.page) else None

    @property
    def replay(self) -> Replay | None:
        """Return what became of a workflow that was replayed;
        None too where a person has acted, which is no proof of one.
        """
        policy = self.deps.policy
        replay = None if self.by_hand else replay_of(policy)
        if replay is not None and isinstance(policy, WorkflowPolicy) and self.work.spec.sample is not None:
            return replace(replay, detail=detail_of(policy.report, self.page.tier, self.state.hidden.redacted_text))
        return replay
