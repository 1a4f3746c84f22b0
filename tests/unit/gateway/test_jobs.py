"""Looking at jobs and controlling them; sessions, artifacts, status, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shoal.agent.error_info import ErrorInfo
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, ArtifactRef, Outcome, Step, Task
from shoal.agent.worker_messages import Work
from shoal.services.errors import StoreAway
from shoal.services.metrics import CATALOGUE
from shoal.services.store.records import NewJob
from shoal.services.web.api.views.jobs import JobView
from shoal.services.web.api.views.sessions import SessionDetailView
from tests.gateway_world import World, completed, failed, loop_of, world
from tests.served_gateway import PAUSE_S, Pauses

ARTIFACT = "ab" * 16


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world(raises=False) as made:
        yield made


async def get(here: World, path: str) -> Any:
    got = await here.client.get(path)
    assert got.status_code == 200, got.text
    return got.json()


async def test_jobs_are_listed_newest_first_by_pages_and_filters(here: World) -> None:
    made = [await here.submit(labels={"n": str(number % 2)}) for number in range(7)]
    seen, path = [], "/v1/jobs?limit=3"
    while True:
        page = await get(here, path)
        seen += [job["id"] for job in page["jobs"]]
        if page["next"] is None:
            break
        path = f"/v1/jobs?limit=3&cursor={page['next']}"
    assert seen == made[::-1]
    odd = await get(here, "/v1/jobs?label=n:1")
    assert [job["id"] for job in odd["jobs"]] == [made[5], made[3], made[1]]
    await here.client.post(f"/v1/jobs/{made[0]}/cancel")
    assert [job["id"] for job in (await get(here, "/v1/jobs?status=canceled"))["jobs"]] == [made[0]]
    both = await get(here, "/v1/jobs?status=canceled&status=queued")
    assert len(both["jobs"]) == 7
    assert "spec" not in both["jobs"][0]


async def test_a_job_can_be_held_back_let_go_and_ended(here: World) -> None:
    job = await here.submit()
    for verb, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "canceled"), ("retry", "queued")):
        got = await here.client.post(f"/v1/jobs/{job}/{verb}")
        assert got.status_code == 200, got.text
        assert got.json()["status"] == status
    wrong = await here.client.post(f"/v1/jobs/{job}/resume")
    assert (wrong.status_code, wrong.json()["code"]) == (409, "wrong_state")
    assert (await here.client.delete(f"/v1/jobs/{job}")).status_code == 409


async def test_a_job_that_has_ended_says_why_and_what_its_loop_left_out(here: World) -> None:
    told = "all done; the list goes on after page 2, where max_pages ended it"
    job = await here.submit()
    assert (await get(here, f"/v1/jobs/{job}"))["reason"] == ""
    await here.run(lambda work: completed({"a": 1}, reason=told))
    assert (await get(here, f"/v1/jobs/{job}"))["reason"] == told
    assert told in (await here.client.get(f"/jobs/{job}")).text


async def test_deleting_a_job_removes_its_artifacts_too(here: World) -> None:
    job = await with_artifact(here)
    assert here.artifacts.keys == ["acme/1/1/shot.jpg"]
    assert (await here.client.delete(f"/v1/jobs/{job}")).status_code == 204
    assert (await here.client.get(f"/v1/jobs/{job}")).status_code == 404
    assert (await here.client.get(f"/v1/artifacts/{ARTIFACT}")).status_code == 404
    assert here.artifacts.keys == []


async def test_secrets_in_a_spec_are_not_shown(here: World) -> None:
    browser = {
        "proxy": {"server": "http://proxy.example:3128", "password": "hunter2"},
        "headers": {"Authorization": "Bearer hunter2", "Cookie": "s=hunter2", "X-Plain": "yes"},
    }
    # The gate refuses a job's own proxy today; what is stored must be hidden all the same. Without keys: "default".
    spec = JobSpec.model_validate({"url": "https://shop.example/", "goal": "look", "browser": browser})
    (stored_job,) = await here.store.submit([NewJob("default", spec, "shop.example")])
    job = f"j{stored_job.job}"
    shown = (await get(here, f"/v1/jobs/{job}"))["spec"]["browser"]
    assert "hunter2" not in str(shown)
    assert set(shown["headers"].values()) <= {"(hidden)", "secret:TOKEN"}
    stored = (await here.store.job(int(job[1:]))).spec.browser
    assert stored.proxy is not None
    assert stored.proxy.password == "hunter2"


async def test_sessions_are_listed_in_item_order_with_their_cause_of_waiting(here: World) -> None:
    job = await here.submit(loop={"values": ["a", "b", "c"]})
    (root,) = await here.claim()
    await here.finish([root], loop_of(["a", "b", "c"], lambda work: completed({"x": 1})))
    page = await get(here, f"/v1/jobs/{job}/sessions?limit=2")
    parent, first = page["sessions"]
    assert (parent["status"], parent["waiting_for"], parent["pending_children"]) == (
        "waiting",
        "the items of its loop: 3 to go",
        3,
    )
    assert (first["status"], first["waiting_for"], first["item"]["value"]) == (
        "queued",
        "a dispatcher: none is running",
        "a",
    )
    rest = await get(here, f"/v1/jobs/{job}/sessions?limit=2&cursor={page['next']}")
    assert [session["item"]["value"] for session in rest["sessions"]] == ["b", "c"]
    assert rest["next"] is None
    queued = await get(here, f"/v1/jobs/{job}/sessions?status=queued")
    assert len(queued["sessions"]) == 3
    bad = await here.client.get(f"/v1/jobs/{job}/sessions?cursor=zz")
    assert bad.json()["errors"] == [{"field": "cursor", "reason": "is not a cursor"}]


def busy_outcome(work: Work) -> Outcome:
    error = ErrorInfo("ElementMissing", "element_missing", "No element has this id now.", False)
    steps = (
        Step(
            0,
            "https://shop.example/",
            "The button leads on.",
            (ActionResult(Action("click", {"bid": "12"}), error), ActionResult(Action("click", {"bid": "13"}))),
            screenshot=ARTIFACT,
        ),
    )
    tasks = (Task("navigate", "open the product", Status.COMPLETED, steps=steps, seconds=2.0),)
    reference = ArtifactRef(ARTIFACT, "screenshot", "acme/1/1/shot.jpg", "image/jpeg", 4)
    return completed({"price": 5}, tasks=tasks, artifacts=(reference,), screenshot=ARTIFACT, answer="It costs 5.")


async def with_artifact(here: World, content_type: str = "image/jpeg") -> str:
    job = await here.submit()
    await here.artifacts.put("acme/1/1/shot.jpg", b"\xff\xd8\xff\xd9", content_type)
    await here.run(busy_outcome)
    return job


async def test_a_session_tells_its_tasks_steps_actions_and_records(here: World) -> None:
    job = await with_artifact(here)
    root = (await get(here, f"/v1/jobs/{job}"))["root_session"]
    session = await get(here, f"/v1/sessions/{root}")
    assert session["answer"] == "It costs 5."
    assert session["record_list"][0]["value"] == {"price": 5}
    assert session["record_list"][0]["sources"]["price"]["how"] == "json-ld"
    (task,) = session["attempts"][0]
    assert task["steps"][0]["results"][0]["error"]["class"] == "ElementMissing"
    assert task["steps"][0]["results"][1]["action"] == {
        "name": "click",
        "args": {"bid": "13"},
        "reasoning": "",
        "submits": False,
    }
    assert session["artifacts"][0]["id"] == ARTIFACT
    assert set(session) == set(SessionDetailView.model_fields)


async def test_an_artifact_comes_with_headers_that_keep_it_harmless(here: World) -> None:
    await with_artifact(here)
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert got.content == b"\xff\xd8\xff\xd9"
    assert got.headers["content-type"] == "image/jpeg"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-disposition"] == 'inline; filename="screenshot-abababab.jpg"'
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    ("content_type", "told"),
    [
        ("text/html", "text/html"),
        ("image/svg+xml", "application/octet-stream"),
        ("text/javascript", "application/octet-stream"),
        ("text/html\r\nX-Evil: 1", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
async def test_what_could_act_is_a_download(here: World, content_type: str, told: str) -> None:
    def outcome(work: Work) -> Outcome:
        return completed(artifacts=(ArtifactRef(ARTIFACT, "page", "acme/1/1/page", content_type, 4),))

    await here.submit()
    await here.artifacts.put("acme/1/1/page", b"<b>!", "text/html")
    await here.run(outcome)
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert got.headers["content-disposition"].startswith("attachment; ")
    assert got.headers["content-type"].partition(";")[0] == told
    assert "x-evil" not in got.headers


async def test_an_artifact_in_an_object_store_is_a_redirect(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await with_artifact(here)

    async def url(key: str, content_type: str, *, expires_s: int = 300, name: str = "") -> str:
        return f"https://bucket.example/{key}?expires={expires_s}"

    monkeypatch.setattr(here.artifacts, "url", url)
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert got.status_code == 307
    assert got.headers["location"] == "https://bucket.example/acme/1/1/shot.jpg?expires=300"


async def test_an_artifact_that_waits_at_its_worker_says_so(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect to an object store would lead to nothing, and "gone" would be wrong: it may still come."""
    await with_artifact(here)
    await here.artifacts.delete("acme")
    worker = {"name": "w1", "slots": 4, "busy": 4, "uploads_waiting": 2}
    await here.store.put_state("dispatcher/main", {"workers": [worker], "slots": 4, "busy": 4})

    async def url(*_: Any, **__: Any) -> str:
        return "https://bucket.example/shot.jpg"

    for address in (here.artifacts.url, url):
        monkeypatch.setattr(here.artifacts, "url", address)
        got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
        assert (got.status_code, got.json()["code"]) == (503, "artifact_waiting")
        assert got.headers["retry-after"] == "5"
    assert "2 artifacts are waiting for the artifact store." in (await get(here, "/v1/status"))["waiting"]
    ready = await here.client.get("/readyz")
    assert (ready.status_code, ready.json()["checks"]["uploads"]) == (
        200,
        "2 artifacts are waiting for the artifact store.",
    )
    assert "shoal_uploads_waiting 2.0" in (await here.client.get("/metrics")).text
    await here.store.put_state("dispatcher/main", {"workers": [{**worker, "uploads_waiting": 0}]})
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert (got.status_code, got.json()["code"]) == (410, "artifact_missing")


async def test_a_lost_artifact_says_so(here: World) -> None:
    await with_artifact(here)
    await here.artifacts.delete("acme")
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert (got.status_code, got.json()["code"]) == (410, "artifact_missing")
    here.artifacts.away = True
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert (got.status_code, got.json()["code"]) == (503, "artifact_store_away")
    assert got.headers["retry-after"] == "5"


async def test_status_says_what_waits_for_what(here: World) -> None:
    status = await get(here, "/v1/status")
    assert status["waiting"] == []
    await here.submit()
    await here.submit()
    status = await get(here, "/v1/status")
    assert status["sessions"]["queued"] == 2
    assert status["waiting"] == [
        "2 sessions are waiting for a dispatcher: none has ever run against this store.",
    ]
    worker = {"name": "w1", "slots": 4, "busy": 4, "rss_bytes": 5, "browser_restarts": 2}
    snapshot = {"workers": [worker], "slots": 4, "busy": 4, "leases": 4, "lanes_waiting": {"a free slot": 2}}
    await here.store.put_state("dispatcher/main", snapshot)
    status = await get(here, "/v1/status")
    assert status["capacity"] == {"dispatchers": 1, "workers": 1, "slots": 4, "busy": 4, "fresh": True}
    assert status["waiting"] == [
        "2 sessions are queued while all 4 browser slots are busy.",
        "2 queues (one per job and site) are waiting for a free slot.",
    ]
    assert status["dispatchers"]["main"]["workers"] == [worker]


async def test_readiness_follows_the_stores_and_health_does_not(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await get(here, "/readyz"))["checks"] == {"store": "ok", "artifacts": "ok"}
    here.artifacts.away = True
    got = await here.client.get("/readyz")
    assert got.status_code == 503
    assert got.json()["checks"]["artifacts"] == "the artifact store in memory plays away"

    async def away(*_: Any) -> Any:
        raise StoreAway

    async def hangs(*_: Any) -> Any:
        await asyncio.Event().wait()

    here.artifacts.away = False
    for reading, timeout_s, said in ((hangs, 0.1, "it hangs"), (away, 30.0, "The database does not answer.")):
        monkeypatch.setattr("shoal.services.web.api.status.CHECK_TIMEOUT_S", timeout_s)
        monkeypatch.setattr(here.store, "states", reading)  # it can be written, and not read
        got = await asyncio.wait_for(here.client.get("/readyz"), 30)
        assert got.status_code == 503 and said in got.json()["checks"]["store"]
    monkeypatch.setattr(here.store, "check", away)
    monkeypatch.setattr(here.store, "counts_by_status", away)
    got = await here.client.get("/readyz")
    assert got.json()["checks"]["store"] == "The database does not answer."
    assert (await here.client.get("/healthz")).status_code == 200
    assert "shoal_store_up 0.0" in (await here.client.get("/metrics")).text
    got = await here.client.get("/v1/status")
    assert (got.status_code, got.json()["code"], got.headers["retry-after"]) == (503, "store_away", "5")


async def test_an_error_that_nobody_foresaw_tells_nothing_but_its_request(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(wanted: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(here.store, "jobs", broken)
    got = await here.client.get("/v1/jobs")
    assert got.status_code == 500
    assert "secret detail" not in got.text
    assert got.json()["code"] == "internal_error"
    assert got.json()["request_id"]


async def test_metrics_are_those_of_the_catalogue(here: World) -> None:
    job = await here.submit()
    await here.client.get(f"/v1/jobs/{job}")
    await here.client.get("/nowhere/at/all")
    await here.client.post("/v1/jobs", json={})
    await here.store.put_state(
        "dispatcher/main",
        {
            "workers": [{"name": "w", "rss_bytes": 7}],
            **{"slots": 4, "busy": 1, "ended": 9, "figures": {"counts": [["shoal_browser_restarts", 2]]}},
        },
    )
    families = {
        family.name: family for family in text_string_to_metric_families((await here.client.get("/metrics")).text)
    }
    assert set(families) == {metric.name for metric in CATALOGUE}
    for metric in CATALOGUE:
        family = families[metric.name]
        assert (family.type, family.documentation) == (metric.type, metric.meaning)
        assert all(set(sample.labels) - {"le"} == set(metric.labels) for sample in family.samples)

    def value(name: str, **labels: str) -> float:
        samples = families[name.removesuffix("_total")].samples
        return next(s.value for s in samples if s.name == name and s.labels == labels)

    assert value("shoal_http_requests_total", method="GET", route="/v1/jobs/{job}", status="200") == 1
    assert value("shoal_http_requests_total", method="GET", route="(none)", status="404") == 1
    assert value("shoal_jobs_submitted_total", how="single") == 1
    assert value("shoal_submissions_refused_total", code="bad_input") == 1
    assert value("shoal_sessions", status="queued") == 1
    assert (value("shoal_slots"), value("shoal_slots_busy"), value("shoal_sessions_ended_total")) == (4, 1, 9)
    assert (value("shoal_worker_memory_bytes"), value("shoal_browser_restarts_total")) == (7, 2)


async def test_the_document_names_every_route_and_schema(here: World) -> None:
    pauses = Pauses()
    watching = asyncio.create_task(pauses.watch())
    await asyncio.sleep(0)
    document = await get(here, "/openapi.json")
    await asyncio.sleep(0.05)  # it looks once more
    watching.cancel()
    assert pauses.longest_s < PAUSE_S, "others are served while it is made"
    assert set(document["paths"]["/v1/jobs"]) == {"get", "post"}
    assert "JobSpec" in document["components"]["schemas"]
    text = str(document)
    for ref in {part.split("'")[0] for part in text.split("#/components/schemas/")[1:]}:
        assert ref in document["components"]["schemas"], ref
    batch = document["paths"]["/v1/jobs:batch"]["post"]
    assert [one["name"] for one in batch["parameters"]] == ["Idempotency-Key"]
    assert set(batch["responses"]["200"]["headers"]) == {"Shoal-Accepted", "Shoal-Refused"}
    submit = document["paths"]["/v1/jobs"]["post"]["responses"]
    assert set(submit["201"]["headers"]) == set(submit["200"]["headers"]) == {"Location"}
    assert set(document["paths"]["/v1/jobs/{job}/results"]["get"]["responses"]["200"]["headers"]) == {"Shoal-Next"}
    assert set(batch["responses"]["default"]["headers"]) == {"Retry-After"}
    assert set(JobView.model_fields) == set(document["components"]["schemas"]["JobView"]["properties"])


async def test_failures_are_told_in_the_job(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: failed())
    body = await get(here, f"/v1/jobs/{job}")
    assert body["status"] == "failed"
    assert body["error"]["class"] == "NavigationTimeout"
    assert body["counts"]["failed"] == 1
    assert body["finished_at"].endswith("Z")


async def test_a_file_has_the_name_that_its_site_gave_it(here: World) -> None:
    name = "Für Ådne <b>.pdf"

    def outcome(work: Work) -> Outcome:
        return completed(
            artifacts=(ArtifactRef(ARTIFACT, "download", "acme/1/1/file.pdf", "application/pdf", 4, name),)
        )

    job = await here.submit()
    await here.artifacts.put("acme/1/1/file.pdf", b"%PDF", "application/pdf")
    await here.run(outcome)
    session = (await here.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    (artifact,) = (await here.client.get(f"/v1/sessions/{session}")).json()["artifacts"]
    assert artifact["name"] == name
    got = await here.client.get(f"/v1/artifacts/{ARTIFACT}")
    assert got.headers["content-disposition"].endswith("; filename*=UTF-8''F%C3%BCr%20%C3%85dne%20%3Cb%3E.pdf")
    page = (await here.client.get(f"/sessions/{session}")).text
    assert "Für Ådne &lt;b&gt;.pdf" in page and "<b>.pdf" not in page
