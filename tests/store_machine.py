"""Random histories of a store, compared with a model of a few lines. Run on SQLite by the unit ring, on PostgreSQL by
the integration ring."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from agent.status import FINAL, Status
from agent.types import Outcome
from services.errors import WrongState
from services.store.records import Claimed, Finish, Renewal, Take, Written
from tests.store_world import BROKEN, World, links, loop, world

S = Status
T = TypeVar("T")

LIMITS = (None, 1, 2)
LEASE_S = 60.0
DELAY_S = 10.0


@dataclass
class Session:
    """What the model knows of a session."""

    job: int
    parent: int | None
    status: Status = S.QUEUED
    fence: int = 0  # of the last claim
    children: list[int] = field(default_factory=list)


class StoreMachine(RuleBasedStateMachine):
    """Submit, claim, finish, fan out, reap, cancel, pause, resume, retry, delay, in any order."""

    url = "sqlite://"
    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.context: AbstractAsyncContextManager[World] = world(self.url)
        self.w: World = self.do(self.context.__aenter__())
        self.sessions: dict[int, Session] = {}
        self.roots: dict[int, int] = {}
        self.limits: dict[int, int | None] = {}
        self.stops: dict[int, bool] = {}  # by parent
        self.canceled: set[int] = set()
        self.paused: set[int] = set()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs one call."""
        return self.runner.run(work)

    def teardown(self) -> None:
        try:
            self.run_everything_out()
        finally:
            self.do(self.context.__aexit__(None, None, None))
            self.runner.close()

    # --- rules ---------------------------------------------------------------------------------------

    @rule()
    def wait(self) -> None:
        """Lets delayed sessions become ready."""
        self.w.clock.now += DELAY_S

    @rule(limit=st.sampled_from(LIMITS))
    def submit(self, limit: int | None) -> None:
        nested = {"values": ["a"], "concurrency": limit, "loop": {"values": ["a"], "concurrency": limit}}
        job = self.do(self.w.submit(loop=nested, max_attempts=100))
        root = self.do(self.w.store.job(job)).root_session
        self.roots[job] = root
        self.limits[job] = limit
        self.sessions[root] = Session(job, None)

    @rule(target=held, n=st.integers(1, 3))
    def claim(self, n: int) -> Any:
        claimed = self.do(self.w.claim(n, lease_s=LEASE_S))
        for one in claimed:
            session = self.sessions[one.work.session]
            assert session.status is S.QUEUED, "it was not ready"
            assert session.job not in self.paused | self.canceled
            assert one.work.fence > session.fence, "its fence was not raised"
            session.status, session.fence = S.RUNNING, one.work.fence
            if session.children:
                assert one.work.children is not None
        return multiple(*claimed)

    @rule(
        one=consumes(held),
        status=st.sampled_from([S.COMPLETED, S.COMPLETED, S.TERMINATED, S.FAILED, S.UNSURE, S.CANCELED, S.QUEUED]),
        delay=st.sampled_from([0.0, DELAY_S]),
    )
    def finish(self, one: Claimed, status: Status, delay: float) -> None:
        self.report(one, Outcome(status), delay)

    @rule(target=held, one=held, status=st.sampled_from([S.COMPLETED, S.FAILED]))
    def finish_twice(self, one: Claimed, status: Status) -> Any:
        self.report(one, Outcome(status), 0.0)
        written = self.do(self.w.finish((one, BROKEN)))
        assert written.late == {one.work.session}
        return multiple()

    @rule(one=consumes(held), n=st.integers(0, 4), stop=st.booleans())
    def fan_out(self, one: Claimed, n: int, stop: bool) -> None:
        if one.work.depth < 2:
            self.report(one, loop(links(n, hosts=2), stop=stop), 0.0)

    @rule(many=st.lists(consumes(held), max_size=4, unique_by=lambda one: one.work.session))
    def finish_together(self, many: list[Claimed]) -> None:
        expected = [self.is_ours(one) for one in many]
        written = self.do(self.w.finish(*((one, BROKEN) for one in many)))
        for one, ours in zip(many, expected, strict=True):
            assert (one.work.session in written.accepted) is ours
        for one, ours in zip(many, expected, strict=True):
            if ours:
                self.sessions[one.work.session].status = S.FAILED
        for parent in {
            self.sessions[one.work.session].parent for one, ours in zip(many, expected, strict=True) if ours
        }:
            if parent is not None:
                self.child_failed(parent)
                self.settle(parent)

    @rule()
    def reap(self) -> None:
        """Every worker dies."""
        running = {id for id, session in self.sessions.items() if session.status is S.RUNNING}
        freed = self.do(self.w.store.reap(owner="w1"))
        assert {one.session for one in freed} == running
        for id in sorted(running):
            self.give_back(id)

    @rule()
    def let_leases_run_out(self) -> None:
        self.w.clock.now += LEASE_S + 1
        running = {id for id, session in self.sessions.items() if session.status is S.RUNNING}
        assert {one.session for one in self.do(self.w.store.reap())} == running
        for id in sorted(running):
            self.give_back(id)

    @rule(one=held)
    def renew(self, one: Claimed) -> None:
        kept = self.do(self.w.store.renew([Renewal(one.work.session, one.work.fence)], lease_s=LEASE_S))
        wanted = one.work.job not in self.paused | self.canceled
        assert (one.work.session in kept) is (self.is_ours(one) and wanted)

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job = self.some_job(data)
        if job is None:
            return
        if self.is_over(job):
            self.refused(self.w.store.cancel(job))
            return
        self.do(self.w.store.cancel(job))
        self.canceled.add(job)
        self.paused.discard(job)
        for session in self.of(job):
            if session.status in (S.QUEUED, S.WAITING):
                session.status = S.CANCELED

    @rule(data=st.data())
    def pause_or_resume(self, data: st.DataObject) -> None:
        job = self.some_job(data)
        if job is None:
            return
        if job in self.paused:
            self.do(self.w.store.resume(job))
            self.paused.discard(job)
        elif self.is_over(job) or job in self.canceled:
            self.refused(self.w.store.pause(job))
        else:
            self.do(self.w.store.pause(job))
            self.paused.add(job)

    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        job = self.some_job(data)
        if job is None:
            return
        retried = (S.FAILED, S.TERMINATED, S.CANCELED)
        if not self.is_over(job) or all(session.status not in retried for session in self.of(job)):
            self.refused(self.w.store.retry(job))
            return
        self.do(self.w.store.retry(job))
        self.canceled.discard(job)
        self.reopen(self.roots[job])

    # --- the model -----------------------------------------------------------------------------------

    def of(self, job: int) -> list[Session]:
        return [session for session in self.sessions.values() if session.job == job]

    def some_job(self, data: st.DataObject) -> int | None:
        return data.draw(st.sampled_from(sorted(self.roots))) if self.roots else None

    def is_over(self, job: int) -> bool:
        return all(session.status in FINAL for session in self.of(job))

    def is_ours(self, one: Claimed) -> bool:
        session = self.sessions[one.work.session]
        return session.status is S.RUNNING and session.fence == one.work.fence

    def refused(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            self.do(work)
        except WrongState:
            return
        raise AssertionError("this should have been refused")

    def unwanted(self, session: Session) -> bool:
        stopped = session.parent is not None and self.stops.get(session.parent) is True
        return session.job in self.canceled or stopped

    def report(self, one: Claimed, outcome: Outcome, delay: float) -> None:
        ours = self.is_ours(one)
        report = Finish(one.work.session, one.work.fence, outcome, delay)
        written: Written = self.do(self.w.store.finish([report]))
        assert (one.work.session in written.accepted) is ours
        assert (one.work.session in written.late) is not ours
        if not ours:
            return
        id, session = one.work.session, self.sessions[one.work.session]
        if outcome.status is S.WAITING and not self.unwanted(session):
            self.open_loop(id, session, outcome)
        elif outcome.status in (S.WAITING, S.QUEUED, S.CANCELED):
            self.give_back(id)
        else:
            session.status = outcome.status
            if session.parent is not None:
                if outcome.status is not S.COMPLETED:
                    self.child_failed(session.parent)
                self.settle(session.parent)

    def open_loop(self, id: int, session: Session, outcome: Outcome) -> None:
        assert outcome.fan_out is not None
        known = set(self.sessions)
        rows, _ = self.do(self.w.store.sessions(session.job, limit=10_000))
        new = [row for row in rows if row.id not in known]
        assert [row.parent for row in new] == [id] * len(outcome.fan_out.items)
        assert [row.id for row in new] == sorted(row.id for row in new)
        for row in new:
            self.sessions[row.id] = Session(session.job, id)
            session.children.append(row.id)
        self.stops.pop(id, None)
        if outcome.fan_out.on_error == "stop":
            self.stops[id] = False
        session.status = S.WAITING if new else S.QUEUED

    def give_back(self, id: int) -> None:
        session = self.sessions[id]
        session.status = S.CANCELED if self.unwanted(session) else S.QUEUED
        if session.status is S.CANCELED and session.parent is not None:
            self.settle(session.parent)

    def child_failed(self, parent: int) -> None:
        if self.stops.get(parent) is False:
            self.stops[parent] = True
            for child in self.sessions[parent].children:
                if self.sessions[child].status is S.QUEUED:
                    self.sessions[child].status = S.CANCELED

    def settle(self, parent: int) -> None:
        """A parent goes on once all its children are final."""
        session = self.sessions[parent]
        if session.status is S.WAITING and all(self.sessions[child].status in FINAL for child in session.children):
            session.status = S.QUEUED

    def reopen(self, id: int) -> bool:
        """Reopens a tree; whether anything in it is open now."""
        session = self.sessions[id]
        below = [self.reopen(child) for child in session.children]
        if any(below):
            session.status = S.WAITING
            if id in self.stops:
                self.stops[id] = False
        elif session.status in (S.FAILED, S.TERMINATED, S.CANCELED):
            session.status = S.QUEUED
        return session.status not in FINAL

    # --- what always holds -----------------------------------------------------------------------------

    @invariant()
    def everything_is_where_the_model_says(self) -> None:
        for job in self.roots:
            row = self.do(self.w.check_sums(job))
            rows, _ = self.do(self.w.store.sessions(job, limit=10_000))
            shown = {one.id: one.status for one in rows}
            wanted = {
                id: S.PAUSED if job in self.paused and session.status is S.QUEUED else session.status
                for id, session in self.sessions.items()
                if session.job == job
            }
            assert shown == wanted
            over = self.is_over(job)
            assert (row.status in FINAL) is over
            if over:
                self.paused.discard(job)
                assert row.status is self.sessions[self.roots[job]].status
            limit = self.limits[job]
            busy = Counter(session.parent for session in self.of(job) if session.status is S.RUNNING)
            assert limit is None or all(n <= limit for parent, n in busy.items() if parent is not None)

    def run_everything_out(self) -> None:
        """Whatever happened before, everything can still be brought to its end: no session is lost."""
        for job in sorted(self.paused):
            if not self.is_over(job):
                self.do(self.w.store.resume(job))
        self.w.clock.now += LEASE_S + DELAY_S + 1
        self.do(self.w.store.reap())
        for _ in range(10_000):
            held = self.do(self.w.claim(50))
            if not held:
                break
            self.do(self.w.finish(*((one, Outcome(S.COMPLETED)) for one in held)))
        for job in self.roots:
            row = self.do(self.w.check_sums(job))
            assert row.status in FINAL, "a job did not end"
        takes = [Take(job, domain, 0, 10) for job in self.roots for domain in range(1, 4)]
        assert self.do(self.w.store.claim("w1", takes, lease_s=LEASE_S)).sessions == ()
