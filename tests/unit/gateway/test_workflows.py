"""Workflows over HTTP: looking, comparing, activating, importing, exporting, deleting."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Outcome, Replay
from tests.gateway_world import World, world
from tests.unit.workflows.books import BOOKS
from tests.unit.workflows.test_exchange import RECORDING

URL = "/v1/workflows"


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def edited(selector: str, **version: Any) -> dict[str, Any]:
    """The workflow with another selector."""
    copy = deepcopy(BOOKS)
    copy["versions"][0] |= version
    copy["versions"][0]["branches"][0]["fields"][0]["channels"][1]["place"]["select"] = selector
    return copy


async def test_an_imported_workflow_is_a_draft_that_is_shown_listed_and_exported(w: World) -> None:
    active = deepcopy(BOOKS)
    active["versions"][0]["state"] = "active"
    answer = await w.client.post(URL, json=active)
    assert answer.status_code == 201, answer.text
    shown = answer.json()
    assert shown.pop("lost") == []
    assert (shown["name"], shown["active"]) == ("books", None)
    (version,) = shown["versions"]
    assert (version["state"], version["by"], version["fields"]) == ("draft", "import", ["price"])
    assert (await w.client.get(f"{URL}/books")).json() == shown
    assert (await w.client.get(URL)).json() == {"workflows": [shown], "next": None}
    file = await w.client.get(f"{URL}/books/export")
    assert file.headers["content-disposition"] == 'attachment; filename="books.json"'
    assert file.json()["versions"][0]["branches"] == BOOKS["versions"][0]["branches"]
    again = await w.client.post(URL, json=file.json())
    assert [one["number"] for one in again.json()["versions"]] == [1], "what is sent again is there already"


async def test_a_version_is_activated_and_retired_and_another_takes_its_place(w: World) -> None:
    for selector in ("p.price", "b.price"):
        assert (await w.client.post(URL, json=edited(selector))).status_code == 201
    assert (await w.client.post(f"{URL}/books/versions/1/activate")).json()["active"] == 1
    shown = (await w.client.post(f"{URL}/books/versions/2/activate")).json()
    assert [one["state"] for one in shown["versions"]] == ["retired", "active"]
    assert (await w.client.post(f"{URL}/books/versions/2/retire")).json()["active"] is None
    assert (await w.client.post(f"{URL}/books/versions/9/activate")).status_code == 404


async def test_an_edited_version_stands_behind_the_one_that_it_changes(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    answer = await w.client.put(f"{URL}/books/versions", json=edited("b.price", parent=1))
    assert answer.status_code == 201, answer.text
    assert (answer.json()["number"], answer.json()["parent"], answer.json()["by"]) == (2, 1, "person")
    difference = await w.client.get(f"{URL}/books/diff", params={"before": 1, "after": 2})
    assert difference.json()["changes"] == [
        {
            "path": "branches[product].fields[price].channels[1].place.select",
            "before": "p.price",
            "after": "b.price",
        }
    ]
    place = (await w.client.get(f"{URL}/books/versions/2")).json()["version"]["branches"][0]["fields"][0]["channels"]
    assert place[1]["place"]["select"] == "b.price"
    assert (await w.client.put(f"{URL}/books/versions", json=edited("i", parent=7))).status_code == 409


async def test_what_is_no_workflow_is_refused_with_the_place_of_each_fault(w: World) -> None:
    wrong = deepcopy(BOOKS)
    wrong["versions"][0]["nodes"][0]["kind"] = "teleport"
    answer = await w.client.post(URL, json=wrong)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].startswith("versions[0].nodes[0]")
    cut = await w.client.post(URL, content=b'{"name": ', headers={"content-type": "application/json"})
    assert cut.status_code == 400
    assert "line 1" in cut.json()["detail"]
    assert (await w.client.get(URL)).json()["workflows"] == []


async def test_files_of_other_programs_are_imported_and_written_and_what_they_cannot_say_is_told(w: World) -> None:
    recording = RECORDING | {"steps": [*RECORDING["steps"], {"type": "closeTab"}]}
    as_recording = {"format": "recorder", "name": "filed"}
    answer = await w.client.post(URL, json=recording, params=as_recording)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["versions"][0]["state"], answer.json()["versions"][0]["by"]) == ("draft", "recording")
    assert any("closeTab" in told for told in answer.json()["lost"])

    def export(kind: str) -> Any:
        return w.client.get(f"{URL}/filed/versions/1/export", params={"format": kind})

    assert json.loads((await export("recorder")).json()["text"])["steps"]
    assert "sync_playwright" in (await export("playwright")).json()["text"]
    automa = (await export("automa")).json()
    again = await w.client.post(URL, json=json.loads(automa["text"]), params={"format": "automa", "name": "again"})
    assert again.status_code == 201, again.text
    assert (await export("selenium")).status_code == 400
    assert (await w.client.get(f"{URL}/filed/versions/7/export", params={"format": "automa"})).status_code == 404


async def test_a_file_of_another_program_that_cannot_be_read_is_refused(w: World) -> None:
    for body, params, said in (
        ({"steps": 3}, {"format": "recorder", "name": "filed"}, "no file of the format recorder"),
        (RECORDING, {"format": "recorder", "name": "../filed"}, "name: "),
        (
            {"drawflow": {"nodes": [{"id": "\ud800", "label": "\ud801"}]}},
            {"format": "automa", "name": "filed"},
            "block",
        ),
        (RECORDING, {"format": "recorder"}, "`name`"),
        (BOOKS, {"name": "filed"}, "`name`"),
    ):
        headers = {"Content-Type": "application/json"}
        answer = await w.client.post(URL, content=json.dumps(body), params=params, headers=headers)
        assert (answer.status_code, said in answer.text) == (400, True), answer.text
    assert (await w.client.get(URL)).json()["workflows"] == []


@pytest.mark.parametrize("value", [float("nan"), 10**400, "\ud800", "deep"])
async def test_a_workflow_that_could_not_be_shown_is_not_stored(w: World, value: Json) -> None:
    for _ in range(300 if value == "deep" else 0):
        value = [value]
    hostile = deepcopy(BOOKS)
    hostile["versions"][0]["nodes"].insert(
        0, {"id": "n0", "kind": "action", "action": "goto", "args": {"url": {"const": value}}, "next": "n1"}
    )
    answer = await w.client.post(URL, content=json.dumps(hostile), headers={"Content-Type": "application/json"})
    assert (answer.status_code, "versions[0]" in answer.text) == (400, True), answer.text
    assert (await w.client.get(URL)).json()["workflows"] == []


async def test_a_site_that_no_text_column_takes_is_refused(w: World) -> None:
    for part in ("site", "goal", "schema"):
        answer = await w.client.post(URL, json=BOOKS | {"scope": {"site": "a.example", part: "a\0b"}})
        assert (answer.status_code, f"scope.{part}" in answer.text) == (400, True), answer.text


async def test_a_workflow_is_its_tenants_alone(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    async with world(auth=True) as guarded:
        mine = await guarded.key("read", "control", tenant="mine")
        yours = await guarded.key("read", "control", tenant="yours")
        reads = await guarded.key("read", tenant="mine")
        bearer = {key: {"Authorization": f"Bearer {key}"} for key in (mine, yours, reads)}
        assert (await guarded.client.post(URL, json=BOOKS, headers=bearer[mine])).status_code == 201
        assert (await guarded.client.get(f"{URL}/books", headers=bearer[yours])).status_code == 404
        assert (await guarded.client.delete(f"{URL}/books", headers=bearer[yours])).status_code == 404
        assert (await guarded.client.post(f"{URL}/books/versions/1/activate", headers=bearer[reads])).status_code == 403
        assert (await guarded.client.get(f"{URL}/books", headers=bearer[reads])).status_code == 200


async def test_a_deleted_workflow_is_gone(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    assert (await w.client.delete(f"{URL}/books")).status_code == 204
    assert (await w.client.get(f"{URL}/books")).status_code == 404
    assert (await w.client.delete(f"{URL}/books")).status_code == 404


async def test_lists_are_given_in_pages(w: World) -> None:
    for name in ("a", "b", "c"):
        await w.client.post(URL, json=BOOKS | {"name": name})
    first = (await w.client.get(URL, params={"limit": 2})).json()
    assert ([one["name"] for one in first["workflows"]], first["next"]) == (["a", "b"], "b")
    second = (await w.client.get(URL, params={"limit": 2, "cursor": first["next"]})).json()
    assert ([one["name"] for one in second["workflows"]], second["next"]) == (["c"], None)
    assert "Version" in (await w.client.get(f"{URL}:schema")).json()["$defs"]


async def job_of(w: World, policy: str, **more: Any) -> Any:
    return await w.client.post(
        "/v1/jobs", json={"url": "https://shop.example/p/1", "goal": "x", "policy": policy, **more}
    )


async def test_a_job_gets_the_version_that_is_active_when_it_is_handed_in(w: World) -> None:
    await w.client.post(URL, json=edited("p.price"))
    await w.client.post(URL, json=edited("b.price"))
    refused = await job_of(w, "workflow:books")
    assert refused.status_code == 400
    assert refused.json()["errors"] == [{"field": "policy", "reason": "no version is active of the workflow 'books'"}]
    await w.client.post(f"{URL}/books/versions/2/activate")
    assert (await job_of(w, "workflow:books")).status_code == 201
    await w.client.post(f"{URL}/books/versions/1/activate")
    assert (await job_of(w, "workflow:books@2")).status_code == 201, "a retired version, by its number"
    assert (await job_of(w, "workflow:books@7")).status_code == 400
    await w.client.delete(f"{URL}/books")
    works = sorted(await w.claim(), key=lambda work: work.job)
    assert len(works) == 2
    for work in works:
        assert work.spec.workflow is not None
        (version,) = work.spec.workflow["versions"]
        assert version["number"] == 2
        assert version["branches"][0]["fields"][0]["channels"][1]["place"]["select"] == "b.price"


async def test_a_loop_begins_with_a_workflow_that_exists_and_can_be_replayed(w: World) -> None:
    async def refused(learn: str) -> str:
        answer = await job_of(w, "auto", learn=learn)
        assert answer.status_code == 400, answer.text
        (fault,) = answer.json()["errors"]
        assert fault["field"] == "learn"
        return str(fault["reason"])

    assert await refused("Books") == "must be auto, off or the name of a workflow"
    assert await refused("books") == "there is no workflow 'books'"
    await w.client.post(URL, json=BOOKS)
    assert await refused("books") == "no version is active of the workflow 'books'"
    assert await refused("books@2") == "there is no version 2 that can be replayed of the workflow 'books'"
    assert (await job_of(w, "auto", learn="books@1")).status_code == 201
    await w.client.post(f"{URL}/books/versions/1/activate")
    assert (await job_of(w, "auto", learn="books")).status_code == 201
    assert (await job_of(w, "auto", learn="off")).status_code == 201


async def test_a_job_may_bring_its_workflow_along(w: World) -> None:
    assert (await job_of(w, "workflow:books", workflow=BOOKS)).status_code == 201
    assert (await job_of(w, "workflow:other", workflow=BOOKS)).json()["errors"][0]["field"] == "workflow.name"
    login = {"url": "https://shop.example/login", "data": {"user": "u"}}
    assert (await job_of(w, "workflow:books", workflow=BOOKS, login=login)).json()["errors"][0]["field"] == "login"


ORDERS: dict[str, Any] = {
    "format": "shoal-workflow/1",
    "name": "orders",
    "scope": {"site": "shop.example"},
    "versions": [
        {
            "url": "https://shop.example/new",
            "params": [{"name": "your_name", "source": "data", "path": "$.your_name"}],
            "nodes": [{"id": "wait", "kind": "wait", "until": [{"kind": "text", "value": "{your_name}"}]}],
        }
    ],
}


async def test_a_workflow_and_its_data_are_a_job(w: World) -> None:
    await w.client.post(URL, json=ORDERS)
    job = {"policy": "workflow:orders@1", "data": {"your_name": "Ben"}}
    taken = await w.client.post("/v1/jobs", json=job)
    assert taken.status_code == 201, taken.text
    kept = (await w.client.get(f"/v1/jobs/{taken.json()['id']}")).json()["spec"]
    assert (kept["url"], kept.get("goal")) == ("https://shop.example/new", None)
    assert (await w.client.post("/v1/jobs", json={**job, "workflow": ORDERS})).status_code == 201
    elsewhere = await w.client.post("/v1/jobs", json={**job, "url": "https://shop.example/old"})
    kept = (await w.client.get(f"/v1/jobs/{elsewhere.json()['id']}")).json()["spec"]
    assert kept["url"] == "https://shop.example/old"


@pytest.mark.parametrize(
    "job",
    [{"policy": "workflow:books@1"}, {"goal": "x"}, {"goal": "x", "policy": "rules"}],
)
async def test_a_job_without_any_address_is_refused(w: World, job: dict[str, Any]) -> None:
    await w.client.post(URL, json=BOOKS)
    refused = await w.client.post("/v1/jobs", json=job)
    assert refused.status_code == 400 and [fault["field"] for fault in refused.json()["errors"]] == ["url"], (
        refused.text
    )


async def test_an_address_that_no_browser_opens_begins_no_workflow(w: World) -> None:
    (version,) = ORDERS["versions"]
    for url in ("file:///etc/passwd", "javascript:alert(1)"):
        refused = await w.client.post(URL, json={**ORDERS, "versions": [{**version, "url": url}]})
        assert refused.status_code == 400 and "versions[0].url" in refused.text
    for url in ("https://shop.example:0/", "https://1.2.3.999/"):
        brought = {**ORDERS, "versions": [{**version, "url": url}]}
        refused = await w.client.post("/v1/jobs", json={"policy": "workflow:orders", "workflow": brought, "data": {}})
        assert (refused.status_code, [fault["field"] for fault in refused.json()["errors"]]) == (400, ["url"]), url


async def test_what_became_of_replays_is_counted_with_their_version(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    await w.client.post(f"{URL}/books/versions/1/activate")
    ends = [
        Replay("books", 1, True),
        Replay("books", 1, True),
        Replay("books", 1, False, ("shape", "shape"), missed_at=("read", "read")),
        Replay("books", 1, True, audit="right"),
        Replay("books", 1, False, ("audit",), missed_at=("read",), audit="wrong"),
        Replay("books", 1, True, shadow=True, audit="right"),
        Replay("books", 1, True, shadow=True, audit="wrong"),
        Replay("books", 1, False, ("shape",), shadow=True),
    ]
    for end in ends:
        await job_of(w, "workflow:books")
        await w.finish(await w.claim(), lambda _, end=end: Outcome(Status.COMPLETED, replay=end))  # type: ignore[misc]
    figures = (await w.client.get(f"{URL}/books")).json()["versions"][0]["figures"]
    assert figures == {
        "replays": 3,
        "misses": 2,
        "miss_shape": 1,
        "miss_shape@read": 1,
        "miss_audit": 1,
        "miss_audit@read": 1,
        "audits": 2,
        "audits_right": 1,
        "audits_wrong": 1,
        "shadow": 3,
        "shadow_misses": 1,
        "shadow_wrong": 1,
    }, "what was compared is no replay"
    await job_of(w, "workflow:books")
    await w.client.delete(f"{URL}/books")
    await w.finish(await w.claim(), lambda _: Outcome(Status.COMPLETED, replay=ends[0]))
