"""Schedules: each time is fired once by the gateways that see it due, runs do not overlap, old ones go."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from shoal.agent.status import Status
from shoal.services.errors import NotFound, QuotaExceeded, WrongState
from shoal.services.schedules.bands import Deviation
from shoal.services.schedules.figures import RunFigures
from shoal.services.schedules.firing import RunState, plan, times_of
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.database.schedule_tables import schedule
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.sink_records import SinkEnd, SinkState
from shoal.services.store.records import DeliveryFilter, JobFilter, NewJob
from shoal.services.store.schedules import keeping
from shoal.services.store.schedules.firing import MOST_QUEUED
from shoal.services.store.schedules.keys import MOST_KEYS, NewScheduleKey
from shoal.services.store.schedules.records import (
    DueSchedule,
    Fired,
    Firing,
    Judged,
    QueuedStart,
    RunDifference,
    RunRow,
    RunVerdict,
    ScheduleRow,
)
from shoal.services.store.store import Store
from tests.store_world import BROKEN, DONE, World, spec

HOUR_S = 3600.0
R = RunState


def hourly(name: str = "prices", **fields: Any) -> ScheduleSpec:
    """A schedule that comes every hour, from the moment on at which it is stored."""
    job = {"url": "https://shop.example/", "goal": "read it"} | fields.pop("job", {})
    return ScheduleSpec.model_validate({"name": name, "job": job, "every": "1h"} | fields)


async def put(w: World, **fields: Any) -> ScheduleRow:
    row, _ = await w.store.schedules.put("acme", hourly(**fields), "ada")
    return row


def job_of(row: ScheduleRow) -> NewJob:
    return NewJob(row.tenant, row.spec.job, "shop.example")


def firing_of(due: DueSchedule, now: float, **how: Any) -> Firing:
    planned = plan(times_of(due.row.spec, due.row.start), due.due_at, now, due.row.spec.catch_up)
    return replace(Firing(due, planned, job_of(due.row) if planned.run_at is not None else None), **how)


async def fire(store: Store, **how: Any) -> list[Fired]:
    """Return what a gateway does with all that is due."""
    now, due = await store.schedules.due()
    fired = await store.schedules.fire([firing_of(each, now, **how) for each in due])
    starts = [QueuedStart(run, job_of(run.row)) for run in await store.schedules.startable()]
    return [*fired, *await store.schedules.start_queued(starts)]


async def pass_hours(w: World, n: float = 1, **how: Any) -> list[Fired]:
    w.clock.now += n * HOUR_S
    return await fire(w.store, **how)


async def runs(w: World, name: str = "prices") -> list[RunRow]:
    """A schedule's runs, the oldest first."""
    return (await w.store.schedules.runs("acme", name, limit=1_000))[::-1]


async def states(w: World, name: str = "prices") -> list[RunState]:
    return [run.state for run in await runs(w, name)]


async def test_a_schedule_comes_back_as_it_was_put(w: World) -> None:
    began = w.clock.now
    given = hourly(bands={"items": 0.3}, job={"labels": {"team": "a"}})
    row, created = await w.store.schedules.put("acme", given, "ada")
    assert created and row == await w.store.schedules.get("acme", "prices")
    assert (row.spec, row.created_by, row.tenant) == (given, "ada", "acme")
    assert row.due_at is not None and row.due_at.timestamp() == began + HOUR_S
    assert await w.store.schedules.next_due_in_s() == HOUR_S
    assert await w.store.schedules.due() == (began, [])
    same, created = await w.store.schedules.put("acme", given, "bob")
    assert not created and (same.id, same.due_at, same.created_by) == (row.id, row.due_at, "ada")


async def test_a_tenant_has_no_more_schedules_than_it_may(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_SCHEDULES", 2)
    for name in ("a", "b", "a"):  # to change one is no further one
        await put(w, name=name)
    with pytest.raises(QuotaExceeded, match="at most 2 are kept"):
        await put(w, name="c")
    assert (await w.store.schedules.put("other", hourly("c")))[1], "of its own"


async def test_another_tenant_sees_none_of_it(w: World) -> None:
    await put(w)
    store = w.store.schedules
    for call in (
        store.get("other", "prices"),
        store.pause("other", "prices", True),
        store.fire_now("other", "prices"),
        store.accept("other", "prices"),
        store.runs("other", "prices"),
        store.newest_completed("other", "prices"),
        store.drop("other", "prices"),
    ):
        with pytest.raises(NotFound):
            await call
    assert await store.listed("other") == []
    other, created = await store.put("other", hourly())
    assert created and other.id != (await store.get("acme", "prices")).id


async def test_schedules_are_listed_by_name_in_pages(w: World) -> None:
    for name in ("c", "a", "b"):
        await put(w, name=name)
    assert [row.spec.name for row in await w.store.schedules.listed("acme", limit=2)] == ["a", "b"]
    assert [row.spec.name for row in await w.store.schedules.listed("acme", after="b")] == ["c"]


async def test_a_time_that_has_come_is_fired_with_its_job_and_the_next_time(w: World) -> None:
    row = await put(w)
    began = w.clock.now
    w.clock.now += HOUR_S + 2
    (fired,) = await fire(w.store)
    assert (fired.state, fired.name, fired.late_s, fired.tenant) == (R.STARTED, "prices", 2.0, "acme")
    assert fired.job is not None
    job = await w.store.job(fired.job)
    assert job.spec.idempotency_key == f"schedule:{row.id}:2027-01-15T09:00:00Z"
    assert (job.tenant, job.submitted_by, job.status) == ("acme", "ada", Status.QUEUED)
    (run,) = await runs(w)
    assert (run.state, run.job, run.status, run.over) == (R.STARTED, fired.job, Status.QUEUED, False)
    assert (run.at.timestamp(), run.late_s) == (began + HOUR_S, 2.0)
    of_job = await w.store.schedules.run_of_job(fired.job)
    assert of_job is not None and (of_job.name, of_job.run) == ("prices", run)
    assert (await w.store.schedules.get("acme", "prices")).due_at is not None
    assert await w.store.schedules.next_due_in_s() == HOUR_S - 2
    assert await fire(w.store) == []


async def test_gateways_that_see_the_same_time_due_fire_it_once(w: World) -> None:
    for n in range(5):
        await put(w, name=f"s{n}")
    stores = [w.store, await w.another(), await w.another()]
    w.clock.now += HOUR_S
    fired = await asyncio.gather(*(fire(stores[n % 3]) for n in range(9)))
    assert sorted(each.name for group in fired for each in group) == [f"s{n}" for n in range(5)]
    assert len(await w.store.jobs(_all())) == 5


async def test_what_a_gateway_found_out_is_void_once_the_schedule_was_changed(w: World) -> None:
    await put(w)
    w.clock.now += HOUR_S
    now, (due,) = await w.store.schedules.due()
    stale = firing_of(due, now)
    w.clock.now += 1
    await put(w, overlap="queue")
    assert await w.store.schedules.fire([stale]) == []
    assert len(await fire(w.store)) == 1
    w.clock.now += HOUR_S
    now, (due,) = await w.store.schedules.due()
    await w.store.schedules.drop("acme", "prices")
    assert await w.store.schedules.fire([firing_of(due, now)]) == []


async def test_a_run_is_skipped_while_the_one_before_goes_on(w: World) -> None:
    await put(w, overlap="skip")
    await pass_hours(w)
    await pass_hours(w)
    assert await states(w) == [R.STARTED, R.SKIPPED]
    await w.run_out()
    await pass_hours(w)
    assert await states(w) == [R.STARTED, R.SKIPPED, R.STARTED]


async def test_runs_queue_and_start_one_behind_the_other(w: World) -> None:
    await put(w, overlap="queue")
    for _ in range(3):
        await pass_hours(w)
    assert await states(w) == [R.STARTED, R.QUEUED, R.QUEUED]
    assert await w.store.schedules.startable() == []
    await w.run_out()
    (fired,) = await fire(w.store)
    assert (fired.state, fired.late_s) == (R.STARTED, HOUR_S)
    assert [run.late_s for run in await runs(w)] == [0.0, 0.0, 0.0], "it was its turn that came later"
    assert await states(w) == [R.STARTED, R.STARTED, R.QUEUED]
    assert await fire(w.store) == []
    await w.run_out()
    assert len(await fire(w.store)) == 1
    keys = [job.spec.idempotency_key for job in await w.store.jobs(_all())]
    assert len({*keys}) == 3


async def test_a_queued_run_is_started_once_by_gateways_that_see_its_turn(w: World) -> None:
    await put(w, overlap="queue")
    await pass_hours(w)
    await pass_hours(w)
    await w.run_out()
    (queued,) = await w.store.schedules.startable()
    start = QueuedStart(queued, job_of(queued.row))
    other = await w.another()
    told = await asyncio.gather(*((w.store, other)[n % 2].schedules.start_queued([start]) for n in range(4)))
    assert [len(each) for each in told].count(1) == 1 and len(await w.store.jobs(_all())) == 2


async def test_no_more_than_so_many_runs_wait(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_QUEUED == 100
    monkeypatch.setattr("shoal.services.store.schedules.firing.MOST_QUEUED", 2)
    await put(w, overlap="queue")
    for _ in range(4):
        await pass_hours(w)
    assert await states(w) == [R.STARTED, R.QUEUED, R.QUEUED, R.SKIPPED]
    assert (await runs(w))[-1].why == "2 runs wait already"


async def test_a_run_takes_the_place_of_the_one_before(w: World) -> None:
    await put(w, overlap="cancel")
    await pass_hours(w)
    await pass_hours(w)
    first, second = await runs(w)
    assert (first.state, first.status) == (R.STARTED, Status.CANCELED)
    assert (second.state, second.status) == (R.STARTED, Status.QUEUED)


async def test_a_run_that_cannot_be_submitted_yet_waits_until_it_can(w: World) -> None:
    await put(w)
    await pass_hours(w, waits="the tenant's queue is full")
    (run,) = await runs(w)
    assert (run.state, run.why, run.job) == (R.STARTED, "", run.job), "its turn came in the same look"
    w.clock.now += HOUR_S
    now, (due,) = await w.store.schedules.due()
    await w.run_out()
    (fired,) = await w.store.schedules.fire([firing_of(due, now, waits="full")])
    assert (fired.state, fired.job, (await runs(w))[-1].why) == (R.QUEUED, None, "full")
    assert [run.at for run in await w.store.schedules.startable()] == [due.due_at]


async def test_a_run_whose_job_cannot_be_submitted_says_why(w: World) -> None:
    await put(w)
    (fired,) = await pass_hours(w, job=None, refusal="no version is active")
    (run,) = await runs(w)
    assert (fired.state, run.why, run.over) == (R.REFUSED, "no version is active", True)
    assert await w.store.jobs(_all()) == []


async def test_times_that_passed_are_missed_and_one_may_be_made_up_for(w: World) -> None:
    await put(w, name="none")
    await put(w, name="one", catch_up="one")
    w.clock.now += 3.5 * HOUR_S
    await fire(w.store)
    (missed,) = await runs(w, "none")
    assert (missed.state, missed.times, missed.job) == (R.MISSED, 3, None)
    assert (missed.until - missed.at).total_seconds() == 2 * HOUR_S
    before, made_up = await runs(w, "one")
    assert (before.state, before.times, made_up.state) == (R.MISSED, 2, R.STARTED)
    assert await w.store.schedules.next_due_in_s() == 0.5 * HOUR_S


async def test_a_schedule_that_cannot_be_read_keeps_no_other_from_its_time(w: World) -> None:
    await put(w, name="old")
    await put(w)

    def spoil(tx: Tx) -> None:
        tx.conn.execute(update(schedule).where(schedule.c.name == "old").values(spec='{"name": "old", "gone": 1}'))

    await w.store.schedules._db.write(spoil)
    assert [(each.name, each.state) for each in await pass_hours(w)] == [("prices", R.STARTED)]
    assert await w.store.schedules.next_due_in_s() == HOUR_S, "it is not looked at again and again"
    assert [row.spec.name for row in await w.store.schedules.listed("acme")] == ["prices"]
    with pytest.raises(WrongState, match=r"'old' cannot be read .*hand it in again, or delete it"):
        await w.store.schedules.get("acme", "old")
    row, created = await w.store.schedules.put("acme", hourly("old"), "ada")
    assert not created and row.due_at is not None
    await w.store.schedules.drop("acme", "old")


async def test_a_paused_schedule_does_not_fire_and_goes_on_from_its_next_time(w: World) -> None:
    await put(w)
    assert (await w.store.schedules.pause("acme", "prices", True)).due_at is None
    assert await pass_hours(w, 2.5) == []
    with pytest.raises(WrongState, match="is paused: resume it first"):
        await w.store.schedules.fire_now("acme", "prices")
    row = await w.store.schedules.pause("acme", "prices", False)
    assert not row.spec.paused and row.due_at is not None
    assert row.due_at.timestamp() == w.clock.now + 0.5 * HOUR_S
    await pass_hours(w, 0.5)
    assert await states(w) == [R.STARTED]


async def test_queued_runs_of_a_paused_schedule_wait(w: World) -> None:
    await put(w, overlap="queue")
    await pass_hours(w)
    await pass_hours(w)
    await w.run_out()
    await w.store.schedules.pause("acme", "prices", True)
    assert await w.store.schedules.startable() == []
    await w.store.schedules.pause("acme", "prices", False)
    assert len(await w.store.schedules.startable()) == 1


async def test_fired_at_once_it_keeps_its_own_times(w: World) -> None:
    await put(w, overlap="queue")
    for _ in range(2):
        await w.store.schedules.fire_now("acme", "prices")
        w.clock.now += 0.01
        await fire(w.store)
    assert await states(w) == [R.STARTED, R.QUEUED]
    row = await w.store.schedules.get("acme", "prices")
    assert row.due_at is not None and row.due_at.timestamp() == row.start + HOUR_S


async def test_other_times_hold_from_now_on_and_a_time_is_never_due_again(w: World) -> None:
    await put(w)
    await pass_hours(w)
    w.clock.now -= 10  # a clock that was set back
    began = (await runs(w))[-1].at.timestamp()
    row, _ = await w.store.schedules.put("acme", ScheduleSpec(name="prices", job=spec(), cron="* * * * *"))
    assert row.due_at is not None and row.due_at.timestamp() > began


async def test_runs_beyond_those_kept_go_with_their_jobs(w: World) -> None:
    await put(w, keep=2)
    kept = []
    for _ in range(4):
        (fired,) = await pass_hours(w)
        kept.append(fired.job)
        await w.run_out()
        await judge_all(w)
    assert [run.job for run in await runs(w)] == kept[2:]
    assert {job.id for job in await w.store.jobs(_all())} == {*kept[2:]}


async def test_a_run_that_goes_on_is_kept_however_old_it_is(w: World) -> None:
    await put(w, keep=2, overlap="skip")
    for _ in range(4):
        await pass_hours(w)
    assert await states(w) == [R.STARTED, R.SKIPPED, R.SKIPPED, R.SKIPPED]
    assert len(await w.store.jobs(_all())) == 1


async def test_a_dropped_schedule_leaves_its_jobs_and_never_its_number(w: World) -> None:
    first = await put(w)
    await pass_hours(w)
    await w.store.schedules.drop("acme", "prices")
    assert len(await w.store.jobs(_all())) == 1
    again = await put(w)
    assert again.id > first.id and await runs(w) == []


async def test_keys_made_at_once_are_counted_and_go_with_their_schedule(w: World) -> None:
    await put(w)

    async def make(n: int) -> int | None:
        try:
            asked = NewScheduleKey(f"key {n}", f"hash{n}", None, "")
            return (await w.store.schedules.create_key("acme", "prices", asked)).id
        except WrongState:
            return None

    made = [number for number in await asyncio.gather(*map(make, range(MOST_KEYS + 5))) if number is not None]
    assert len(made) == MOST_KEYS
    assert [key.id for key in await w.store.schedules.keys("acme", "prices")] == sorted(made)
    await w.store.schedules.revoke_key("acme", "prices", made[0])
    assert await make(99) is not None, "one made room"
    await w.store.schedules.drop("acme", "prices")
    assert all(key.revoked_at is not None for key in await w.store.keys())
    await put(w)
    assert await w.store.schedules.keys("acme", "prices") == []
    with pytest.raises(NotFound, match="has no key"):
        await w.store.schedules.revoke_key("acme", "prices", made[1])


# --- what a run gave ---------------------------------------------------------------------------------------


async def judge_all(w: World, records: int = 10, verdict: RunVerdict | None = None) -> list[bool]:
    """Writes that the runs which are over gave so many records."""
    told = []
    for run in await w.store.schedules.to_judge():
        assert run.job is not None
        figures = RunFigures(1, 1, records) if run.status is Status.COMPLETED else None
        told.append(await w.store.schedules.judged(replace(await judgement(w, run), figures=figures, verdict=verdict)))
    return told


async def judgement(w: World, run: RunRow) -> Judged:
    """Return what a gateway has found out about a run whose job has just ended, or is gone."""
    assert run.job is not None
    finished_at = None if run.status is None else (await w.store.job(run.job)).finished_at
    return Judged(run.schedule, run.at.timestamp(), run.job, "acme", finished_at, None, None)


DEGRADED = RunVerdict((Deviation("items", "0 records; 10 were usual"),), before="a1", now="a2")


async def test_a_run_is_judged_once_its_job_is_over(w: World) -> None:
    await put(w)
    await pass_hours(w)
    assert await w.store.schedules.to_judge() == []
    await w.run_out()
    (run,) = await w.store.schedules.to_judge()
    assert run.job is not None and await w.store.schedules.history(run) == []
    done = replace(await judgement(w, run), figures=RunFigures(1, 1, 7))
    assert sorted(await asyncio.gather(*(w.store.schedules.judged(done) for _ in range(3)))) == [False, False, True]
    (run,) = await runs(w)
    assert run.over and run.figures == RunFigures(1, 1, 7) and run.verdict is None
    assert (await w.store.schedules.newest_completed("acme", "prices")).job == run.job


async def test_a_degraded_run_is_told_of_and_is_no_measure_of_later_ones(w: World) -> None:
    hook = {"url": "https://hooks.example/in", "events": ["job.degraded"]}
    await put(w, job={"webhook": hook})
    jobs = []
    for verdict in (None, DEGRADED, None):
        (fired,) = await pass_hours(w)
        jobs.append(fired.job)
        await w.run_out()
        (run,) = await w.store.schedules.to_judge()
        before = [good.job for good in await w.store.schedules.history(run)]
        await judge_all(w, verdict=verdict)
    assert before == jobs[:1], "the degraded one is left out"
    assert [run.verdict for run in await runs(w)] == [None, DEGRADED, None]
    (told,) = await w.store.claim_deliveries(10, lease_s=30.0, each=10, under_way={})
    body = json.loads(told.body)
    assert (told.event, body["type"], body["job"]) == ("job.degraded", "job.degraded", f"j{jobs[1]}")
    assert body["schedule"] == "prices"
    assert body["reasons"] == [{"kind": "items", "field": "", "text": "0 records; 10 were usual"}]
    assert [event.name for event in await w.store.events(job=jobs[1])].count("job.degraded") == 1
    assert (await w.store.schedules.newest_completed("acme", "prices")).job == jobs[2]


async def test_other_records_than_those_of_the_last_good_run_are_told_once(w: World) -> None:
    await put(w, job={"webhook": {"url": "https://hooks.example/in", "events": ["records.changed"]}})
    told = []
    for counts in ({"appeared": 1, "went": 0, "changed": 2, "unclear": 0}, {"appeared": 0, "unclear": 3}, None):
        await pass_hours(w)
        await w.run_out()
        (run,) = await w.store.schedules.to_judge()
        assert run.job is not None
        assert await w.store.is_told(await w.store.job(run.job), "records.changed")
        difference = None if counts is None else RunDifference(7, counts)
        done = replace(await judgement(w, run), figures=RunFigures(1, 1, 9), changes=difference)
        told += [await w.store.schedules.judged(done), await w.store.schedules.judged(done)]
    assert told == [True, False] * 3
    (message,) = await w.store.claim_deliveries(10, lease_s=30.0, each=10, under_way={})
    body = json.loads(message.body)
    assert (body["type"], body["schedule"], body["since"]) == ("records.changed", "prices", "j7")
    assert body["changes"] == {"appeared": 1, "went": 0, "changed": 2, "unclear": 0}


async def test_a_letter_tells_of_the_runs_of_one_schedule(w: World) -> None:
    letter = {"by": "email", "to": "ops@example.com", "every_s": 86_400, "events": ["job.finished"]}
    for name in ("prices", "stocks"):  # the same work by two schedules
        await put(w, name=name, job={"notify": [letter]})
    runs_of = []
    for _ in range(2):
        runs_of.append([fired.job for fired in await pass_hours(w)])
        await w.run_out()
    letters = [json.loads(row.body)["events"] for row in await w.store.deliveries(DeliveryFilter())]
    by_schedule = [list(jobs) for jobs in zip(*runs_of, strict=True)]
    assert sorted([event["job"] for event in events] for events in letters) == [
        [f"j{job}" for job in jobs] for jobs in by_schedule
    ]


async def test_a_degraded_run_that_is_accepted_is_what_later_ones_are_held_against(w: World) -> None:
    await put(w)
    with pytest.raises(WrongState, match="no run that completed"):
        await w.store.schedules.accept("acme", "prices")
    jobs = []
    for verdict in (None, DEGRADED):
        (fired,) = await pass_hours(w)
        jobs.append(fired.job)
        await w.run_out()
        await judge_all(w, verdict=verdict)
    await w.store.schedules.accept("acme", "prices")
    assert [run.verdict for run in await runs(w)] == [None, None]
    await pass_hours(w)
    await w.run_out()
    (run,) = await w.store.schedules.to_judge()
    assert [good.job for good in await w.store.schedules.history(run)] == jobs[1:]


async def test_a_run_whose_job_is_retried_is_judged_anew(w: World) -> None:
    await put(w)
    (fired,) = await pass_hours(w)
    assert fired.job is not None
    await w.run_out(BROKEN)
    await judge_all(w)
    assert (await runs(w))[0].over
    await w.store.retry(fired.job)
    assert not (await runs(w))[0].over and await w.store.schedules.to_judge() == []
    await pass_hours(w)
    assert await states(w) == [R.STARTED, R.SKIPPED], "it goes on"
    await w.run_out(DONE)
    assert await judge_all(w, records=3) == [True]
    assert (await runs(w))[0].figures == RunFigures(1, 1, 3)


async def test_a_run_whose_job_was_deleted_is_over(w: World) -> None:
    await put(w)
    (fired,) = await pass_hours(w)
    assert fired.job is not None
    await w.run_out()
    await w.store.delete(fired.job)
    (run,) = await w.store.schedules.to_judge()
    assert (run.job, run.status) == (fired.job, None)
    await judge_all(w)
    with pytest.raises(NotFound, match="no run of the schedule 'prices' has completed"):
        await w.store.schedules.newest_completed("acme", "prices")
    await pass_hours(w)
    assert await states(w) == [R.STARTED, R.STARTED]


def _all() -> JobFilter:
    return JobFilter(limit=1_000)


# --- sinks of runs -----------------------------------------------------------------------------------------

S = SinkState
SINKS = [{"http": {"url": "https://in.example/a"}}, {"http": {"url": "https://in.example/b"}, "degraded": True}]


async def sinks_of(w: World, job: int | None) -> list[SinkState]:
    assert job is not None
    return [sink.state for sink in await w.store.sinks.of_job(job)]


async def run_with_sinks(w: World) -> int:
    """A run that is over, and not judged yet."""
    (fired,) = await pass_hours(w)
    assert fired.job is not None
    await w.run_out()
    return fired.job


async def claimed(w: World) -> list[tuple[int, int]]:
    """Sinks that are due, by job and place; they are written at once."""
    told = await w.store.sinks.claim(9, lease_s=60.0, each=9)
    for sink in told:
        assert await w.store.sinks.end(sink, SinkEnd(S.DONE))
    return [(sink.job, sink.nth) for sink in told]


async def test_a_sink_waits_for_the_verdict_on_its_run(w: World) -> None:
    await put(w, job={"sinks": SINKS})
    job = await run_with_sinks(w)
    assert await sinks_of(w, job) == [S.UNJUDGED, S.WAITING]
    assert await claimed(w) == [(job, 1)], "which takes any run"
    with pytest.raises(WrongState, match="waits until the run is held against those before it"):
        await w.store.sinks.again(job, 0)
    await judge_all(w)
    assert await claimed(w) == [(job, 0)]
    assert await sinks_of(w, job) == [S.DONE, S.DONE]


async def test_records_of_a_degraded_run_are_held_back_and_told_of(w: World) -> None:
    hook = {"url": "https://hooks.example/in", "events": ["job.degraded"]}
    await put(w, job={"sinks": SINKS, "webhook": hook})
    job = await run_with_sinks(w)
    await judge_all(w, verdict=DEGRADED)
    held, _ = await w.store.sinks.of_job(job)
    assert (held.state, held.error) == (S.HELD, "the run is degraded: 0 records; 10 were usual")
    assert held.ended_at is not None and await claimed(w) == [(job, 1)]
    (told,) = await w.store.claim_deliveries(10, lease_s=30.0, each=10, under_way={})
    assert json.loads(told.body)["held"] == [{"sink": 0, "place": "http: https://in.example/a"}]
    await w.store.sinks.again(job, 0)
    assert await claimed(w) == [(job, 0)], "its owner asked for it"


async def test_accepting_a_degraded_run_writes_what_was_held_back(w: World) -> None:
    await put(w, job={"sinks": SINKS[:1]})
    first = await run_with_sinks(w)
    await judge_all(w, verdict=DEGRADED)
    job = await run_with_sinks(w)
    await judge_all(w, verdict=DEGRADED)
    await w.store.schedules.accept("acme", "prices")
    assert await claimed(w) == [(job, 0)]
    assert await sinks_of(w, first) == [S.HELD], "the newest run alone is accepted"
    await w.store.sinks.again(first, 0)
    assert await claimed(w) == [(first, 0)], "as the notice about it says"


async def test_a_sink_of_a_run_whose_schedule_is_gone_waits_for_no_verdict(w: World) -> None:
    await put(w, job={"sinks": SINKS[:1]})
    over = await run_with_sinks(w)
    await w.store.schedules.drop("acme", "prices")
    assert await claimed(w) == [(over, 0)]
    await put(w, job={"sinks": SINKS[:1]})
    (fired,) = await pass_hours(w)
    await w.store.schedules.drop("acme", "prices")
    await w.run_out()
    assert fired.job is not None and await claimed(w) == [(fired.job, 0)]


async def test_a_run_that_did_not_complete_holds_nothing_back(w: World) -> None:
    await put(w, job={"sinks": SINKS[:1]})
    (fired,) = await pass_hours(w)
    await w.run_out(BROKEN)
    await judge_all(w)
    assert await sinks_of(w, fired.job) == [S.SKIPPED] and await claimed(w) == []


async def test_what_was_held_back_of_a_run_that_goes_on_is_judged_anew(w: World) -> None:
    await put(w, job={"sinks": SINKS[:1], "loop": {"values": ["a", "b"]}})
    (fired,) = await pass_hours(w)
    assert fired.job is not None
    await w.run_out(BROKEN)
    await w.store.retry(fired.job)
    await w.run_out(DONE)
    assert await sinks_of(w, fired.job) == [S.UNJUDGED]
    await judge_all(w, verdict=DEGRADED)
    assert await sinks_of(w, fired.job) == [S.HELD]


async def test_a_verdict_on_a_job_that_is_under_way_counts_for_nothing(w: World) -> None:
    await put(w)
    (fired,) = await pass_hours(w)
    (run,) = await runs(w)
    assert fired.job is not None and (await w.store.job(fired.job)).finished_at is None
    early = Judged(run.schedule, run.at.timestamp(), fired.job, "acme", None, RunFigures(1, 1, 7), None)
    assert not await w.store.schedules.judged(early) and not (await runs(w))[0].over


@pytest.mark.parametrize("over", [False, True])
async def test_a_verdict_on_what_a_job_gave_before_it_was_retried_counts_for_nothing(w: World, over: bool) -> None:
    await put(w, job={"sinks": SINKS[:1], "loop": {"values": ["a", "b"]}})
    (fired,) = await pass_hours(w)
    assert fired.job is not None
    await w.run_out(BROKEN)
    (run,) = await w.store.schedules.to_judge()
    stale = replace(await judgement(w, run), figures=RunFigures(2, 0, 0))
    w.clock.now += 1.0
    await w.store.retry(fired.job)
    if over:
        await w.run_out(DONE)
    assert not await w.store.schedules.judged(stale)
    assert await sinks_of(w, fired.job) == [S.UNJUDGED if over else S.SKIPPED] and not (await runs(w))[0].over
    await w.run_out(DONE)
    assert await judge_all(w, verdict=DEGRADED) == [True] and await sinks_of(w, fired.job) == [S.HELD]
