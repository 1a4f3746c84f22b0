"""The blocking client against a served gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

import shoal
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.client import AsyncClient
from shoal.embedded import run, run_async
from shoal.services.store.jobs.sink_records import SinkEnd, SinkState
from shoal.sync import Client
from tests.gateway_world import completed, failed, loop_of
from tests.unit.cli.conftest import Served, no_logging, no_settings, served

__all__ = ["no_logging", "no_settings", "served"]  # fixtures

SPEC = {"url": "https://shop.example/", "loop": {"values": ["a", "b"]}}


def test_a_program_without_asyncio_submits_follows_and_reads(served: Served) -> None:
    served.work(loop_of(["a", "b"], lambda work: completed({"name": work.item.value if work.item else ""})))
    with Client(served.url) as client:
        job = client.submit(SPEC)
        assert [result.record for result in client.results(job.id)] == [{"name": "a"}, {"name": "b"}]
        assert [event.name for event in client.events(job.id)][-1] == "job.finished"
        for event in client.events(job.id):
            assert event.name == "job.submitted"
            break  # a loop that is left early ends its stream
        assert client.wait(job.id, timeout_s=20).succeeded
        assert len(client.to_pandas(job.id)) == 2
        with pytest.raises(shoal.NotFound):
            client.job("j9")
    with pytest.raises(RuntimeError, match="closed"):
        client.job("j1")


async def test_the_blocking_client_works_where_a_loop_runs(served: Served) -> None:
    with Client(served.url) as client:
        assert client.jobs() == []


def test_jobs_are_called_by_their_names_and_found_by_them(served: Served) -> None:
    with Client(served.url) as client:
        named, _ = client.submit({**SPEC, "name": "Kettles"}), client.submit(SPEC)
        assert [(job.id, job.name) for job in client.jobs(text="kettles")] == [(named.id, "Kettles")]
        assert [job.name for job in client.jobs()] == [None, "Kettles"]
        assert client.job(named.id).name == "Kettles"


def test_keys_of_schedules_and_whom_a_tenant_tells(served: Served) -> None:
    with Client(served.url) as client:
        client.schedules.put({"name": "prices", "every": "1h", "job": {**SPEC, "goal": "look"}})
        key = client.schedules.make_key("prices", "sheet")
        assert [each.id for each in client.schedules.keys("prices")] == [key.id]
        client.schedules.revoke_key("prices", key.id)
        assert client.schedules.keys("prices") == []
        assert [told["by"] for told in client.set_notify([{"by": "slack", "to": "https://chat.example/in"}])] == [
            "slack"
        ]
        assert len(client.notify()) == 1 and client.set_notify([]) == []


def test_one_session_is_tried_again(served: Served) -> None:
    with Client(served.url) as client:
        job = client.submit(SPEC)
        served.do(served.world.run(lambda work: failed()))
        session = client.job(job.id).root_session
        assert client.retry_session(session).status is Status.QUEUED
        with pytest.raises(shoal.Conflict, match="queued and cannot be retried"):
            client.retry_session(session)


def test_a_sink_is_written_again(served: Served) -> None:
    with Client(served.url) as client:
        job = client.submit({**SPEC, "sinks": [{"http": {"url": "https://me.example/in"}}]}).id
        served.do(served.world.run(loop_of(["a", "b"], lambda work: completed({"n": 1}))))
        (row,) = served.do(served.world.store.sinks.claim(1, lease_s=60, each=1))
        served.do(served.world.store.sinks.end(row, SinkEnd(SinkState.DONE)))
        assert client.write_again(job, 0).state == "waiting"
        with pytest.raises(shoal.Conflict, match="waits to be written already"):
            client.write_again(job, 0)


async def test_results_come_while_the_job_runs_in_the_order_of_the_items(served: Served) -> None:
    values, here = ["a", "b", "c", "d"], served.world

    def each(work: Work) -> Outcome:
        assert work.item is not None
        return failed() if work.item.value == "c" else completed({"name": work.item.value})

    async with AsyncClient(served.url) as client:
        await client.submit({"url": "https://shop.example/", "loop": {"values": values}})
        (root,) = served.do(here.claim())
        served.do(here.finish([root], loop_of(values, each)))
        items = {work.item.value: work for work in served.do(here.claim()) if work.item}
        seen = aiter(client.results("j1"))
        served.do(here.finish([items["b"], items["a"]], each))
        async with asyncio.timeout(60):
            assert [(await anext(seen)).record for _ in range(2)] == [{"name": "a"}, {"name": "b"}]
            third = asyncio.ensure_future(anext(seen))
            served.do(here.finish([items["d"]], each))
            assert [event.name async for event in until(client, "j1", ended=3)]
            assert not third.done(), "an item before it has not ended"
            served.do(here.finish([items["c"]], each))
            assert (await third).error is not None
            served.do(here.run(loop_of(values, each)))
            assert [result.record async for result in seen] == [{"name": "d"}]


async def until(client: AsyncClient, job: str, *, ended: int) -> AsyncIterator[shoal.Event]:
    """The events of a job up to the one that tells of so many ended items."""
    async for event in client.events(job):
        yield event
        if event.counts is not None and event.counts.final >= ended:
            return


def test_the_address_comes_from_the_environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client() as client:  # SHOAL_GATEWAY
        assert client.url == served.url
    monkeypatch.setenv("SHOAL_GATEWAY", "http://127.0.0.1:9")
    monkeypatch.setenv("SHOAL_URL", served.url)
    with Client() as client:
        assert client.url == served.url
    monkeypatch.delenv("SHOAL_URL")
    monkeypatch.delenv("SHOAL_GATEWAY")
    with pytest.raises(shoal.GatewayUnreachable, match="SHOAL_URL"):
        Client()
    with pytest.raises(ValueError, match="http"):
        Client("shop.example")


def test_run_gives_the_records_of_one_job(served: Served) -> None:
    served.work(loop_of(["a", "b"], lambda work: completed({"name": work.item.value if work.item else ""})))
    result = run(SPEC)
    assert result.records == [{"name": "a"}, {"name": "b"}]
    assert result.job.succeeded


def test_run_of_a_job_that_fails_raises_with_what_there_is(served: Served) -> None:
    served.work(lambda work: failed())
    with pytest.raises(shoal.JobFailed, match="navigation_timeout") as caught:
        run({"url": "https://shop.example/", "goal": "look"})
    assert caught.value.job.status == "failed"
    assert caught.value.results[0].error is not None


async def test_run_says_how_it_is_called_where_a_loop_runs(served: Served) -> None:
    with pytest.raises(shoal.ShoalError, match=r"await shoal\.run_async"):
        run(SPEC)


async def test_a_run_that_is_canceled_cancels_its_job(served: Served) -> None:
    running = asyncio.create_task(run_async(SPEC))
    async with AsyncClient(served.url) as client:
        async with asyncio.timeout(60):
            while not await client.jobs():
                await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await client.job("j1")).status == "canceled"


def test_a_wrong_field_is_told_before_a_cluster_is_started(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_GATEWAY")
    monkeypatch.setattr("shoal.embedded.embedded_cluster", lambda *_: pytest.fail("a cluster was started"))
    with pytest.raises(shoal.BadRequest) as caught:
        run({"url": "https://shop.example/", "goal": "look", "max_step": 5})
    assert caught.value.faults[0].field == "max_step"


async def test_the_answer_of_a_loop_s_job_comes_once_though_its_items_came_before(served: Served) -> None:
    values, here = ["a", "b"], served.world

    def each(work: Work) -> Outcome:
        assert work.item is not None
        return completed({"name": work.item.value})

    def end(work: Work) -> Outcome:
        return replace(completed(), answer="both") if work.children is not None else loop_of(values, each)(work)

    async with AsyncClient(served.url) as client:
        await client.submit({"url": "https://shop.example/", "loop": {"values": values}})
        (root,) = served.do(here.claim())
        served.do(here.finish([root], end))
        items = {work.item.value: work for work in served.do(here.claim()) if work.item}
        seen = aiter(client.results("j1"))
        served.do(here.finish([items["a"]], each))
        async with asyncio.timeout(60):
            assert (await anext(seen)).record == {"name": "a"}
            served.do(here.finish([items["b"]], each))
            served.do(here.run(end))
            rest = [(line.record, line.answer) async for line in seen]
    assert sorted(rest, key=str) == [(None, "both"), ({"name": "b"}, "")]
