"""The typed clients against a gateway: what they give, what they try again, and how they fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

import shoal
from shoal import records, trial, version_trial
from shoal.agent.spec import ExtractSpec, JobSpec, LoopSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.client import AsyncClient
from shoal.services.web.api.questions import QuestionView
from shoal.services.web.api.views import base as base_views
from shoal.services.web.api.views import jobs as jobs_views
from shoal.services.web.api.views import results as results_views
from shoal.services.web.api.views import schedules as schedules_views
from shoal.services.web.api.views import sessions as sessions_views
from shoal.services.web.api.views.sinks import SinkView
from shoal.services.web.tries import version_views
from shoal.services.web.tries import views as tried
from tests.gateway_world import World, api_world, completed, failed, loop_of
from tests.unit.gateway.test_tries import SPEC as TRIED
from tests.unit.gateway.test_tries import sampled

VALUES = ["a", "b", "c", "d"]
SPEC = JobSpec(
    url="https://shop.example/",
    loop=LoopSpec(values=tuple(VALUES)),
    extract=ExtractSpec(json_schema={"type": "object", "properties": {"name": {"type": "string"}}}),
)


def each(work: Work) -> Outcome:
    assert work.item is not None
    return failed() if work.item.value == "c" else completed({"name": work.item.value})


def answering(value: Json) -> Callable[[Work], Outcome]:
    return lambda work: completed(value)


def client_of(here: World, key: str = "", **options: Any) -> AsyncClient:
    return AsyncClient("http://127.0.0.1:8700", key, transport=here.client._transport, **options)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.api.FIRST_PAUSE_S", 0.001)


async def test_a_job_is_submitted_followed_and_read() -> None:
    async with api_world() as here, client_of(here) as client:
        submitted = await client.submit(SPEC)
        assert (submitted.id, submitted.status, submitted.created) == ("j1", shoal.Status.QUEUED, True)
        await here.run(loop_of(VALUES, each))
        job = await client.wait("j1")
        assert (job.status, job.succeeded, job.final) == ("completed", True, True)
        assert (job.counts.expected, job.counts.completed, job.counts.failed) == (4, 3, 1)
        assert job.spec["loop"]["values"] == VALUES
        results = [result async for result in client.results("j1")]
        assert [result.item and result.item.value for result in results] == VALUES
        assert [result.record for result in results] == [{"name": "a"}, {"name": "b"}, None, {"name": "d"}]
        assert results[2].error is not None
        assert (results[2].error.cls, results[2].error.retryable) == ("NavigationTimeout", True)
        assert results[0].sources["name"].how == "json-ld"
        events = [event async for event in client.events("j1")]
        assert (events[0].name, events[-1].name, events[0].job) == ("job.submitted", "job.finished", "j1")
        assert events[-1].counts == job.counts
        assert [event async for event in client.events("j1", after=events[-1].seq)] == []
        assert [one.id for one in await client.jobs(status=["completed"])] == ["j1"]
        sessions = await client.sessions("j1")
        assert len(sessions) == 5
        detail = await client.session(sessions[1].id)
        assert detail.record_list[0].value == {"name": "a"}


async def test_a_job_is_paused_changed_resumed_canceled_retried_and_deleted() -> None:
    async with api_world() as here, client_of(here) as client:
        await client.submit(SPEC)
        assert (await client.pause("j1")).status == "paused"
        changed = await client.change("j1", concurrency=3, priority=5)
        assert (changed.concurrency, changed.priority, changed.deadline_at) == (3, 5, None)
        assert (await client.change("j1", concurrency=None)).concurrency is None
        assert (await client.resume("j1")).status == "queued"
        assert (await client.cancel("j1")).status == "canceled"
        assert (await client.retry("j1")).status == "queued"
        await client.cancel("j1")
        await client.delete("j1")
        with pytest.raises(shoal.NotFound):
            await client.job("j1")


async def test_what_is_wrong_has_a_class_a_place_and_advice() -> None:
    async with api_world() as here, client_of(here) as client:
        with pytest.raises(shoal.BadRequest) as caught:
            await client.submit(
                {"url": "https://shop.example/", "goal": "x", "max_steps": "5", "loop": {"values": [1]}}
            )
        error = caught.value
        assert (error.status, error.code) == (400, "bad_input")
        assert {fault.field for fault in error.faults} == {"max_steps", "loop.values[0]"}
        assert error.request_id
        assert "faults" in error.advice
        await client.submit(SPEC, key="k")
        with pytest.raises(shoal.KeyReused):
            await client.submit({"url": "https://shop.example/", "goal": "another"}, key="k")
        with pytest.raises(shoal.NotFound):
            await client.job("j99")
    async with api_world(auth=True) as here:
        async with client_of(here) as client:
            with pytest.raises(shoal.AuthenticationFailed):
                await client.jobs()
        async with client_of(here, await here.key("read")) as client:
            assert await client.jobs() == []
            with pytest.raises(shoal.PermissionDenied):
                await client.submit(SPEC)


async def test_a_batch_is_stored_once_however_often_it_is_submitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.client.BATCH_LINES", 2)
    specs = [{"url": "https://shop.example/", "goal": f"look {n}"} for n in range(4)]
    async with api_world() as here, client_of(here) as client:
        lines = await client.submit_batch([*specs, {"url": "nowhere"}], key="night")
        assert [line.job for line in lines] == ["j1", "j2", "j3", "j4", None]
        assert [line.line for line in lines] == [1, 2, 3, 4, 5]
        assert lines[4].error is not None
        assert lines[4].error.errors[0]["field"] == "url"
        again = await client.submit_batch(specs, key="night")
        assert [(line.job, line.created) for line in again] == [(f"j{n}", False) for n in (1, 2, 3, 4)]
        assert len(await client.jobs()) == 4


class Flaky(httpx.AsyncBaseTransport):
    """Fails as `faults` say, request by request, and after that passes on; a fault comes before or after the work."""

    def __init__(self, inner: httpx.AsyncBaseTransport, faults: list[Callable[[], httpx.Response] | str]) -> None:
        self.inner = inner
        self.faults = faults
        self.paths: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        fault = self.faults.pop(0) if self.faults else None
        if callable(fault):
            return fault()
        answer = await self.inner.handle_async_request(request) if fault != "before" else None
        if fault is not None:
            raise httpx.ReadError("the connection broke")
        assert answer is not None
        return answer


def busy() -> httpx.Response:
    return httpx.Response(503, json={"code": "store_away", "detail": "away"})


async def test_a_submission_whose_answer_is_lost_is_stored_once() -> None:
    async with api_world() as here:
        flaky = Flaky(here.client._transport, ["before", "after", busy, "after"])
        async with AsyncClient("http://127.0.0.1:8700", transport=flaky) as client:
            assert (await client.submit(SPEC)).id == "j1"
            flaky.faults = ["after", busy]
            lines = await client.submit_batch([{"url": "https://shop.example/", "goal": f"{n}"} for n in range(3)])
            assert {line.job for line in lines} | {"j1"} == {job.id for job in await client.jobs()}
            assert len(await client.jobs()) == 4
            flaky.faults = [busy] * 5
            with pytest.raises(shoal.ServerUnavailable):
                await client.jobs()
            flaky.faults, flaky.paths = ["before"] * 5, []
            with pytest.raises(shoal.GatewayUnreachable):
                await client.jobs()
            assert len(flaky.paths) == 5
            flaky.paths = []
            with pytest.raises(shoal.NotFound):
                await client.job("j99")
            assert len(flaky.paths) == 1, "what another try cannot change is asked once"


async def test_a_line_that_says_not_now_is_sent_again() -> None:
    def first() -> httpx.Response:
        said = [{"line": 1, "job": "j7", "created": True}, {"line": 2, "error": {"status": 503, **AWAY}}]
        return httpx.Response(200, text="\n".join(map(json.dumps, said)))

    def second() -> httpx.Response:
        return httpx.Response(200, text=json.dumps({"line": 1, "job": "j8", "created": True}))

    def still() -> httpx.Response:
        return httpx.Response(200, text=json.dumps({"line": 1, "error": {"status": 503, **AWAY}}))

    async with api_world() as here:
        specs = [{"url": "https://shop.example/", "goal": f"{n}"} for n in range(2)]
        flaky = Flaky(here.client._transport, [first, second])
        async with AsyncClient("http://127.0.0.1:8700", transport=flaky) as client:
            assert [(one.line, one.job) for one in await client.submit_batch(specs)] == [(1, "j7"), (2, "j8")]
            flaky.faults = [first, *[still] * 4]
            lines = await client.submit_batch(specs)
            assert lines[1].error is not None
            assert lines[1].error.code == "store_away"


AWAY = {"code": "store_away", "detail": "away"}


async def test_waiting_ends_in_time_and_leaves_the_job_running() -> None:
    async with api_world() as here, client_of(here) as client:
        await client.submit(SPEC)
        with pytest.raises(TimeoutError):
            await client.wait("j1", timeout_s=0.05)
        assert (await client.job("j1")).status == "queued"


async def test_changes_since_the_run_before_come_one_by_one() -> None:
    async with api_world() as here, client_of(here) as client:
        for n in (1, 2):
            await here.submit()
            await here.finish(await here.claim(), answering({"name": "a", "n": n}))
        (change,) = [change async for change in client.changes("j2", key=["name"])]
        assert (change.change, change.key) == ("changed", "a")
        assert (change.fields["n"].before, change.fields["n"].after) == (1, 2)
        with pytest.raises(shoal.NotFound):
            await anext(client.changes("j1"))


async def test_results_become_tables() -> None:
    async with api_world() as here, client_of(here) as client:
        await client.submit(SPEC)
        await here.run(loop_of(VALUES, each))
        table = await client.to_arrow("j1")
        assert table.column("record.name").to_pylist() == ["a", "b", None, "d"]
        frame = await client.to_pandas("j1")
        assert list(frame["record.name"].dropna()) == ["a", "b", "d"]
        assert list(frame["status"]) == ["completed", "completed", "failed", "completed"]


async def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    async with api_world() as here, client_of(here) as client:
        with pytest.raises(shoal.MissingDependency, match="pip install pandas"):
            await client.to_pandas("j1")


async def test_a_job_is_tried_and_its_places_can_be_taken_over() -> None:
    async with api_world() as here, client_of(here) as client:
        asked = asyncio.create_task(client.try_job({**TRIED}, items=2))
        while not asked.done():
            await here.run(sampled)
            await asyncio.sleep(0.01)
        told = await asked
        assert (told.status, told.finished, told.error) == ("completed", True, None)
        assert told.items is not None
        assert (told.items.found, told.items.first[0].label, told.listed) == (57, "Lamp 0", None)
        assert [one.record["name"] for one in told.records] == ["Lamp 0", "Lamp 1"]
        assert (told.records[0].fields["price"].value, told.records[0].candidates["upc"][0].value) == (9.5, "7")
        assert told.fields == {"name": {"select": "h1"}, "price": {"select": ".price"}}
        assert (told.missing, told.estimate.items) == ({"upc": 2}, 57)
        ExtractSpec.model_validate({**TRIED["extract"], "fields": told.fields})
        with pytest.raises(shoal.BadRequest):
            await client.try_job({"url": "nowhere"})


async def test_a_schedule_is_kept_looked_at_steered_and_dropped() -> None:
    spec = {"name": "prices", "every": "1h", "job": {"url": "https://shop.example/", "goal": "look"}}
    async with api_world() as here, client_of(here) as client:
        made = await client.schedules.put(spec)
        assert (made.name, made.paused, len(made.next)) == ("prices", False, 5)
        assert [each.name for each in await client.schedules.all()] == ["prices"]
        assert (await client.schedules.command("prices", "pause")).paused
        assert (await client.schedules.get("prices")).next == ()
        assert await client.schedules.runs("prices") == []
        with pytest.raises(shoal.NotFound):
            await client.schedules.latest("prices")
        key = await client.schedules.make_key("prices", "sheet", days=2)
        assert key.key.startswith("shoal_") and key.key not in repr(key)
        assert [(each.id, each.name, each.key) for each in await client.schedules.keys("prices")] == [
            (key.id, "sheet", "")
        ]
        await client.schedules.revoke_key("prices", key.id)
        assert await client.schedules.keys("prices") == []
        await client.schedules.drop("prices")
        assert await client.schedules.all() == []
        with pytest.raises(shoal.BadRequest) as refused:
            await client.schedules.put({**spec, "every": "soon"})
        assert [fault.field for fault in refused.value.faults] == ["every"]


async def test_whom_a_tenant_tells_is_looked_up_and_set() -> None:
    async with api_world() as here, client_of(here) as client:
        assert await client.notify() == []
        (told,) = await client.set_notify([{"by": "slack", "to": "https://chat.example/in"}])
        assert (told["by"], told["every_s"]) == ("slack", 600.0) and await client.notify() == [told]
        with pytest.raises(shoal.BadRequest) as refused:
            await client.set_notify([{"by": "fax", "to": "1"}])
        assert [fault.field for fault in refused.value.faults] == ["notify[0].by"]
        assert await client.set_notify([]) == []


@pytest.mark.parametrize(
    ("record", "view"),
    [
        (records.Artifact, sessions_views.ArtifactView),
        (records.BatchLine, jobs_views.SubmittedView),
        (records.CarriedOver, results_views.CarriedOverView),
        (records.ChangedField, results_views.ChangedFieldView),
        (records.Counts, base_views.CountsView),
        (records.Deviation, schedules_views.DeviationView),
        (records.Failure, base_views.ErrorView),
        (records.Item, base_views.ItemView),
        (records.Job, jobs_views.JobView),
        (records.JobSummary, jobs_views.JobSummary),
        (records.LineError, jobs_views.LineErrorView),
        (records.PageBox, results_views.BoxView),
        (records.PageError, sessions_views.PageErrorView),
        (records.PageErrors, sessions_views.PageErrorsView),
        (records.Question, QuestionView),
        (records.RecordChange, results_views.RecordChangeView),
        (records.RecordPicture, results_views.RecordPictureView),
        (records.RecordWithSources, results_views.RecordView),
        (records.Result, results_views.ResultView),
        (records.Seen, results_views.SeenView),
        (records.Session, sessions_views.SessionView),
        (records.SessionDetail, sessions_views.SessionDetailView),
        (records.Sink, SinkView),
        (records.Source, results_views.SourceView),
        (records.SubmittedJob, jobs_views.SubmittedJob),
        (records.Usage, base_views.UsageView),
        (records.Wait, sessions_views.WaitView),
        (trial.Trial, tried.TryView),
        (trial.TriedCandidate, tried.TriedCandidate),
        (trial.TriedEstimate, tried.TriedEstimate),
        (trial.TriedField, tried.TriedField),
        (trial.TriedItem, tried.TriedItem),
        (trial.TriedItems, tried.TriedItems),
        (trial.TriedList, tried.TriedList),
        (trial.TriedRecord, tried.TriedRecord),
        (version_trial.TriedAction, version_views.TriedAction),
        (version_trial.TriedChannel, version_views.TriedChannel),
        (version_trial.TriedCount, version_views.TriedCount),
        (version_trial.TriedFieldOfVersion, version_views.TriedFieldOfVersion),
        (version_trial.TriedMiss, version_views.TriedMiss),
        (version_trial.TriedPage, version_views.TriedPage),
        (version_trial.VersionTrial, version_views.VersionTryView),
    ],
)
def test_records_have_every_field_that_the_gateway_shows(record: type[BaseModel], view: type[BaseModel]) -> None:
    assert set(record.model_fields) == set(view.model_fields)
