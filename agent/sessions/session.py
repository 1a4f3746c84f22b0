"""One session: plan, then navigate, extract or loop, until an outcome. The file to read first.

`run` never raises for what a site, a model or a browser may do: every end is an `Outcome`. What it keeps in memory
between two checkpoints is what a crash may lose.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from shoal.agent.actions.sending import sends
from shoal.agent.decisions.expectation import holds, took_place
from shoal.agent.decisions.extract import Checked, check_records, not_among
from shoal.agent.decisions.plan import Plan
from shoal.agent.decisions.step import StepDecision, typed_by
from shoal.agent.errors import (
    ActionInvalid,
    ActionRefused,
    AgentError,
    AnswerMissing,
    BrowserError,
    Canceled,
    DeadlinePassed,
    ElementMissing,
    EmptyLoop,
    FieldsMissing,
    FormRefused,
    HelpMissing,
    LoginFailed,
    LoginLost,
    LoopFailed,
    RecordInvalid,
    SampleSendsNothing,
    StepLimit,
    UnsureAction,
)
from shoal.agent.extraction.extraction import extract_records
from shoal.agent.extraction.proposals import propose_places, uncertain_values
from shoal.agent.policies.policy import LOG_IN, Extraction, Policy, SessionState
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.policies.workflow.telling import detail_of
from shoal.agent.sessions.attended.attendance import Attendance, HandedBack
from shoal.agent.sessions.attended.human_help import helping
from shoal.agent.sessions.attended.shown import BY_PERSON, until_shown
from shoal.agent.sessions.attended.takeover import OrTakeover, as_kept, may_send, of_the_end, said_of
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.sessions.evidence import Evidence
from shoal.agent.sessions.login import is_done, is_login_page, login_spec
from shoal.agent.sessions.login_steps import take_steps
from shoal.agent.sessions.loops.learning import learns, replay_of, replayed_by, teaches
from shoal.agent.sessions.loops.loop_items import came_back, gather, left_out, loop_result, loop_values, nothing_found
from shoal.agent.sessions.loops.sample import sampled, sends_form
from shoal.agent.sessions.loops.shortfall import incomplete
from shoal.agent.sessions.once import action_name, begun_anew, in_doubt, page_of
from shoal.agent.sessions.page import LazyContext
from shoal.agent.sessions.session_budget import SessionBudget
from shoal.agent.sessions.standstill import refuse_repetition
from shoal.agent.sessions.token_budget import tokens
from shoal.agent.spec import ExtractSpec, LoginStep
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.masking import masker_of
from shoal.agent.support.moments import utc_now
from shoal.agent.support.redaction import Redactor, revealed
from shoal.agent.types import (
    Action,
    ActionResult,
    Checkpoint,
    Effect,
    ErrorInfo,
    FanOut,
    Outcome,
    Record,
    Replay,
    Step,
    Task,
)
from shoal.agent.worker_messages import JobLimits, Work
from shoal.agent.workflows.by_hand.drafting import KIND as DRAFT
from shoal.agent.workflows.by_hand.drafting import drafted, no_draft
from shoal.agent.workflows.by_hand.hand_book import HandBook
from shoal.agent.workflows.learning.lessons import Lessons

MAX_TASKS = 40
"""Mini goals of one session; a policy that plans more goes in circles."""

BY_HAND = "what a person did on the page"
"""The mini goal of a takeover between two of the session's own."""

_HELP_MARGIN_S = 30.0
"""Beyond the time that people have for an answer: it still has to be typed in."""

_READINGS_IN_VAIN = 3
"""Pages of one session that lack what is to be read, until it fails by that."""
_ENTRIES_TOLD = 20  # of a list's entries that are no valid records
_EVIDENCE_S = 5.0
"""How long a failed session may take to photograph its page."""


async def run(work: Work, deps: SessionDependencies) -> Outcome:
    """How one attempt of the session `work` ended.

    Raises:
        asyncio.CancelledError: the worker was told to stop it; the lease's end settles the rest.
    """
    session = _Session(work, deps)
    started = time.monotonic()
    try:
        outcome = await _lived(session, deps.limits.session_s, started)
        lacking = await session.evidence.keep_traces(), await session.evidence.keep_recording()
        outcome = replace(outcome, reason="; ".join(filter(None, (outcome.reason, *lacking))))
    finally:
        session.attendance.end()
        await session.page.close()
    return replace(
        session.state.hidden.outcome(outcome),
        at=utc_now(),
        seconds=round(time.monotonic() - started, 4),
        usage=replace(session.state.usage, pages=session.page.pages),
        usage_before=session.state.spent_before,
        steps_before=session.steps_known,
        artifacts=tuple(session.evidence.kept),
    )


async def _lived(session: _Session, session_s: float, started: float) -> Outcome:
    """What the session came to, whatever ended it; its page is still open."""
    deadline_s = session.work.spec.deadline_s
    try:
        async with session.budget.running(session_s):
            outcome = await session.live()
            await session.evidence.keep_downloads()  # those of the last page
            if outcome.status is Status.COMPLETED and not session.by_hand:
                await session.lessons.keep()
    except TimeoutError:
        allowed = "" if deadline_s is None else f"; the job was given {deadline_s:g} s in all"
        ran_s = time.monotonic() - started
        return await session.failed(DeadlinePassed(f"the session ran for {ran_s:.0f} s{allowed}"))
    except AgentError as error:
        return await session.failed(error)
    return outcome


def _start_url(work: Work) -> str:
    """Where the session begins: where it was, else its link, else the job's first page."""
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
    """Whether the page is likely to be only read: an item that is a link, by rules that extract from it."""
    spec = work.spec
    linked = work.item is not None and work.item.is_link and work.attempt == 1
    return linked and policy.instant and spec.extract is not None and not spec.data and spec.loop_at(work.depth) is None


class _Session:
    def __init__(self, work: Work, deps: SessionDependencies) -> None:
        self.work = work
        self.deps = deps
        checkpoint = work.checkpoint or Checkpoint()
        self.saved = work.checkpoint  # where a next attempt goes on
        self.steps_before = checkpoint.steps  # of the task in whose middle the last attempt ended
        self.begun = ""  # an action that must not be repeated, from its mark to its confirmation
        self.confirmed = checkpoint.confirmed
        self.sent = False  # by an action of which the policy itself says so
        planned = work.children is not None and work.attempt == 1  # it comes back from its loop, not from a crash
        self.lost_pages = frozenset(() if planned else map(page_of, checkpoint.confirmed))  # where such were done
        self.attendance = deps.attendance or Attendance()
        self.hand_book: HandBook | None = None  # of a session in which a person shows what is to be done
        self.by_hand = False  # a person has acted: what was done teaches nothing
        self.done_by_hand = ""  # what a person says who has done what comes next
        hooks = replace(
            deps.context.hooks,
            navigation_guard=deps.navigation_guard,
            fetch=deps.artifact_sink.fetch,
            answer_dialog=self.attendance.answer_dialog,
        )
        helper = OrTakeover(deps.helper, self.attendance) if deps.helper is not None else None
        options = replace(
            deps.context,
            browser=work.spec.browser,
            storage_state=deps.logins.state(work.job) or checkpoint.storage_state,
            accept_dialogs=deps.context.accept_dialogs and work.spec.browser.dialogs == "accept",
            reuse=_reuse(work),
            reading=_reading(work, deps.policy),
            fetched_json=work.spec.extract is not None and work.spec.extract.asks_json,
            trace=work.spec.artifacts.traced,
            recording=work.spec.artifacts.recording,
            trace_pictures=work.spec.artifacts.trace and work.spec.artifacts.screenshots != "none",
            human_timeout_s=max(deps.context.human_timeout_s, work.spec.help.timeout_s + _HELP_MARGIN_S),
            hooks=helping(hooks, work.spec, lambda name, url: str(deps.secrets.resolve(name, url)), helper),
        )
        self.ask_person = options.hooks.ask_user
        self.logged_in_by = options.storage_state
        self.logging_in = False
        self.page = LazyContext(deps.browser, options, _start_url(work), deps.navigation_guard, deps.page)
        self.page.pages_only = deps.policy.instant
        self.state = SessionState(
            spec=work.spec,
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
            hidden=replace(deps.hidden or Redactor(), given=masker_of(work.spec, work.item)),
            act=self._turn_page,
        )
        closed_to = "" if work.spec.sample is None else "a try sends nothing, and cannot be taken over"
        self.attendance.begin(self.page, self.state.hidden, closed_to=closed_to)
        self.evidence = Evidence(deps.artifact_sink, self.state, self.page)
        taught = partial(teaches, work, deps.policy)
        self.lessons = Lessons(self.state, self.evidence.keep, taught, exact=deps.policy.instant)
        self.budget = deps.budget or SessionBudget(JobLimits.of(work))
        self.budget.spent = lambda: tokens(self.state.usage)
        self.budget.told = self._note_limits
        self._note_limits()
        self.uncertain: dict[str, Json] = {}  # of a sample: what the page may state, by field
        self.rejected: list[ErrorInfo] = []  # entries of lists that are no valid records
        self.error_codes: tuple[str, ...] = ()  # the caller's own, named while it went on
        self.steps_known = sum(len(task.steps) for task in checkpoint.history) + len(checkpoint.steps)
        self.steps_taken = self.steps_known

    def _note_limits(self) -> None:
        """What the job may spend has changed, or what its other sessions have spent."""
        self.state.job_tokens = self.budget.others
        spec, most = self.state.spec, self.budget.job_tokens
        if spec.budget.job_tokens != most:
            budget = spec.budget.model_copy(update={"job_tokens": most})
            self.state.spec = spec.model_copy(update={"budget": budget})

    # --- the trip ------------------------------------------------------------------------------------

    async def live(self) -> Outcome:
        """Plans and works off one mini goal after another, until the goal is reached, given up or fanned out."""
        if self.work.checkpoint and self.work.checkpoint.pending_action:
            return self._unsure(self.work.checkpoint.pending_action)
        if self.work.children is not None:
            came_back(self.state, self.work.children)
        if self.work.spec.login is not None and self.work.depth == 0 and not self._has_logged_in:
            await self._log_in()
            await self._checkpoint()
        if self.work.spec.policy == BY_PERSON:
            return await self._shown()
        for _ in range(MAX_TASKS):
            if self.attendance.wanted:
                await self._give_way()
            plan = await self.deps.policy.plan(self.state)
            await self.evidence.keep_prompt(plan.prompt)
            if plan.should_terminate and self.work.spec.allow_terminate:
                if not self.deps.policy.instant:
                    await self.evidence.keep_last_page()
                return self._terminated(plan.termination_reason or plan.thoughts, plan.error_codes)
            if plan.user_goal_achieved or plan.task_type is None:
                if not self.deps.policy.instant:
                    await self.evidence.keep_last_page()
                return self._completed(plan)
            if self.deps.policy.instant and self.state.history:
                # Not before it was clear that work is left: a snapshot of the storage is what a leaf can do without.
                await self._checkpoint()
            task, end = await self._do(plan)
            if end is not None:
                return end
            self.state.history = (*self.state.history, task)
            if not self.deps.policy.instant:
                await self._checkpoint()
        raise StepLimit(f"{MAX_TASKS} mini goals did not reach the goal")

    async def _do(self, plan: Plan) -> tuple[Task, Outcome | None]:
        """One mini goal: the finished task, and the session's end when this was it."""
        started = time.monotonic()
        doing: dict[str, Callable[[Plan], Awaitable[tuple[Task, Outcome | None]]]] = {
            "navigate": self._navigate,
            "extract": self._extract,
            "loop": self._loop,
            "answer": self._answer,
        }
        try:
            task, end = await doing[plan.task_type or "navigate"](plan)
        except AgentError as error:
            if self._asks_for_login:
                await self._renew_login(error)
            if not self._can_plan_on(error):
                if self.uncertain:  # what the page may state is told though it gave no record
                    told = Task(
                        "extract", plan.plan or "", Status.FAILED, {"candidates": self.uncertain}, error.message
                    )
                    self.state.history = (*self.state.history, told)
                raise
            task, end = Task("extract", plan.plan or "", Status.FAILED, reason=error.message), None
        if plan.task_type != "navigate" and self._asks_for_login:
            await self._renew_login(None)
        return replace(task, seconds=round(time.monotonic() - started, 4)), end

    def _can_plan_on(self, error: AgentError) -> bool:
        """Whether data that a page lacks may be found elsewhere: a plan follows, unless the last one led here too."""
        if not isinstance(error, FieldsMissing) or error.retryable or self.work.spec.goal is None:
            return False
        lacking = [task for task in self.state.history if task.type == "extract" and task.status is Status.FAILED]
        again = bool(lacking) and self.state.history[-1] is lacking[-1]
        return not self.deps.policy.instant and not again and len(lacking) < _READINGS_IN_VAIN

    # --- login ---------------------------------------------------------------------------------------

    @property
    def _has_logged_in(self) -> bool:
        """Whether this session did so, in this attempt or an earlier one, or has come back from its loop."""
        return self.work.children is not None or is_done(self.state.history)

    @property
    def _asks_for_login(self) -> bool:
        """Whether the site led to the page of the job's login instead of the one that was wanted."""
        return not self.logging_in and self.page.opened and is_login_page(self.work.spec, self.page.url)

    async def _log_in(self) -> None:
        """Fills in and sends the form of the job's login, and opens the page where the job begins.

        Raises:
            LoginFailed: the job's first page still asks for a login.
            FormIncomplete: the page has no such form, or the site did not take it.
        """
        login, spec, sent = self.work.spec.login, self.state.spec, self.sent
        assert login is not None
        self.logging_in, self.state.spec = True, login_spec(spec)
        try:
            if self.page.url != login.url:
                await self.page.goto(login.url)
            if login.steps is not None:
                task = await self._log_in_by_steps(login.steps)
            else:
                task, _ = await self._navigate(Plan(plan=LOG_IN, task_type="navigate"))
        finally:
            self.logging_in, self.state.spec, self.sent = False, spec, sent
        self.state.history = (*self.state.history, task)
        await self.page.goto(self.work.spec.url)
        if self._asks_for_login:
            raise LoginFailed(
                f"the login was sent, and {self.work.spec.url} still leads to {login.url}: check its data"
            )

    async def _log_in_by_steps(self, steps: Sequence[LoginStep]) -> Task:
        """Does what the job says, one step after the other; the task tells each action and its effect."""
        url, started, at = self.page.url, time.monotonic(), utc_now()

        async def act(action: Action) -> ActionResult:
            return await self._perform(action, once=False)

        results = await take_steps(self.page, steps, act)
        seconds = round(time.monotonic() - started, 4)
        step = Step(0, url, "the job gives the steps of its login", tuple(results), seconds=seconds, at=at)
        return Task("navigate", LOG_IN, Status.COMPLETED, steps=(step,), seconds=seconds)

    async def _renew_login(self, error: AgentError | None) -> None:
        """Logs in anew, once for all sessions of this worker that were sent back to the login's page.

        Raises:
            LoginLost: always. What was done on the login's page is no work; another attempt begins logged in.
        """
        if isinstance(error, (Canceled, LoginFailed)) or self.work.depth == 0:
            return

        async def log_in() -> Json:
            await self._log_in()
            return await self.page.storage_state()

        start = _start_url(self.work)
        await self.deps.logins.renew(self.work.job, self.logged_in_by, log_in)
        raise LoginLost(f"{start} led to the login's page; the login was renewed") from error

    # --- loop ----------------------------------------------------------------------------------------

    async def _loop(self, plan: Plan) -> tuple[Task, Outcome | None]:
        """Collects the loop's values and ends this run with a fan-out; the session goes on when the last is final."""
        state = self.state
        values, sample = loop_values(state, self.page, self.deps.policy, plan), None
        if self.work.spec.sample is None:
            items, later = await gather(values, self.deps.journal)
        else:
            sample = await sampled(values, self.work.spec.sample)
            items, later = sample.items, 0
        if not items:
            why = "; ".join(filter(None, (state.doubt, left_out(state.left_out))))
            raise EmptyLoop(nothing_found(state.loop, self.page.url, why))
        state.items_only_read = plan.items_only_read
        result = loop_result(state, len(items) + later, sample)
        task = Task("loop", plan.plan or "", Status.WAITING, result=result, ends_goal=plan.ends_goal)
        state.history = (*state.history, task)
        on_error = state.loop.on_error if state.loop else "continue"
        learning = learns(self.work, self.deps.policy, items, len(items) + later)
        fan_out = FanOut(items, await self._snapshot(), on_error, later, learning)
        return task, self._end(Status.WAITING, fan_out=fan_out)

    # --- extract -------------------------------------------------------------------------------------

    async def _extract(self, plan: Plan) -> tuple[Task, Outcome | None]:
        """Reads records from the page, which stands still, and holds them to the job's schema."""
        self.state.reading = plan.plan or ""
        extracted = await extract_records(self.deps.policy, self.state)
        await self.evidence.keep_prompt(extracted.prompt)
        self.uncertain = await self._uncertain(extracted.records)
        checked = await self._check(extracted)
        await self.lessons.read(checked.records, self.work.spec.extract)
        tier, (workflow, audit) = self.page.tier, replayed_by(self.deps.policy)
        await self.evidence.keep_source()
        stamp = utc_now()
        url = self.page.url
        found_here = (
            replace(
                self.state.hidden.record(r),
                url=r.url or url,
                at=r.at or stamp,
                tier=tier,
                workflow=workflow,
                audit=audit,
            )
            for r in checked.records
        )
        # A page that is read twice, because its first reading was not complete, gives each record once.
        records = not_among(self.state.records, found_here)
        self.state.records = (*self.state.records, *records)
        result: dict[str, Json] = {
            "records": len(records),
            "missing": list(extracted.missing),
            "complete": extracted.complete,
        }
        if checked.left_out:
            result["left_out"] = len(checked.left_out)
            told = [self.state.hidden.text(entry) for entry in checked.left_out]
            result["left_out_entries"] = told[:_ENTRIES_TOLD]
            self.rejected += [RecordInvalid(f"{url}: {entry}").info() for entry in told]
        if extracted.shown is not None:
            result["shown"] = extracted.shown
        if extracted.empty:
            result["empty"] = True
        if extracted.why:
            result["why"] = extracted.why
        if extracted.awaited:
            result["awaited"] = extracted.awaited
        if extracted.unproven:
            result["not_on_the_page"] = list(extracted.unproven)
        if (places := await self._propose(checked.records)) is not None:
            result["places"] = places
        if self.uncertain:
            result["candidates"], self.uncertain = self.uncertain, {}
        ends = plan.ends_goal and extracted.complete and not checked.left_out and not extracted.unproven
        return Task("extract", plan.plan or "", Status.COMPLETED, result=result, ends_goal=ends), None

    # --- answer --------------------------------------------------------------------------------------

    async def _answer(self, plan: Plan) -> tuple[Task, Outcome | None]:
        """The answer that the plan gives; what it rests on was looked up already."""
        result = self.state.hidden.text(plan.answer)
        ends = plan.ends_goal
        return Task("answer", plan.plan or "", Status.COMPLETED, result, ends_goal=ends, rests_on=plan.rests_on), None

    async def _check(self, extraction: Extraction) -> Checked:
        extract = (
            ExtractSpec(json_schema=extraction.schema) if extraction.schema is not None else self.work.spec.extract
        )
        if extract is None:
            return Checked(extraction.records)
        url = self.page.url
        return await check_records(
            extraction.records, extract, url=url, missing=extraction.missing, awaited=extraction.awaited
        )

    @property
    def _is_sample(self) -> bool:
        """Whether nothing may be sent now, since only a sample of the job is wanted; its login is sent."""
        return self.work.spec.sample is not None and not self.logging_in

    async def _uncertain(self, records: tuple[Record, ...]) -> dict[str, Json]:
        """In a sample, what the page may state for fields that were not given, with places that give it."""
        extract = self.work.spec.extract
        if not self._is_sample or extract is None or extract.json_schema is None:
            return {}
        told = await uncertain_values(self.page, extract, records, self.work.spec.browser.locale or "")
        return {name: self.state.hidden.json(several) for name, several in told.items()}

    async def _propose(self, records: tuple[Record, ...]) -> Json:
        """Places for `extract.fields` that were found to give what these records hold; None where none is asked for."""
        extract = self.work.spec.extract
        by_workflow = bool(replayed_by(self.deps.policy)[0])  # it has its places
        if not self._is_sample or by_workflow or extract is None or extract.json_schema is None:
            return None
        proposed = await propose_places(self.page, extract, records, self.work.spec.browser.locale or "")
        return proposed.told()

    # --- navigate ------------------------------------------------------------------------------------

    async def _navigate(self, plan: Plan) -> tuple[Task, Outcome | None]:
        """Steps until the policy says that the mini goal is reached, or cannot be."""
        if self.done_by_hand:
            reason, self.done_by_hand = self.done_by_hand, ""
            return Task("navigate", plan.plan or "", Status.COMPLETED, reason=reason, ends_goal=plan.ends_goal), None
        steps = list(self.steps_before)
        self.steps_before = ()
        self.state.sightings.clear()
        started = time.monotonic()
        try:
            return await self._steps(plan, steps)
        except (AgentError, asyncio.CancelledError) as error:
            # What it did is told all the same: somebody has to find out why it failed.
            reason = error.message if isinstance(error, AgentError) else "stopped, or its time was over"
            seconds = round(time.monotonic() - started, 4)
            task = Task("navigate", plan.plan or "", Status.FAILED, None, reason, tuple(steps), seconds)
            self.state.history = (*self.state.history, task)
            raise

    async def _steps(self, plan: Plan, steps: list[Step]) -> tuple[Task, Outcome | None]:
        """Step after step, each put behind `steps`, until one ends the task."""
        goal, decided = plan.plan or "", plan.first if not steps else None
        while self.steps_taken < self.work.spec.max_steps:
            if self.attendance.wanted:
                decided, end = None, await self._led_by_person(steps)
                if end.done:
                    done = Task("navigate", goal, Status.COMPLETED, steps=tuple(steps), ends_goal=plan.ends_goal)
                    return replace(done, reason=said_of(end)), None
            self.steps_taken += 1
            started = time.monotonic()
            decided = decided or await self.deps.policy.step(self.state, goal, steps)
            step, final = await self._step(decided, steps, started)
            task = Task("navigate", goal, Status.COMPLETED, steps=(*steps, step), ends_goal=plan.ends_goal)
            if final is None:
                came = await self._came_true(decided, step)
                steps.append(step if came else replace(step, expected=str(decided.then_done or "")))
                if came:
                    return replace(task, reason=f"as was to be seen: {decided.then_done}"), None
                refuse_repetition(steps)
                decided = None
                continue
            steps.append(step)
            if final.name == "complete":
                self.error_codes = (*self.error_codes, *final.args.get("errors", ()))
                return task, None
            if final.name == "answer":
                return replace(task, result=final.args["text"], rests_on=decided.rests_on), None
            reason = str(final.args.get("reason", ""))
            task = replace(task, status=Status.TERMINATED, reason=reason)
            if not self.work.spec.allow_terminate:
                return task, None  # this mini goal is given up, not the job: the next plan knows of it
            self.state.history = (*self.state.history, task)
            return task, self._terminated(reason, tuple(final.args.get("errors", ())))
        raise StepLimit(f"{self.work.spec.max_steps} steps did not reach: {goal}")

    # --- a person has the page -----------------------------------------------------------------------

    async def _shown(self) -> Outcome:
        """A person does by hand what is wanted; a workflow is drafted of it."""
        await self.page.open()
        self.hand_book = HandBook(self.state.hidden.told)
        with self.budget.uncounted():
            end = await until_shown(self.ask_person, self.attendance, self._give_way)
        if end is None:
            return self._terminated("a person answered in words, and showed nothing", ())
        draft, open_ = drafted(await self.hand_book.book(self.page), self.work.spec.url, f"by-hand-j{self.work.job}")
        if draft is not None:
            await self.evidence.keep(DRAFT, draft, "application/json")
        return self._end(Status.COMPLETED, reason="; ".join((said_of(end), *map(no_draft, open_))))

    async def _give_way(self) -> HandedBack:
        """Between two mini goals: what a person does is one of its own, so that the next plan knows of it."""
        steps: list[Step] = []
        end = await self._led_by_person(steps)
        self.done_by_hand = said_of(end) if end.done else ""
        task = Task("navigate", BY_HAND, Status.COMPLETED, reason=said_of(end), steps=tuple(steps))
        self.state.history = (*self.state.history, task)
        await self._checkpoint()
        return end

    async def _led_by_person(self, steps: list[Step]) -> HandedBack:
        """Lets the person who waits act on the page, and puts what they do behind `steps`."""
        await self.page.open()

        async def act(action: Action, name: str) -> ActionResult:
            return await self._act_by_hand(action, name, steps)

        with self.budget.uncounted():
            end = await self.attendance.lead(act)
        steps.append(of_the_end(end, len(steps), self.state.hidden.told(self.page.url)))
        await self.evidence.keep_downloads()
        return end

    async def _act_by_hand(self, action: Action, name: str, steps: list[Step]) -> ActionResult:
        """One action of a person. One that may send something is marked, unless the job says that it may be repeated:
        whether a job only reads says nothing about what a person does."""
        started, seen = time.monotonic(), self.attendance.last_frame
        self.by_hand = True
        url = self.state.hidden.told(self.page.url)
        begun = Step(len(steps), url, f"{name or 'a person'} did this by hand", (), at=utc_now())
        once = self.work.spec.repeatable is not True and may_send(action) and not await self.page.harmless(action)
        if once:
            self.sent = True
            await self._mark(action)
        pointed = await self.hand_book.before(self.page, action) if self.hand_book is not None else None
        done = await self.page.act(replace(action, submits=once))
        if self.hand_book is not None:
            await self.hand_book.after(self.page, done, pointed)
        result = self.state.hidden.result(as_kept(done, steps))
        if result.error is not None and result.error.code in _NOTHING_DONE:
            await self._lift()
        shot = None
        if seen is not None and self.work.spec.artifacts.screenshots == "all":
            shot = await self.evidence.keep("screenshot", seen.jpeg, "image/jpeg")
        seconds = round(time.monotonic() - started, 4)
        steps.append(replace(begun, results=(result,), screenshot=shot, seconds=seconds))
        if self.begun:
            await self._confirm(tuple(steps))
        return result

    async def _came_true(self, decision: StepDecision, step: Step) -> bool:
        """Whether all actions worked and the page shows now what they were to bring about."""
        then_done = decision.then_done
        if then_done is None or len(step.results) < len(decision.actions) or any(r.error for r in step.results):
            return False
        if then_done.acted:
            return took_place(step.results)
        return holds(then_done, await self.state.observe())

    async def _step(self, decision: StepDecision, steps: list[Step], started: float) -> tuple[Step, Action | None]:
        """Acts on a decision that was begun at `started`; the action that ends the task, if one did."""
        url = self.page.url
        prompt = await self.evidence.keep_prompt(decision.prompt)
        shot = await self.evidence.photograph() if self.work.spec.artifacts.screenshots == "all" else None
        if any(action.submits for action in decision.actions):
            await self.evidence.note_page(has_picture=shot is not None)
        begun = Step(len(steps), url, decision.thought, (), shot, prompt, before=decision.before, at=utc_now())
        self.lessons.begin(begun.index, shot)
        results, final = await self._act(decision.actions, steps, begun)
        await self.evidence.keep_downloads()
        return replace(begun, results=tuple(results), seconds=round(time.monotonic() - started, 4)), final

    async def _act(
        self, actions: tuple[Action, ...], steps: list[Step], begun: Step
    ) -> tuple[list[ActionResult], Action | None]:
        """Runs actions in order, until one fails, opens another page, or ends the task."""
        results: list[ActionResult] = []
        for action in actions:
            if action.name in _FINAL_ACTIONS:
                results.append(ActionResult(action, effect=Effect()))
                return results, action
            once = await self._must_not_repeat(action)
            if self._is_sample and sends_form(action, begun.before, once=once):
                raise SampleSendsNothing(
                    f"a sample sends no form: it ended before {action_name(action, self.page.url)}"
                )
            self.sent = self.sent or action.submits
            results.append(await self._perform(replace(action, submits=action.submits or once), once=once))
            if self.begun:
                await self._confirm((*steps, replace(begun, results=tuple(results))))
            if (last := results[-1]).error is not None or last.effect.url is not None or last.effect.new_tab:
                break  # what follows was decided for another page
        return results, None

    async def _turn_page(self, action: Action) -> ActionResult:
        """Runs an action by which a policy collects a list.

        Where the caller says that nothing may be repeated, one that may send is marked like any other. Otherwise a list
        is collected anew after a crash: what brings its next items is taken for no sending.
        """
        once = self.work.spec.repeatable is False and await self._must_not_repeat(action)
        result = await self._perform(action, once=once)
        if self.begun:
            await self._confirm(())
        return result

    async def _must_not_repeat(self, action: Action) -> bool:
        """Whether the action may send something, in a job whose actions must not run twice."""
        if self.work.spec.may_repeat or self.logging_in:
            return False
        if action.submits or (said := sends(action)) == "always":
            return True
        if said == "never":
            return False
        try:
            return not await self.page.harmless(action)
        except ElementMissing:
            return False  # the action fails before it does anything

    async def _perform(self, action: Action, *, once: bool) -> ActionResult:
        """Runs one action; one that must not be repeated is marked in the store before.

        Raises:
            UnsureAction: an earlier attempt did such an action on this very page. Its browser is gone, and what the
                page shows now need not be what became of it.
        """
        resolved = await revealed(action, self.page, self.deps.secrets.resolve)
        if once:
            name = action_name(action, self.page.url)
            if page_of(name) in self.lost_pages:
                raise UnsureAction(f"an earlier attempt did {self.confirmed[-1]}; {name} could repeat it")
            await self._mark(action)
        for name, value in resolved.items():
            self.state.hidden.learn(action.args[name], value)
        self.state.pages.note_typed(typed_by(action))
        noted = await self.lessons.before(action)
        secret = any(value != action.args[name] for name, value in resolved.items())
        with self.attendance.filling(secret, in_frame=str(action.args.get("bid", ""))[:1].isalpha()):
            done = await self.page.act(replace(action, args=resolved))
        result = self.state.hidden.result(replace(done, action=replace(action, detail="")))
        self.lessons.after(result, noted)
        if result.error is not None and result.error.code in _NOTHING_DONE:
            await self._lift()
        if result.error is not None and result.error.code == HelpMissing.code:
            raise HelpMissing(result.error.message)  # the page will not go on by itself
        return result

    async def _mark(self, action: Action) -> None:
        """Has the store know that this action begins, and must not be repeated."""
        name = action_name(action, self.page.url)
        await self.deps.journal.checkpoint(replace(await self._snapshot(), pending_action=name), durable=True)
        self.begun = name

    async def _lift(self) -> None:
        """Takes the mark back of an action that did nothing."""
        if self.begun:
            await self.deps.journal.checkpoint(self.saved or Checkpoint(), durable=True)
            self.begun = ""

    async def _confirm(self, steps: tuple[Step, ...]) -> None:
        """Notes in the store that the marked action took place. A next attempt goes on from here: it knows the steps
        of this task, so that it does not look for the form on the page that thanks for it."""
        self.confirmed = (*(mark for mark in self.confirmed if mark != self.begun), self.begun)
        done = replace(await self._snapshot(), steps=steps)
        await self.deps.journal.checkpoint(done, durable=True)
        self.saved = done
        self.begun = ""

    # --- ends ----------------------------------------------------------------------------------------

    @property
    def _replay(self) -> Replay | None:
        """What became of a workflow that was replayed; None too where a person has acted, which is no proof of one."""
        policy = self.deps.policy
        replay = None if self.by_hand else replay_of(policy)
        if replay is not None and isinstance(policy, WorkflowPolicy) and self.work.spec.sample is not None:
            return replace(replay, detail=detail_of(policy.report, self.page.tier, self.state.hidden.told))
        return replay

    def _end(self, status: Status, **more: object) -> Outcome:
        outcome = Outcome(
            status=status,
            records=self.state.records,
            url=self.page.url,
            tasks=self.state.history,
            screenshot=self.evidence.last_screenshot,
            error_codes=tuple(dict.fromkeys(self.error_codes)),
            replay=self._replay,
        )
        return replace(outcome, **more)  # type: ignore[arg-type]

    def _completed(self, plan: Plan) -> Outcome:
        if self.state.asks and not self.state.answered and not self.deps.policy.instant:
            raise AnswerMissing("the goal asks for an answer, and the session ended without one")
        results = [task.result for task in self.state.history]
        answered = next((task for task in reversed(self.state.history) if isinstance(task.result, str)), None)
        loops = [result for result in results if isinstance(result, dict)]
        told = [str(result[word]) for result in loops for word in ("doubt", "cut") if word in result]
        told += [left_out(int(result.get("left_out", 0))) for result in loops]
        missing = incomplete(self.state.history, many=self._asks_for_many)
        if missing is not None and missing.why:
            told += [missing.why] if missing.why not in told else []
        reason = "; ".join(filter(None, (plan.thoughts, *told)))
        told_last = {"answer": answered.result, "rests_on": answered.rests_on} if answered is not None else {}
        return self._end(
            Status.COMPLETED, reason=reason, incomplete=missing, rejected=tuple(self.rejected), **told_last
        )

    @property
    def _asks_for_many(self) -> bool:
        """Whether the records of this session are a list: by the job's schema, or by the one that a model proposed."""
        extract, proposed = self.work.spec.extract, self.state.proposed
        if extract is not None and extract.json_schema is not None:
            return extract.many
        return isinstance(proposed, dict) and proposed.get("type") == "array"

    def _terminated(self, reason: str, codes: tuple[str, ...]) -> Outcome:
        self.error_codes = (*self.error_codes, *codes)
        return self._end(Status.TERMINATED, reason=reason)

    def _unsure(self, action: str, why: str = "") -> Outcome:
        """The store has the mark of `action`, and keeps it."""
        error = UnsureAction(f"the session died during {action}{why}")
        return self._end(Status.UNSURE, error=error.info(), reason=error.message)

    def _leaves_doubt(self, error: AgentError) -> bool:
        """Whether the session did what must not be done twice, and ends for good without knowing what became of it.

        It does know once a loop came after it. Rules know which of their own actions send, and where the site itself
        says that it did not take the form; but only in the attempt that saw it.
        """
        if not self.confirmed or error.retryable or isinstance(error, (Canceled, LoopFailed)):
            return False
        if self.deps.policy.instant and not self.lost_pages:
            return self.sent and not isinstance(error, FormRefused)
        return True

    def _doubtful(self, error: AgentError) -> Outcome:
        unsure = UnsureAction(f"{self.confirmed[-1]} was done, and then: {error.message}")
        known = in_doubt(self.saved or Checkpoint(confirmed=self.confirmed))
        return self._end(Status.UNSURE, error=unsure.info(), reason=unsure.message, checkpoint=known)

    async def failed(self, error: AgentError) -> Outcome:
        """The outcome of a session that `error` ended, with a picture of the page where one can still be had."""
        await self.evidence.keep_transcript(error)
        shows = self.page.opened and not isinstance(error, (Canceled, BrowserError))  # else there is nothing to be had
        if shows:
            try:
                async with asyncio.timeout(_EVIDENCE_S):
                    await self.evidence.keep_downloads()
            except (AgentError, TimeoutError) as lost:
                error.add_note(f"no downloads: {lost}")
        pictured = self.work.spec.artifacts.screenshots != "none"
        if pictured and shows:
            try:
                async with asyncio.timeout(_EVIDENCE_S):
                    await self.evidence.photograph()
            except (AgentError, TimeoutError) as lost:
                error.add_note(f"no screenshot: {lost}")
        if self.begun and not isinstance(error, Canceled):
            return self._unsure(self.begun, f": {error.message}")
        if self._leaves_doubt(error):
            try:
                async with asyncio.timeout(_EVIDENCE_S):
                    await self.evidence.keep_both_pages(shows)
            except (AgentError, TimeoutError) as lost:
                error.add_note(f"no pages: {lost}")
            return self._doubtful(error)
        retry_after = error.details.get("retry_after_s")
        status = Status.CANCELED if isinstance(error, Canceled) else Status.FAILED
        return self._end(
            status,
            records=(),
            error=error.info(),
            reason="; ".join((error.message, *getattr(error, "__notes__", ()))),
            checkpoint=self._left_behind(error),
            retry_after_s=float(str(retry_after)) if retry_after is not None else None,
        )

    def _left_behind(self, error: AgentError) -> Checkpoint | None:
        """Where a next attempt goes on; it knows what this one has spent since then."""
        saved = self.saved
        if saved is not None and saved.confirmed and not error.retryable:  # no doubt is left: it may all be done again
            saved = replace(saved, confirmed=()) if isinstance(error, LoopFailed) else begun_anew(saved)
        if not self.state.usage.model_calls:
            return saved
        return replace(saved or Checkpoint(), usage=self.state.spent_before + self.state.usage)

    # --- checkpoints ---------------------------------------------------------------------------------

    async def _snapshot(self) -> Checkpoint:
        return Checkpoint(
            history=self.state.history,
            url=self.page.url,
            storage_state=await self.page.storage_state(),
            records=self.state.records,
            usage=self.state.spent_before + self.state.usage,
            proposed=self.state.proposed,
            items_only_read=self.state.items_only_read,
            confirmed=self.confirmed,
        )

    async def _checkpoint(self) -> None:
        self.saved = await self._snapshot()
        await self.deps.journal.checkpoint(self.saved, durable=False)


_FINAL_ACTIONS = frozenset({"complete", "terminate", "answer", "report_infeasible"})
_NOTHING_DONE = frozenset({HelpMissing.code, ActionInvalid.code, ActionRefused.code})
"""Errors of actions that were not begun."""
