"""Random histories of a store, compared with a model of a few lines. Run on SQLite by the unit ring, on PostgreSQL by
the integration ring."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from sqlalchemy import text

from shoal.agent.status import FINAL, RETRIED, Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.errors import WrongState
from shoal.services.store.jobs import ending
from shoal.services.store.records import Claimed, ClaimRequest, CommitResult, Finish, JobChanges, Renewal, UnsureAnswer
from tests.known_partitions import KnownPartitions
from tests.store_world import BROKEN, World, links, loop, world

S = Status
T = TypeVar("T")

LIMITS = (None, 1, 2)
FIRST, PART = 2, 2  # so that a loop of five is stored in three pieces
SLICE = 2  # so that what ends a loop of five leaves something over, and others come between
PER_DOMAIN = 3
MARK = Checkpoint(url="https://shop.example/pay", pending_action="click('pay')")
LEASE_S = 60.0
_OUT = text("select parent, count(*) as n from session where state in (0, 1, 2, 9) group by parent")
DELAY_S = 10.0


@dataclass
class Session:
    """The model's state of a session."""

    job: int
    parent: int | None
    status: Status = S.QUEUED
    fence: int = 0  # of the last claim
    children: list[int] = field(default_factory=list)
    domain: int = 0  # known once it was claimed
    marked: bool = False  # its checkpoint says that an action began which must not be repeated


class StoreMachine(RuleBasedStateMachine):
    """Submit, claim, finish, fan out in pieces, mark, die, cancel, be late, stop, sweep, pause, resume, retry, settle,
    widen, narrow, retry one alone: in any order, through two stores on one database."""

    url = "sqlite://"
    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.context: AbstractAsyncContextManager[World] = world(self.url)
        self.slices = mock.patch.object(ending, "SLICE", SLICE)
        self.slices.start()
        self.w: World = self.do(self.context.__aenter__())
        self.w.first, self.w.part = FIRST, PART
        self.other = self.do(self.w.another())
        self.known = KnownPartitions()
        for store in {self.w.store, self.other}:
            self.known.listen_to(store)
        self.sessions: dict[int, Session] = {}
        self.roots: dict[int, int] = {}
        self.limits: dict[int, int | None] = {}  # of the outermost loops
        self.inner_limits: dict[int, int | None] = {}
        self.crowded: set[int] = set()  # parents of which more were out than a new limit says: they keep their seats
        self.stops: dict[int, bool] = {}  # by parent
        self.pending_children: set[int] = set()  # children that are not stored yet
        self.canceled: set[int] = set()
        self.late: set[int] = set()  # jobs whose deadline has passed
        self.paused: set[int] = set()
        self.reopening: dict[int, set[int]] = {}  # jobs that are retried, and which sessions are still to be reopened
        self.stopped_anew: set[int] = set()  # parents whose loops were stopped while their jobs were reopened

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs one call."""
        return self.runner.run(work)

    def teardown(self) -> None:
        try:
            self.run_everything_out()
        finally:
            self.do(self.context.__aexit__(None, None, None))
            self.slices.stop()
            self.runner.close()

    # --- rules ---------------------------------------------------------------------------------------

    @initialize(
        target=held,
        limit=st.sampled_from(LIMITS),
        n=st.integers(3, 7),
        stop=st.booleans(),
        pieces=st.integers(0, 3),
        inner=st.booleans(),
    )
    def begin(self, limit: int | None, n: int, stop: bool, pieces: int, inner: bool) -> Any:
        """A job in the middle of a loop, perhaps with another one in it: few random histories get there."""
        self.new_job(limit)
        (root,) = self.take(1, elsewhere=False)
        self.report(root, loop(links(n, hosts=2), stop=stop), 0.0)
        for _ in range(pieces):
            self.one_more_piece()
        first, *others = self.take(2, elsewhere=False)
        if not inner:
            return multiple(first, *others)
        self.report(first, loop(links(n, hosts=2), stop=not stop), 0.0)
        return multiple(*others, *self.take(1, elsewhere=False))

    @rule()
    def wait(self) -> None:
        """Lets delayed sessions become ready."""
        self.w.clock.now += DELAY_S

    @rule(limit=st.sampled_from(LIMITS))
    def submit(self, limit: int | None) -> None:
        self.new_job(limit)

    def new_job(self, limit: int | None) -> None:
        nested = {"values": ["a"], "concurrency": limit, "loop": {"values": ["a"], "concurrency": limit}}
        job = self.do(self.w.submit(loop=nested, max_attempts=100))
        root = self.do(self.w.store.job(job)).root_session
        self.roots[job] = root
        self.limits[job] = self.inner_limits[job] = limit
        self.sessions[root] = Session(job, None)

    @rule()
    def read_all_partitions(self) -> None:
        """The only way to find what was put back because its loop had no seat for it."""
        self.known.add(self.do(self.other.partitions()))

    @rule(target=held, n=st.integers(1, 3), elsewhere=st.booleans())
    def claim(self, n: int, elsewhere: bool) -> Any:
        return multiple(*self.take(n, elsewhere))

    def take(self, n: int, elsewhere: bool) -> Sequence[Claimed]:
        """Claims up to `n` of each partition."""
        store = self.other if elsewhere else self.w.store
        self.do(self.known.hear(store))
        takes = [ClaimRequest(*partition, cursor, n) for partition, cursor in self.known.cursors.items()]
        claims = self.do(store.claim("w1", takes, lease_s=LEASE_S, per_domain=PER_DOMAIN))
        self.known.note(takes, claims)
        for one in claims.sessions:
            session = self.sessions[one.work.session]
            assert session.status is S.QUEUED and one.work.session not in self.pending_children, "it was not ready"
            assert session.job not in self.paused | self.canceled | self.late
            assert not self.is_doomed(session), "its loop was stopped"
            assert one.work.fence > session.fence, "its fence was not raised"
            session.status, session.fence, session.domain = S.RUNNING, one.work.fence, one.domain
            if session.children:
                assert one.work.children is not None
        busy = Counter(session.parent for session in self.sessions.values() if session.status is S.RUNNING)
        for parent in {self.sessions[one.work.session].parent for one in claims.sessions}:
            limit = None if parent is None or parent in self.crowded else self.limit_of(parent)
            assert limit is None or busy[parent] <= limit, "more of a loop than may be out at once"
        return claims.sessions

    def limit_of(self, parent: int) -> int | None:
        job = self.sessions[parent].job
        return self.limits[job] if self.roots[job] == parent else self.inner_limits[job]

    @rule()
    def materialize(self) -> None:
        """Stores one more piece of some long loop."""
        self.one_more_piece()

    def one_more_piece(self) -> None:
        piece = self.do(self.other.materialize())
        wanted = any(not self.is_doomed(self.sessions[id]) for id in self.pending_children)
        assert piece.more is wanted and (piece.stored > 0) is wanted
        stored = {row.id for job in self.roots for row in self.do(self.w.store.sessions(job, limit=10_000))[0]}
        assert len(self.pending_children & stored) == piece.stored
        self.pending_children -= stored

    @rule()
    def sweep(self) -> None:
        """One more slice of some job or loop; what it was is seen by the invariant."""
        doomed, others = self.doomed(), self.reseating() or self.do(self.w.retried())
        swept = self.do(self.other.run_bulk_operations())
        assert swept.more or not (doomed or others)
        self.see_what_ended()
        assert len(self.doomed()) < len(doomed) or others or not doomed

    @rule(data=st.data())
    def be_late(self, data: st.DataObject) -> None:
        """The deadline of a job passes."""
        job = self.some_job(data)
        if job is None or job in self.canceled & self.late:
            return
        changes = JobChanges(frozenset({"deadline_s"}), deadline_s=0.0)
        if self.takes_no_change(job):
            self.refused(self.w.store.change(job, changes))
            return
        self.do(self.w.store.change(job, changes))
        self.late.add(job)
        assert self.do(self.w.store.expire_deadlines())

    @rule(one=held)
    def mark(self, one: Claimed) -> None:
        """An action begins that must not be repeated."""
        kept = self.do(self.w.store.checkpoint(one.work.session, one.work.fence, MARK))
        assert kept is self.is_ours(one)
        if kept:
            self.sessions[one.work.session].marked = True

    @rule(data=st.data(), how=st.sampled_from(["done", "retry"]))
    def settle_unsure(self, data: st.DataObject, how: UnsureAnswer) -> None:
        unsure = [id for id, session in self.sessions.items() if session.status is S.UNSURE]
        if not unsure:
            return
        id = data.draw(st.sampled_from(unsure))
        session = self.sessions[id]
        if how == "retry" and (session.job in self.canceled or self.sums_up(session.parent)):
            self.refused(self.w.store.resolve_unsure(id, how))
            return
        if how == "retry" and self.is_over(session.job):
            self.late.discard(session.job)
        self.do(self.other.resolve_unsure(id, how))
        session.marked = False
        session.status = S.COMPLETED if how == "done" else S.QUEUED
        if how == "retry":
            self.open_again(session.parent)

    @rule(data=st.data())
    def retry_one(self, data: st.DataObject) -> None:
        if not self.sessions:
            return
        id = data.draw(st.sampled_from(sorted(set(self.sessions) - self.pending_children)))
        session = self.sessions[id]
        ending = session.job in self.canceled | self.late and not self.is_over(session.job)
        again = id in self.reopening.get(session.job, ())
        loop = any(self.sessions[child].status in RETRIED for child in session.children)
        if session.status not in RETRIED or ending or again or loop or self.sums_up(session.parent):
            self.refused(self.w.store.retry_session(id))
            return
        if self.is_over(session.job):
            self.canceled.discard(session.job)
            self.late.discard(session.job)
        self.do(self.other.retry_session(id))
        session.status = S.QUEUED
        self.open_again(session.parent)

    @rule(data=st.data(), limit=st.sampled_from(LIMITS))
    def set_concurrency(self, data: st.DataObject, limit: int | None) -> None:
        job = self.some_job(data)
        if job is None:
            return
        if self.takes_no_change(job):
            self.refused(self.w.store.set_concurrency(job, limit))
            return
        self.do(self.w.store.set_concurrency(job, limit))
        self.limits[job] = limit
        root = self.roots[job]
        begun = sum(child.fence > 0 and child.status not in FINAL for child in self.of(job) if child.parent == root)
        if job in self.canceled or self.stops.get(root) or (limit is not None and begun > limit):
            self.crowded.add(root)

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

    @rule(one=consumes(held), n=st.integers(0, 6), stop=st.booleans())
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
        freed = self.do(self.w.store.expire_leases(owner="w1")).sessions
        assert {one.session for one in freed} == running
        self.die(running)

    @rule()
    def let_leases_run_out(self) -> None:
        self.w.clock.now += LEASE_S + 1
        running = {id for id, session in self.sessions.items() if session.status is S.RUNNING}
        assert {one.session for one in self.do(self.w.store.expire_leases()).sessions} == running
        self.die(running)

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
        left = {id for id, one in self.sessions.items() if one.job == job and one.status in RETRIED}
        if not self.is_over(job) or not left:
            self.refused(self.w.store.retry(job))
            return
        self.do(self.w.store.retry(job))
        self.canceled.discard(job)
        self.late.discard(job)
        self.reopening[job] = left
        self.see_what_reopened()
        assert len(left) < len(self.sessions) and not self.is_over(job)

    # --- the model -----------------------------------------------------------------------------------

    def of(self, job: int) -> list[Session]:
        return [session for session in self.sessions.values() if session.job == job]

    def some_job(self, data: st.DataObject) -> int | None:
        return data.draw(st.sampled_from(sorted(self.roots))) if self.roots else None

    def is_over(self, job: int) -> bool:
        return all(session.status in FINAL for session in self.of(job))

    def takes_no_change(self, job: int) -> bool:
        """Return whether it is over, or a part of it has failed by its deadline."""
        return self.is_over(job) or self.do(self.w.store.job(job)).error is not None

    def is_doomed(self, session: Session) -> bool:
        """Return whether it is not over, and a slice that is not done yet will end it."""
        if session.status in FINAL:
            return False
        if session.job in self.late or session.status is S.RUNNING:
            return session.job in self.late
        stopped = session.parent is not None and self.stops.get(session.parent) is True
        return session.job in self.canceled or (stopped and session.status is S.QUEUED and not session.children)

    def reseating(self) -> set[int]:
        """Loops of which some children are still to be held back or let go."""
        waiting = {id for id, one in self.sessions.items() if one.status is S.WAITING and not self.stops.get(id)}
        marked = self.do(self.w.store._db.read(lambda tx: [row.id for row in tx.rows("reseating")]))
        return {id for id in marked if id in waiting and self.sessions[id].job not in self.canceled | self.late}

    def seats_are_those_of_children_that_are_out(self) -> None:
        """Of loops that go on, in a job that does."""
        doomed = self.canceled | self.late
        ids = [id for id, one in self.sessions.items() if one.status is S.WAITING and one.job not in doomed]
        rows = self.do(self.w.store._db.read(lambda tx: tx.rows("loops", ids=tx.many(ids))))
        out = self.do(self.w.store._db.read(lambda tx: tx.conn.execute(_OUT).all()))
        counted = Counter({row.parent: row.n for row in out})
        assert {row.id: row.seats for row in rows if not row.stopped} == {
            row.id: counted[row.id] for row in rows if not row.stopped
        }

    def doomed(self) -> set[int]:
        return {id for id, session in self.sessions.items() if self.is_doomed(session)}

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
        written: CommitResult = self.do(self.w.report(report))
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
        n = len(outcome.fan_out.items)
        known = set(self.sessions)
        rows, _ = self.do(self.w.store.sessions(session.job, limit=10_000))
        new = [row for row in rows if row.id not in known]
        assert [row.parent for row in new] == [id] * min(n, FIRST)
        ids = list(range(new[0].id, new[0].id + n)) if new else []
        assert [row.id for row in new] == ids[:FIRST]
        self.pending_children |= set(ids[FIRST:])
        for child in ids:
            self.sessions[child] = Session(session.job, id)
            session.children.append(child)
        self.stops.pop(id, None)
        if outcome.fan_out.on_error == "stop":
            self.stops[id] = False
        session.marked = False
        session.status = S.WAITING if new else S.QUEUED

    def die(self, some: Collection[int]) -> None:
        """Their leases ended without a report, all in one group: those that go on do so before a loop is stopped."""
        for id in sorted(some, key=lambda id: (self.sessions[id].marked, id)):
            session = self.sessions[id]
            if not session.marked:
                self.give_back(id)
                continue
            session.status = S.UNSURE
            if session.parent is not None:
                self.child_failed(session.parent)
                self.settle(session.parent)

    def sums_up(self, parent: int | None) -> bool:
        """Return whether a worker holds a session that would have to wait again,
        or it stops its loop at this moment.
        """
        while parent is not None:
            status = self.sessions[parent].status
            if status not in FINAL:
                stopping = self.stops.get(parent) is True and status is S.WAITING
                return status is S.RUNNING or (stopping and any(map(self.is_stopped, self.sessions[parent].children)))
            parent = self.sessions[parent].parent
        return False

    def is_stopped(self, id: int) -> bool:
        """Return whether it is a child of a stopped loop that has not begun."""
        session = self.sessions[id]
        return session.status is S.QUEUED and not session.children

    def open_again(self, parent: int | None, *, stopped: bool = False) -> None:
        """A child waits again, and with it those above that had gone on; a loop may stay `stopped` that had not."""
        while parent is not None:
            session = self.sessions[parent]
            before, session.status = session.status, S.WAITING
            if parent in self.stops and (before in FINAL or not stopped):
                self.stops[parent] = False
            if before not in FINAL:
                return
            parent = session.parent

    def give_back(self, id: int) -> None:
        session = self.sessions[id]
        session.status = S.CANCELED if self.unwanted(session) else S.QUEUED
        if session.status is S.CANCELED and session.parent is not None:
            self.settle(session.parent)

    def child_failed(self, parent: int) -> None:
        if self.stops.get(parent) is False:
            self.stops[parent] = True
            if self.sessions[parent].job in self.reopening:
                self.stopped_anew.add(parent)

    def settle(self, parent: int) -> None:
        """A parent goes on once all its children are final, and none is still to be reopened."""
        if self.sessions[parent].job not in self.reopening and self.waits_for_nothing(parent):
            self.sessions[parent].status = S.QUEUED

    def waits_for_nothing(self, id: int) -> bool:
        session = self.sessions[id]
        return session.status is S.WAITING and all(self.sessions[child].status in FINAL for child in session.children)

    def see_what_reopened(self) -> None:
        """Which sessions the last step has opened is the store's choice; that all are in the end, and parents wait for
        them till then, is not."""
        marked = self.do(self.w.retried())
        for job, left in list(self.reopening.items()):
            shown = {row.id: row.status for row in self.do(self.w.store.sessions(job, limit=10_000))[0]}
            opened = [id for id in left if shown[id] not in FINAL]
            assert len(opened) <= 2 * SLICE + 1 or job not in marked  # each with the loop that it is in, and the root
            left.difference_update(opened)
            for id in sorted(opened, reverse=True):  # a parent comes behind its children
                if shown[id] is not S.WAITING:
                    self.sessions[id].status = S.QUEUED
                self.open_again(self.sessions[id].parent, stopped=True)
            for id in filter(self.waits_for_nothing, shown):
                if shown[id] in (S.QUEUED, S.PAUSED):
                    assert not left & self.below(id), "a parent went on before all of its loop was reopened"
                    self.sessions[id].status = S.QUEUED
            if job not in marked:
                if job not in self.canceled | self.late:
                    assert {self.sessions[id].parent for id in left} <= self.stopped_anew, "not all were reopened"
                del self.reopening[job]

    def below(self, id: int) -> set[int]:
        """All descendants of a session."""
        children = self.sessions[id].children
        return {*children, *(one for child in children for one in self.below(child))}

    def see_what_ended(self) -> None:
        """Which of the doomed sessions the last step has ended is the store's choice; how many, and as what, is not."""
        over: dict[int, Status] = {}
        for job in self.roots:
            for row in self.do(self.w.store.sessions(job, limit=10_000))[0]:
                if row.status in FINAL and self.is_doomed(self.sessions[row.id]):
                    over[row.id] = row.status
        unsure = {id for id, status in over.items() if status is S.UNSURE}
        items = [id for id in over if not self.sessions[id].children and id not in unsure]
        assert len(items) <= (SLICE + PART - 1) * (1 + bool(unsure)), "a slice was longer than it may be"
        for id, status in over.items():
            session = self.sessions[id]
            assert status is not S.UNSURE or (session.marked and session.job in self.late)
            assert status is not S.FAILED or session.job in self.late - self.canceled
            session.status = status
            self.pending_children.discard(id)
        for id in unsure:
            parent = self.sessions[id].parent
            if parent is not None:
                self.child_failed(parent)
        for id in over:
            parent = self.sessions[id].parent
            if parent is not None:
                self.settle(parent)

    # --- what always holds -----------------------------------------------------------------------------

    @invariant()
    def everything_is_where_the_model_says(self) -> None:
        self.see_what_reopened()
        self.see_what_ended()
        self.seats_are_those_of_children_that_are_out()
        domains = Counter(session.domain for session in self.sessions.values() if session.status is S.RUNNING)
        assert all(n <= PER_DOMAIN for n in domains.values())
        items = Counter(session.status for session in self.sessions.values() if not session.children)
        told = self.do(self.w.store.counts_by_status())
        assert {status: told.get(("acme", status), 0) for status in FINAL} == {
            status: items[status] for status in FINAL
        }
        for job in self.roots:
            later = Counter(
                self.sessions[id].parent or 0 for id in self.pending_children if self.sessions[id].job == job
            )
            row = self.do(self.w.check_sums(job, later))
            rows, _ = self.do(self.w.store.sessions(job, limit=10_000))
            shown = {one.id: one.status for one in rows}
            wanted = {
                id: S.PAUSED if job in self.paused and session.status is S.QUEUED else session.status
                for id, session in self.sessions.items()
                if session.job == job and id not in self.pending_children
            }
            assert shown == wanted
            over = self.is_over(job)
            assert (row.status in FINAL) is over
            if over:
                self.paused.discard(job)
                assert row.status is self.sessions[self.roots[job]].status

    @invariant()
    def whatever_is_ready_was_told(self) -> None:
        """A dispatcher that has read all partitions once reads only changes, but for what a narrowed loop put back."""
        self.do(self.known.hear(self.w.store))
        crowded = {self.sessions[parent].job for parent in self.crowded}
        for partition in self.do(self.w.store.partitions()):
            cursor = self.known.cursors.get((partition.job, partition.domain))
            assert partition.job in crowded or (cursor is not None and cursor <= partition.cursor), (
                "no dispatcher was told"
            )

    def run_everything_out(self) -> None:
        """Whatever happened before, everything can still be brought to its end: no session is lost."""
        for job in sorted(self.paused):
            if not self.is_over(job):
                self.do(self.w.store.resume(job))
        self.w.clock.now += LEASE_S + DELAY_S + 1
        self.do(self.w.store.expire_leases())
        while self.do(self.w.store.run_bulk_operations()).more:
            pass
        while self.do(self.w.store.materialize()).more:
            pass
        for _ in range(10_000):
            held = self.do(self.w.claim(50))
            if not held and not self.do(self.w.store.run_bulk_operations()).more:
                break
            self.do(self.w.finish(*((one, Outcome(S.COMPLETED)) for one in held)))
        for job in self.roots:
            row = self.do(self.w.check_sums(job))
            assert row.status in FINAL, "a job did not end"
        takes = [ClaimRequest(job, domain, 0, 10) for job in self.roots for domain in range(1, 4)]
        assert self.do(self.w.store.claim("w1", takes, lease_s=LEASE_S)).sessions == ()
