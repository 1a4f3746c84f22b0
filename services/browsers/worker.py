"""A browser worker: owns a browser, runs many sessions beside each other in it, and reports.

Knows nothing of Ray: `ray_pool` wraps it into an actor, `local_pool` runs it in the same process.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial

import psutil
import structlog

from shoal.agent.browser import Browser
from shoal.agent.documents.context import DocumentBrowser, DocumentReading
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.documents.own_request import OwnReading
from shoal.agent.documents.serving import documents_serve
from shoal.agent.documents.sitemaps.reader import SitemapReader
from shoal.agent.documents.trust import TrustedSites
from shoal.agent.documents.unchanged import page_now
from shoal.agent.errors import AgentError, BrowserError, NavigationTimeout, NoRoom, ServerBusy, Unexpected
from shoal.agent.policies.choose import with_learned
from shoal.agent.policies.workflow import DocumentPolicy, WorkflowPolicy
from shoal.agent.redaction.redactor import redactor_of
from shoal.agent.sessions import session
from shoal.agent.sessions.attended.attendance import Attendance
from shoal.agent.sessions.dependencies import Journal, NavigationGuard, SessionDependencies
from shoal.agent.sessions.login import Logins
from shoal.agent.sessions.session_budget import SessionBudget
from shoal.agent.status import Status
from shoal.agent.support.process_memory import memory_in_use
from shoal.agent.support.web_addresses import host_of
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Answer, JobLimits, LearnedUse, LiveRequest, Work
from shoal.services import tracing
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.parts import Parts
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.browsers.reports.artifact_sink import StoredArtifactSink
from shoal.services.browsers.reports.outbox import Outbox, SessionJournal
from shoal.services.browsers.reports.report_batch import REPORT_BATCH_BYTES, ReportBatch
from shoal.services.browsers.session_parts.browser_owner import Slots
from shoal.services.browsers.session_parts.lazy_browser import LazyBrowser
from shoal.services.browsers.session_parts.secrets import FolderSecrets
from shoal.services.events import LogEvent
from shoal.services.metrics_delta import MetricsDelta

log = structlog.get_logger()

_PULL_S = 20.0
"""Seconds that a pull waits for the first report; well under any time-out between dispatcher and worker."""

_RUN_DELAY_S = 0.25
"""Seconds that reports of a run wait for others, while more of the run waits."""

MOST_LINKS = 4
"""Gateways at which people may look at one session."""
_LAST_WORDS_S = 1.0
"""Seconds that links get to say that their session is over."""

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Error numbers of the system when it has no room, files or memory to give."""


@dataclass(slots=True)
class _Held:
    job: int
    journal: SessionJournal
    budget: SessionBudget
    attendance: Attendance = field(default_factory=Attendance)
    links: dict[LiveRequest, asyncio.Task[None]] = field(default_factory=dict)  # to gateways where people look
    task: asyncio.Task[Outcome] | None = None  # None while it waits for a slot


@dataclass(slots=True)
class _Run:
    places: Slots  # at the job's site
    waiting: deque[Work] = field(default_factory=deque)
    under_way: int = 0  # begun and not over: each has a place, or waits for a slot of the browser


class DocumentRuns:
    """Sessions that wait for their turn, by job. Of each job as many are at its site as that has places."""

    def __init__(self) -> None:
        self._runs: dict[int, _Run] = {}

    def put(self, work: Work) -> None:
        """One more waits."""
        run = self._runs.setdefault(work.job, _Run(Slots(work.width)))
        run.waiting.append(work)
        run.places.resize(work.width)  # as the newest claim says

    def begin(self) -> Iterator[Work]:
        """Those whose turn it is; each is under way from now on."""
        for run in list(self._runs.values()):
            while run.waiting and run.places.take():
                run.under_way += 1
                yield run.waiting.popleft()

    def ended(self, job: int) -> None:
        """One of a job is over."""
        run = self._runs[job]
        run.under_way -= 1
        run.places.give_back()
        self._forget(job)

    async def aside(self, job: int, slots: Slots, freed: Callable[[], None]) -> None:
        """Takes a slot for a session that is under way. Until it has one, others have its place at the site.

        Args:
            freed: called when the place is free.
        """
        if slots.take():
            return
        places = self._runs[job].places
        places.give_back()
        freed()
        try:
            await slots.wait()
            try:
                await places.wait()
            except asyncio.CancelledError:
                slots.give_back()
                raise
        except asyncio.CancelledError:
            places.take_anyway()  # its end gives it back
            raise

    def remove(self, sessions: Collection[int]) -> list[Work]:
        """Takes out those of some sessions that wait."""
        removed = [work for run in self._runs.values() for work in run.waiting if work.session in sessions]
        for work in removed:
            self._runs[work.job].waiting.remove(work)
            self._forget(work.job)
        return removed

    def _forget(self, job: int) -> None:
        run = self._runs[job]
        if not run.waiting and not run.under_way:
            del self._runs[job]

    def sessions(self, job: int | None = None) -> list[int]:
        """Sessions that wait, of one job or of all."""
        runs = [run for number, run in self._runs.items() if job in (None, number)]
        return [work.session for run in runs for work in run.waiting]

    @property
    def under_way(self) -> int:
        """Sessions that have begun and are not over."""
        return sum(run.under_way for run in self._runs.values())

    def __len__(self) -> int:
        return sum(len(run.waiting) for run in self._runs.values())


class Worker:
    """Takes sessions, runs up to `config.slots` of them at once, and keeps their reports until they are committed."""

    def __init__(
        self, name: str, config: WorkerConfig, parts: Parts, metrics_delta: MetricsDelta | None = None
    ) -> None:
        self.name = name
        self._metrics_delta = metrics_delta or MetricsDelta()  # of the parts
        self._config = config
        self._parts = parts
        self._queue: deque[Work] = deque()
        self._runs = DocumentRuns()
        self._slots = Slots(config.slots)
        self._held: dict[tuple[int, int], _Held] = {}  # by session and fence
        self._outbox = Outbox(self._needs_work, lambda: _RUN_DELAY_S if len(self._runs) else 0.0)
        self._logins = Logins()
        self._sites = TrustedSites()
        self._links: set[asyncio.Task[None]] = set()
        self._made = time.monotonic()
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    def _needs_work(self) -> bool:
        """Return whether it runs dry soon. Beside a run that goes on, reports wait for company."""
        return self._is_dry and not len(self._runs)

    @property
    def _is_dry(self) -> bool:
        return len(self._queue) <= self._config.slots // 2

    async def submit(self, works: Sequence[Work]) -> None:
        """Queues sessions; each starts as soon as a slot is free. A worker that ends gives them back at once.

        One that is here already has lost its lease on the way: that attempt is stopped.
        """
        await self.cancel([work.session for work in works])
        for work in works:
            journal = SessionJournal(self._outbox, work.session, work.fence, work.job)
            self._held[work.session, work.fence] = _Held(work.job, journal, SessionBudget(JobLimits.of(work)))
            if work.width:
                self._runs.put(work)
            else:
                self._queue.append(work)
        if (
            self._stopping
        ):  # they were claimed before the dispatcher knew: no attempt counts, another worker has them soon
            await self.cancel([work.session for work in works])
        self._fill_slots()

    def _fill_slots(self) -> None:
        while not self._stopping and self._queue and self._slots.take():
            self._begin(self._queue.popleft())
        if not self._stopping:
            for work in self._runs.begin():
                self._begin(work)

    def _begin(self, work: Work) -> None:
        self._idle.clear()
        held = self._held[work.session, work.fence]
        held.task = asyncio.create_task(self._outcome(work, held), name=f"session-{work.session}")
        # Not in the task itself: one that is stopped before its first step never gets there.
        held.task.add_done_callback(partial(self._ended, work))

    def _ended(self, work: Work, task: asyncio.Task[Outcome]) -> None:
        """However a session ended, it gives a report and a free slot."""
        if task.cancelled():
            outcome = Outcome(Status.CANCELED, reason="stopped by its owner or with its worker")
        else:
            outcome = task.result()
        held = self._held.pop((work.session, work.fence))
        held.attendance.end()  # its links say so, and end
        held.journal.outcome(outcome)
        if work.width:
            self._runs.ended(work.job)
            if outcome.error is not None and outcome.error.code == ServerBusy.code:
                self._give_back(set(self._runs.sessions(work.job)))  # the site wants to be left alone for a while
        else:
            self._slots.give_back()
            if self._is_dry:  # whatever runs go on
                self._outbox.hurry()
        if not self._slots.busy and not self._runs.under_way:
            self._idle.set()
        self._fill_slots()

    async def _outcome(self, work: Work, held: _Held) -> Outcome:
        """One session in one slot."""
        try:
            outcome = await self._run(work, held)
        finally:
            excess = self._parts.ended(work)
        return _with_excess(outcome, excess) if excess else outcome

    async def _run(self, work: Work, held: _Held) -> Outcome:
        try:
            async with AsyncExitStack() as stack:
                owner, way_out = self._parts.owner, partial(self._parts.context, work)
                slot = partial(self._runs.aside, work.job, self._slots, self._fill_slots)
                lazy = LazyBrowser(owner, self._slots, slot, way_out) if work.width else None
                browser: Browser = await stack.enter_async_context(lazy or owner.lend())
                navigation_guard = self._parts.navigation_guard(work, held.journal)
                reading = self._document_reading(work, navigation_guard)
                compared = work.learned is LearnedUse.SHADOW  # it is read, though its page may not have changed
                if work.earlier is not None and work.item is not None and reading is not None and not compared:
                    state = self._logins.state(work.job) or (work.checkpoint and work.checkpoint.storage_state)
                    now = await page_now(browser, reading, work.item, work.earlier, state)
                    if now.outcome is not None:
                        return replace(now.outcome, crawl_delay_s=navigation_guard.crawl_delay_s)
                    reading = replace(reading, document=now.document)
                first = browser if reading is None else DocumentBrowser(browser, reading)
                deps = replace(
                    await dependencies_of(self._parts, self._config, work, first, navigation_guard, held.journal),
                    glossaries=self._parts.glossaries(work, held.journal),
                    budget=held.budget,
                    attendance=held.attendance,
                    logins=self._logins,
                )
                lease = work.job, work.session, work.fence
                with tracing.span("run session", lease=lease, session=work.session, attempt=work.attempt):
                    outcome = await session.run(work, deps)
                if isinstance(deps.policy, (WorkflowPolicy, DocumentPolicy)):
                    for of, family in deps.policy.hits:
                        self._metrics_delta.add("shoal_replay_hits", of, family)
                # Of one that was cut off inside an action the outcome says what it may have done, not what cut it off.
                cut_off = outcome.status is Status.UNSURE
                suspect = browser if lazy is None else lazy.lent
                if suspect and (cut_off or (outcome.error is not None and outcome.error.cls in _SUSPICIOUS)):
                    await owner.suspect(suspect)
                return replace(outcome, crawl_delay_s=navigation_guard.crawl_delay_s)
        except AgentError as error:  # no browser could be had, or no such policy
            return Outcome(Status.FAILED, error=error.info(), reason=error.message)
        except Exception as error:
            self._hide_in(error, work)
            log.exception(LogEvent.SESSION_FAILED, worker=self.name, session=work.session)
            full = isinstance(error, OSError) and error.errno in _NO_ROOM
            unexpected = (NoRoom if full else Unexpected)(f"{type(error).__name__}: {error}")
            # Without a checkpoint: the store keeps its own, which may be newer than the one that this began with.
            return Outcome(Status.FAILED, error=unexpected.info(), reason=str(unexpected))

    def _hide_in(self, error: Exception, work: Work) -> None:
        hidden = redactor_of(work.spec, work.item)
        for reference, value in FolderSecrets(self._config.secrets_dir, work.tenant, work.spec).granted().items():
            hidden.learn(reference, value)
        hidden.hide_in(error)

    def _document_reading(self, work: Work, navigation_guard: NavigationGuard) -> DocumentReading | None:
        """Return what reads the item's document without a browser;
        None where the job, or what was seen, allows none.

        Raises:
            AgentError: the job names a policy that is not there.
        """
        client = self._parts.documents(work.tenant)
        learned = work.learned in (LearnedUse.SHADOW, LearnedUse.REPLAY, LearnedUse.AUDIT)
        if client is None or work.item is None or not work.item.is_link:
            return None
        if not documents_serve(work.spec, learned=learned):
            return None
        trust, own = self._sites.of(work.job, host_of(work.item.value)), None
        if trust.refused and not trust.turned_away and (own := OwnReading.of(work.spec, work.item)) is not None:
            trust = self._sites.of(work.job, host_of(work.item.value), own_requests=True)
        audited, shadowed = work.learned is LearnedUse.AUDIT, work.learned is LearnedUse.SHADOW
        # A model reads the page, too, at the same moment.
        by_model = (audited or shadowed) and not self._parts.policy(work.spec).instant
        if trust.refused or (by_model and (shadowed or own is None)):
            return None

        def count_document(outcome: DocumentOutcome) -> None:
            self._metrics_delta.add("shoal_documents", outcome.value)

        reader = self._parts.document_reader
        return DocumentReading(
            work.spec,
            client,
            trust,
            navigation_guard,
            count_document,
            reader,
            own,
            sampled=by_model or shadowed,  # the rules' shadow teaches what documents are worth: the next ones may count
            audited=audited and not by_model,
        )

    # --- the dispatcher's side -----------------------------------------------------------------------

    async def pull(self, seen: int, committed: int, most_bytes: int = REPORT_BATCH_BYTES) -> ReportBatch:
        self._outbox.confirm(committed, frozenset())
        return await self._outbox.pull(seen, _PULL_S, most_bytes)

    async def confirm(self, committed: int, refused: frozenset[int], answers: Mapping[int, Answer]) -> None:
        self._outbox.confirm(committed, refused, answers)

    async def cancel(self, sessions: Sequence[int]) -> None:
        """Stops these sessions where this worker has them; each gives a last report."""
        canceled = set(sessions)
        self._give_back(canceled)
        for (session_id, _), held in self._held.items():
            # Once: a second call would break into what the first one made it do, which is to end its page.
            if session_id in canceled and held.task is not None and not held.task.cancelling():
                held.task.cancel()

    def _give_back(self, sessions: Collection[int]) -> None:
        """Those of some sessions that have not begun go back to the queue of their job."""
        waiting = [work for work in self._queue if work.session in sessions]
        for work in waiting:
            self._queue.remove(work)
        for work in (*waiting, *self._runs.remove(sessions)):
            held = self._held.pop((work.session, work.fence))
            held.journal.outcome(Outcome(Status.CANCELED, reason="stopped before it began", checkpoint=work.checkpoint))

    async def limit(self, limits: Mapping[int, JobLimits]) -> None:
        """Set what holds from now on for the sessions of some jobs, those that wait for a slot included."""
        for held in self._held.values():
            if (new := limits.get(held.job)) is not None:
                held.budget.change(new)

    async def show(self, requests: Mapping[int, Sequence[LiveRequest]]) -> None:
        """Links running sessions to gateways where people look at them; what is linked already stays."""
        for (session_id, _), held in self._held.items():
            for request in requests.get(session_id, ())[:MOST_LINKS]:
                if held.task is not None and len(held.links) < MOST_LINKS and request not in held.links:
                    link = self._parts.link(held.attendance, request)
                    held.links[request] = task = asyncio.create_task(link, name=f"live-{session_id}")
                    task.add_done_callback(partial(self._link_ended, held, request))
                    self._links.add(task)

    def _link_ended(self, held: _Held, request: LiveRequest, task: asyncio.Task[None]) -> None:
        """A gateway that still asks is linked anew."""
        held.links.pop(request, None)
        self._links.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error(LogEvent.LIVE_LINK_LOST, worker=self.name, error=f"{type(error).__name__}: {error}")

    async def stats(self) -> WorkerStats:
        owner = self._parts.owner
        return WorkerStats(
            name=self.name,
            slots=self._config.slots,
            busy=self._slots.busy,
            waiting=len(self._queue) + len(self._runs),
            browsers=owner.running,
            browser_restarts=owner.restarts,
            held=dict(sorted(self._held)),
            spending={attempt: n for attempt, held in self._held.items() if (n := held.budget.spent())},
            node=socket.gethostname(),
            age_s=time.monotonic() - self._made,
            browser_age_s=owner.oldest_s,
            uploads_waiting=self._parts.artifacts.waiting,
            rss_bytes=await asyncio.to_thread(_tree_bytes),
            figures=self._metrics_delta.figures(),
        )

    async def drain(self, drain_s: float) -> None:
        """Takes no more, gives queued sessions back, lets running ones end for up to `drain_s`, stops the rest."""
        self._stopping = True
        self._give_back({*(work.session for work in self._queue), *self._runs.sessions()})
        try:
            async with asyncio.timeout(drain_s):
                await self._idle.wait()
        except TimeoutError:
            tasks = [held.task for held in self._held.values() if held.task is not None]
            await self.cancel([session_id for session_id, _ in self._held])
            await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Ends the browser and what else the worker holds."""
        if self._links:
            await asyncio.wait(tuple(self._links), timeout=_LAST_WORDS_S)
        for task in self._links:
            task.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)
        await self._parts.close()


async def dependencies_of(
    parts: Parts,
    config: WorkerConfig,
    work: Work,
    browser: Browser,
    navigation_guard: NavigationGuard,
    journal: Journal,
) -> SessionDependencies:
    """All that the session `work` uses of its surroundings, where its parts are a worker's.

    Raises:
        AgentError: the job names a policy that is not there.
    """
    loop = work.spec.loop_at(work.depth)
    reads_sitemap = loop is not None and loop.sitemap is not None and work.spec.browser.proxy is None
    client = parts.documents(work.tenant) if reads_sitemap else None
    return SessionDependencies(
        browser=browser,
        policy=with_learned(
            parts.policy(work.spec, leaf=loop is None),
            work.spec,
            work.learned,
            documents=isinstance(browser, DocumentBrowser),
        ),
        navigation_guard=navigation_guard,
        artifact_sink=StoredArtifactSink(parts.artifacts, work),
        journal=journal,
        secrets=FolderSecrets(config.secrets_dir, work.tenant, work.spec),
        limits=config.limits,
        context=await parts.context(work, opened=not work.width),
        helper=parts.helper(work),
        sitemaps=None if client is None else SitemapReader(client, browser, work.spec, navigation_guard),
    )


def _with_excess(outcome: Outcome, excess: str) -> Outcome:
    """The outcome of a session whose pages were cut off: what it came to stands, and says so."""
    error = outcome.error and replace(outcome.error, message=f"{outcome.error.message} ({excess})")
    return replace(outcome, error=error, reason="; ".join(filter(None, (outcome.reason, excess))))


def _tree_bytes() -> int:
    """Memory of this process and all below it, in bytes."""
    me = psutil.Process()
    return memory_in_use([me, *me.children(recursive=True)])


def _names(error: type[AgentError]) -> set[str]:
    return {error.__name__}.union(*(_names(child) for child in error.__subclasses__()))


_SUSPICIOUS = _names(BrowserError) | _names(NavigationTimeout)
"""Failures that a browser which is dead or hangs may be the cause of. In one that hangs, a page that is reused is asked
for the next address first, and that times out as a slow site would."""
