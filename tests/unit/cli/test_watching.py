"""The view of `shoal up` of its jobs."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import AsyncIterator

import pytest
from rich.console import Console

from shoal.services import logs
from shoal.services.cli.commands.cluster import watching
from shoal.services.cli.commands.cluster.watching import Bars, JobLines, Watcher
from shoal.services.store import ids
from shoal.services.store.records import JobRow
from tests.gateway_world import World, completed, failed, fan_out, world


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def test_open_jobs_are_followed_and_their_end_is_told_once(here: World) -> None:
    before = await here.submit()
    await here.run(lambda work: completed({"n": 0}))
    watcher = Watcher(here.store)
    assert (await watcher.look(0.0)).ended == [], f"{before} ended before anybody looked"

    job = await here.submit(loop={"values": ["a", "b", "c", "d"]})
    await here.finish(await here.claim(), lambda work: fan_out(["a", "b", "c", "d"]))
    first = await watcher.look(1.0)
    ((row, standing),) = first.open
    assert (ids.job_id(row.id), standing.expected, standing.done) == (job, 4, 0)

    items = await here.claim()
    await here.finish(items[:2], lambda work: completed({"n": 1}))
    await here.finish(items[2:3], lambda work: failed())
    second = await watcher.look(3.0)
    ((_, standing),) = second.open
    assert (standing.done, standing.failed, standing.rate, standing.left_s) == (2, 1, 1.5, pytest.approx(1 / 1.5))
    assert (second.total.expected, second.total.final) == (4, 3)

    await here.finish(items[3:], lambda work: completed({"n": 1}))
    await here.run(lambda work: completed())
    quick = await here.submit()
    await here.run(lambda work: completed({"n": 1}))
    third = await watcher.look(4.0)
    assert [ids.job_id(row.id) for row in third.ended] == [job, quick], "also one that came and went between two looks"
    assert (third.open, third.total.expected) == ([], 0)
    assert (await watcher.look(5.0)).ended == []

    await here.submit(loop={"values": ["a", "b"]})
    await here.finish(await here.claim(), lambda work: fan_out(["a", "b"]))
    fourth = await watcher.look(6.0)
    assert (fourth.total.expected, fourth.total.final) == (2, 0), "what is over is not counted with what is open"
    assert fourth.total.rate == pytest.approx(5 / 6), "the rate is that of all since the first look"


async def test_a_job_that_is_deleted_is_forgotten(here: World) -> None:
    job = await here.submit()
    watcher = Watcher(here.store)
    await watcher.look(0.0)
    await here.run(lambda work: completed({"n": 1}))
    await here.client.delete(f"/v1/jobs/{job}")
    assert (await watcher.look(1.0)).ended == []
    assert (await watcher.look(2.0)).ended == []


async def test_jobs_that_newer_ones_push_out_of_view_are_not_asked_for_one_by_one(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_READ", 2)
    watcher, one, asked = Watcher(here.store), here.store.job, []

    async def job(number: int, *, tenant: str | None = None) -> JobRow:
        asked.append(ids.job_id(number))
        return await one(number, tenant=tenant)

    monkeypatch.setattr(here.store, "job", job)
    for at_s in range(5):
        newest = await here.submit()
        (row, _), *_ = (await watcher.look(float(at_s))).open
        assert ids.job_id(row.id) == newest
    assert asked == []
    await here.run(lambda work: completed({"n": 1}))
    assert [ids.job_id(row.id) for row in (await watcher.look(6.0)).ended] == ["j4", "j5"]
    assert asked == ["j4", "j5"]


async def test_plain_lines_tell_how_it_goes_and_every_end(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watching, "LINE_EVERY_S", 0.0)
    watcher, show = Watcher(here.store), JobLines()
    show(await watcher.look(0.0))
    await here.submit(loop={"values": ["a", "b"]})
    await here.finish(await here.claim(), lambda work: fan_out(["a", "b"]))
    show(await watcher.look(1.0))
    show(await watcher.look(2.0))
    await here.run(lambda work: failed() if work.item and work.item.value == "b" else completed({"n": 1}))
    show(await watcher.look(3.0))
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "1 job open: 0 of 2 items: 0 done, 0 failed"
    assert told[1].startswith("j1 completed in part: 2 items, 1 completed, 1 failed, in ")
    assert len(told) == 2, "what did not change is not said again"


async def test_json_lines_tell_every_end(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    watcher = Watcher(here.store)
    await watcher.look(0.0)
    await here.submit()
    await here.run(lambda work: failed())
    with watching.jobs_display(as_json=True) as show:
        show(await watcher.look(1.0))
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["event"], told["job"], told["status"]) == ("job.finished", "j1", "failed")
    assert "id" not in told, "the same fields as the event and the webhook of this name"
    assert told["error"]["code"] == "navigation_timeout"


async def test_a_terminal_has_a_bar_for_each_job_and_one_for_all(here: World) -> None:
    out = io.StringIO()
    watcher = Watcher(here.store)
    with Bars.on(Console(file=out, force_terminal=True, width=160, color_system=None)) as show:
        show(await watcher.look(0.0))
        for goal in ("first [bold]", "second"):
            await here.submit(goal=goal, loop={"values": ["a", "b"]})
        await here.finish(await here.claim(), lambda work: fan_out(["a", "b"]))
        show(await watcher.look(1.0))
        await here.run(lambda work: completed({"n": 1}))
        show(await watcher.look(2.0))
    drawn = out.getvalue()
    assert "j1 first [bold]" in drawn, "what a goal says is no markup"
    assert "j2 second" in drawn
    assert "2 jobs open: 0 of 4 items" in drawn
    assert "j1 completed: 2 items, 2 completed" in drawn
    assert "j2 completed: 2 items, 2 completed" in drawn


def test_log_lines_go_where_standard_error_goes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    before, drawn = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", before)
    logs.set_up("info", "json")
    monkeypatch.setattr(sys, "stderr", drawn)
    with logs.through_stderr():
        logging.getLogger("x").warning("meanwhile")
    logging.getLogger("x").warning("afterwards")
    assert "meanwhile" in drawn.getvalue() and "afterwards" not in drawn.getvalue()
    assert "afterwards" in before.getvalue()
