"""A version of a workflow is run on given pages: what is asked of the session, what is told, and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from typing import Any

import pytest_asyncio

from shoal.agent.errors import SampleSendsNothing, WorkflowMiss
from shoal.agent.replay_detail import ChannelReading, FieldReading, IntendedAction, ReplayDetail, ReplayDivergence
from shoal.agent.status import Status
from shoal.agent.types import Outcome, Record, Replay
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.format.workflow import read_workflow
from shoal.services.store.records import JobFilter
from tests.gateway_world import World, completed, fan_out, world
from tests.unit.gateway.test_workflows import URL
from tests.unit.workflows.books import BOOKS

PAGES = ["https://shop.example/p/1", "https://shop.example/p/2", "https://shop.example/p/3"]
PRICE = FieldReading(
    9.5,
    ("label", "css"),
    (
        ChannelReading("label", "label Price", 9.5, "£9.50", "dl > dd"),
        ChannelReading("css", "select p.price", 9.5, "£9.50", "p.price"),
    ),
)
SHAPE = ReplayDivergence("shape", "price", "css has the shape '$9.99'")


@pytest_asyncio.fixture
async def w() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def replay(detail: ReplayDetail) -> Replay:
    return Replay("books", 1, not detail.misses, tuple(miss.reason for miss in detail.misses), detail=detail)


def ended(work: Work) -> Outcome:
    """The first page is read, the second misses, the third ends before its form."""
    if work.children is not None:
        return completed()
    if work.item is None:
        return fan_out(list(work.spec.loop.values)) if work.spec.loop and work.spec.loop.values else completed()
    if work.item.index == 0:
        detail = ReplayDetail("page", "product", ("read",), {"price": PRICE})
        return Outcome(Status.COMPLETED, (Record({"price": 9.5}),), url=work.item.value, replay=replay(detail))
    if work.item.index == 1:
        miss = WorkflowMiss("books@1: price").info()
        return Outcome(Status.FAILED, error=miss, url=work.item.value, replay=replay(ReplayDetail(misses=(SHAPE,))))
    intended = IntendedAction("send", "click", {}, "Send", ("role_name", "css"))
    stopped = replay(ReplayDetail("session", done=("name",), intended=intended))
    return Outcome(Status.FAILED, error=SampleSendsNothing("ended").info(), url=work.item.value, replay=stopped)


async def tried(w: World, answer: Callable[[Work], Outcome] = ended, **body: Any) -> dict[str, Any]:
    asked = asyncio.create_task(w.client.post(f"{URL}/books:try", json={"urls": PAGES, "version": 1, **body}))
    while not asked.done():
        await w.run(answer)
        await asyncio.sleep(0.01)
    response = await asked
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


async def test_each_page_is_told_with_its_record_its_misses_or_the_action_that_was_not_done(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    told = await tried(w)
    assert (told["workflow"], told["version"], told["finished"], told["error"]) == ("books", 1, True, None)
    read, missed, stopped = told["pages"]
    assert [page["url"] for page in told["pages"]] == PAGES
    assert (read["end"], read["record"], read["tier"], read["branch"]) == ("read", {"price": 9.5}, "page", "product")
    assert read["fields"]["price"]["agreed"] == ["label", "css"]
    assert read["fields"]["price"]["channels"][1]["raw"] == "£9.50"
    assert (missed["end"], missed["record"], missed["error"]) == ("miss", None, None)
    assert missed["misses"] == [{"reason": "shape", "where": "price", "told": "css has the shape '$9.99'"}]
    assert (stopped["end"], stopped["done"]) == ("stopped", ["name"])
    assert (stopped["intended"]["action"], stopped["intended"]["element"]) == ("click", "Send")


async def test_the_job_of_a_try_asks_no_model_sends_nothing_and_is_gone_afterwards(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    seen: list[Work] = []

    def answer(work: Work) -> Outcome:
        seen.append(work)
        return ended(work)

    await tried(w, answer)
    spec = seen[0].spec
    assert (spec.policy, spec.on_miss, spec.repeatable, spec.sample) == ("workflow:books@1", "fail", False, 3)
    assert (spec.learn, spec.artifacts.screenshots) == ("off", "none")
    assert await w.store.jobs(JobFilter()) == []
    assert (await w.client.get(f"{URL}/books")).json()["versions"][0]["figures"] == {}, "a try is no proof"


async def test_guards_that_only_an_item_of_a_list_bears_out_are_left_out_and_named(w: World) -> None:
    guarded = deepcopy(BOOKS)
    branch = guarded["versions"][0]["branches"][0]
    branch["signature"]["item"] = ["link", "label", "value"]
    branch["fields"][0]["is_label"] = True
    await w.client.post(URL, json=guarded)
    seen: list[Work] = []

    def answer(work: Work) -> Outcome:
        seen.append(work)
        return ended(work)

    told = await tried(w, answer)
    assert told["unchecked"] == [
        *("product: the item's label", "product: the item's value", "product: price is the item's label")
    ]
    (branch_run,) = read_workflow(seen[0].spec.workflow).versions[0].branches
    assert (branch_run.signature.item, branch_run.fields[0].is_label) == (("link",), False)


async def test_it_begins_at_the_node_that_is_named_with_the_item_that_is_given(w: World) -> None:
    two = deepcopy(BOOKS)
    two["versions"][0]["nodes"].insert(
        0, {"id": "look", "kind": "guard", "holds": [{"kind": "url", "value": PAGES[0]}], "next": "read"}
    )
    assert (await w.client.post(URL, json=two)).status_code == 201
    seen: list[Work] = []

    def answer(work: Work) -> Outcome:
        seen.append(work)
        return ended(work)

    await tried(w, answer, urls=PAGES[:1], start="read", item={"name": "Ada"}, data={"x": 1})
    spec = seen[0].spec
    assert read_workflow(spec.workflow).versions[0].first == "read"
    assert spec.loop is not None and spec.loop.values == (json.dumps({"name": "Ada"}),)
    assert spec.data == {"x": 1}


async def test_what_cannot_be_run_is_refused_with_the_field(w: World) -> None:
    await w.client.post(URL, json=BOOKS)
    for body, field in (
        ({"urls": []}, "urls"),
        ({"urls": PAGES * 4}, "urls"),
        ({"urls": ["javascript:alert(1)"]}, "urls[0]"),
        ({"urls": ["file:///etc/passwd"]}, "urls[0]"),
        ({"urls": [PAGES[0], "https://a b/"]}, "urls[1]"),
        ({"urls": ["https://shop.example:0/"]}, "urls[0]"),
        ({"urls": PAGES[:1], "start": "nowhere"}, "start"),
        ({"urls": PAGES, "item": {"a": 1}}, "body"),
        ({"urls": PAGES, "pages": 1}, "pages"),
        ({"urls": PAGES[:1], "data": {"n": 2**70}}, "data.n"),
        ({"urls": PAGES[:1], "data": {"n": "a\0b"}}, "data.n"),
    ):
        answer = await w.client.post(f"{URL}/books:try", json={"version": 1, **body})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field), answer.text
    unknown = await w.client.post(f"{URL}/books:try", json={"urls": PAGES, "version": 7})
    assert unknown.status_code == 404
    inactive = await w.client.post(f"{URL}/books:try", json={"urls": PAGES})
    assert (inactive.status_code, "no version" in inactive.text) == (404, True)
    assert (await w.client.post(f"{URL}/none:try", json={"urls": PAGES})).status_code == 404
    assert (await w.client.post(f"{URL}/books:try", content=b"{", headers={"content-type": "text/plain"})).is_error
    assert await w.store.jobs(JobFilter()) == []


async def test_a_version_is_tried_by_those_who_may_submit_and_read_for_its_tenant() -> None:
    async with world(auth=True) as guarded:
        mine = await guarded.key("read", "control", tenant="mine")
        bearer = {"Authorization": f"Bearer {mine}"}
        assert (await guarded.client.post(URL, json=BOOKS, headers=bearer)).status_code == 201
        for scopes, tenant, status in (
            (("read", "control"), "mine", 403),
            (("submit",), "mine", 403),
            (("submit", "read"), "yours", 404),
        ):
            key = {"Authorization": f"Bearer {await guarded.key(*scopes, tenant=tenant)}"}
            asked = {"urls": PAGES, "version": 1}
            answer = await guarded.client.post(f"{URL}/books:try", json=asked, headers=key)
            assert answer.status_code == status, answer.text
