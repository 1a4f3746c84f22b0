"""Reads for lists, maps and charts: jobs by their words, items by their place, ended jobs by spans of time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Outcome, Usage
from shoal.services.errors import NotFound
from shoal.services.store.ids import job_id
from shoal.services.store.records import JobFilter, NewJob
from tests.store_world import BROKEN, DONE, World, spec

S = Status


async def test_jobs_are_found_by_words_of_their_name_goal_address_and_labels(w: World) -> None:
    async def add(host: str, tenant: str = "acme", **fields: object) -> int:
        one = spec(url=f"https://{host}/lamps", **fields)
        (done,) = await w.store.submit([NewJob(tenant, one, host)])
        return done.job

    async def matching_jobs(text: str = "", **wanted: object) -> list[int]:
        return [row.id for row in await w.store.jobs(JobFilter(text=text, **wanted))]

    lamps = await add("shop.example", goal="Read 100% of the LAMPS_", labels={"team": "Red"})
    words = await add("other.example", extract={"goal": "every chair"})
    foreign = await add("shop.example", tenant="other", goal="lamps")
    assert await matching_jobs("lamps") == [foreign, words, lamps]  # the address counts
    assert await matching_jobs("LAMPS of") == [lamps]
    assert await matching_jobs("100%") == await matching_jobs("lamps_") == await matching_jobs("team:red") == [lamps]
    assert await matching_jobs("1_0%") == []
    assert await matching_jobs("chair") == [words]
    assert await matching_jobs(job_id(words)) == [words]
    assert await matching_jobs(site="Shop.example") == [foreign, lamps]
    assert await matching_jobs(site="shop") == []
    assert await matching_jobs("lamps", tenant="acme") == [words, lamps]
    assert await matching_jobs("lamps", site="shop.example", labels={"team": "Red"}) == [lamps]
    named = await add("third.example", name="Every Morning", goal="tables")
    assert await matching_jobs("morning every") == await matching_jobs("MORNING tables") == [named]


async def test_jobs_are_found_by_the_time_of_their_submission(w: World) -> None:
    ids = []
    for _ in range(3):
        ids += [done.job for done in await w.store.submit([NewJob("acme", spec(), "shop.example")])]
        w.clock.now += 60
    first = datetime.fromtimestamp(w.clock.now - 180, UTC)
    second = datetime.fromtimestamp(w.clock.now - 120, UTC)

    async def matching_jobs(**wanted: object) -> list[int]:
        return [row.id for row in await w.store.jobs(JobFilter(**wanted))]

    assert await matching_jobs(since=second) == [ids[2], ids[1]]
    assert await matching_jobs(until=second) == [ids[0]]
    assert await matching_jobs(since=first, until=second) == [ids[0]]


async def test_the_map_of_a_loop_has_a_byte_for_each_item_and_leads_to_its_session(w: World) -> None:
    job, _ = await w.open_loop(5)
    held = await w.claim(2)
    await w.finish((held[1], BROKEN))
    order = list(Status)
    codes = [order[code] for code in await w.store.item_states(job)]
    assert codes == [S.RUNNING, S.FAILED, S.QUEUED, S.QUEUED, S.QUEUED]
    assert await w.store.item_session(job, 1) == held[1].work.session
    for place in (5, 100):
        with pytest.raises(NotFound):
            await w.store.item_session(job, place)
    with pytest.raises(NotFound):
        await w.store.item_states(job, tenant="other")
    with pytest.raises(NotFound):
        await w.store.item_session(job, 0, tenant="other")
    await w.store.pause(job)
    assert {order[code] for code in await w.store.item_states(job)} == {S.RUNNING, S.FAILED, S.PAUSED}


async def test_what_ended_is_summed_up_by_spans_of_time(w: World) -> None:
    w.clock.now = 1_000_000_000.0 - 1_000_000_000 % 3600 + 10
    usage = Usage(model_calls=2, prompt_tokens=100, completion_tokens=10, pages=3)
    for tenant, outcome in (("acme", DONE), ("acme", BROKEN), ("other", Outcome(S.COMPLETED, usage=usage))):
        await w.store.submit([NewJob(tenant, spec(max_attempts=1), "shop.example")])
        (held,) = await w.claim(1)
        w.clock.now += 5
        await w.finish((held, outcome))
    w.clock.now += 3600
    before, mine, now = await w.store.activity(tenant="acme", span_s=3600, spans=3)
    assert (before.jobs, before.success, now.jobs) == (0, None, 0)
    assert (mine.jobs, mine.jobs_completed, mine.items, mine.items_completed, mine.success) == (2, 1, 2, 1, 0.5)
    assert mine.seconds == 10.0
    assert mine.since.timestamp() % 3600 == 0
    every = await w.store.activity(tenant=None, span_s=3600, spans=2)
    assert (every[0].jobs, every[0].prompt_tokens, every[0].completion_tokens) == (3, 100, 10)
    assert (every[0].model_calls, every[0].pages) == (2, 3)


async def test_sites_are_listed_that_run_or_have_a_limit_of_their_own(w: World) -> None:
    job = await w.submit()
    assert await w.store.sites.busiest(10) == []
    (held,) = await w.claim(job=job)
    (site,) = await w.store.sites.busiest(10)
    assert (site.host, site.running, site.most, site.paused_s, site.delay_s) == ("shop.example", 1, None, 0.0, 0.0)
    assert await w.store.sites.busiest(0) == []
    await w.finish((held, DONE))
    assert await w.store.sites.busiest(10) == []
