"""Workflows: versions behind each other, one of them active, one repair at a time, nothing across tenants."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shoal.agent.workflows.format.version import State
from shoal.agent.workflows.format.workflow import Scope, Workflow, read_workflow
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.workflows.records import WorkflowRow
from tests.store_world import World

SCOPE = {"site": "shop.example", "goal": "g", "schema": "s"}


def learned(name: str = "books", *versions: dict[str, Any], **scope: str) -> Workflow:
    """A workflow with these versions; one draft where none is given."""
    bare = {"nodes": [{"id": "read", "kind": "extract"}], "branches": [BRANCH]}
    return read_workflow(
        {
            "format": "shoal-workflow/1",
            "name": name,
            "scope": SCOPE | scope,
            "versions": [bare | version for version in versions or ({},)],
        }
    )


BRANCH = {
    "id": "product",
    "signature": {"url": "https://shop.example/p/{}"},
    "fields": [
        {
            "name": "price",
            "channels": [
                {"family": "label", "place": {"label": "Price"}},
                {"family": "css", "place": {"select": "p.price"}},
            ],
        }
    ],
}


def states(row: WorkflowRow) -> dict[int, State]:
    return {one.version.number: one.version.state for one in row.versions}


async def test_a_workflow_comes_back_as_it_was_kept(w: World) -> None:
    given = learned("books", {"number": 1, "state": "retired"}, {"number": 2, "parent": 1, "state": "active"})
    kept = await w.store.workflows.keep("t", given)
    assert kept == await w.store.workflows.get("t", "books")
    assert tuple(row.version for row in kept.versions) == given.versions
    assert kept.scope == given.scope
    assert kept.active is not None
    assert kept.active.version.number == 2


async def test_versions_that_come_again_stand_behind_the_others_as_drafts(w: World) -> None:
    await w.store.workflows.keep("t", learned("books", {"number": 4, "state": "active"}))
    edit = {"at": "2026-11-22T10:00:00Z"}
    more = learned("books", {"number": 1, "state": "active"}, {"number": 2, "parent": 1, "state": "canary"} | edit)
    await w.store.workflows.keep("t", more)
    kept = await w.store.workflows.keep("t", more)  # sent again
    assert states(kept) == {1: "active", 2: "draft", 3: "draft"}
    assert [row.version.parent for row in kept.versions] == [None, None, 2]


async def test_another_scope_is_another_workflow(w: World) -> None:
    await w.store.workflows.keep("t", learned("books"))
    with pytest.raises(WrongState, match="another scope"):
        await w.store.workflows.keep("t", learned("books", site="other.example"))


async def test_nothing_crosses_tenants(w: World) -> None:
    await w.store.workflows.keep("t", learned("books", {"state": "active"}))
    store = w.store.workflows
    calls = [
        store.get("u", "books"),
        store.move("u", "books", 1, "retired"),
        store.add_figures("u", "books", 1, {"replays": 1}),
        store.lease_repair("u", "books", "sig", "w1"),
        store.drop("u", "books"),
        store.add_version("u", "books", learned().versions[0]),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            await call
    assert await store.some("u") == []
    assert await store.of_scope("u", learned().scope) is None
    assert (await store.keep("u", learned("books"))).tenant == "u"
    assert states(await store.get("t", "books")) == {1: "active"}


async def test_it_is_found_by_site_goal_and_schema(w: World) -> None:
    store = w.store.workflows
    await store.keep("t", learned("books"))
    w.clock.now += 1
    await store.keep("t", learned("newer"))
    await store.keep("t", learned("other", goal="another"))
    found = await store.of_scope("t", learned().scope)
    assert found is not None
    assert found.name == "newer"
    assert await store.of_scope("t", Scope(site="shop.example", goal="none", record_schema="s")) is None


async def test_they_are_listed_by_name_in_pages(w: World) -> None:
    store = w.store.workflows
    for name, site in (("c", "shop.example"), ("a", "shop.example"), ("b", "other.example")):
        await store.keep("t", learned(name, site=site))
    assert [row.name for row in await store.some("t", limit=2)] == ["a", "b"]
    assert [row.name for row in await store.some("t", after="b", limit=2)] == ["c"]
    assert [row.name for row in await store.some("t", site="shop.example")] == ["a", "c"]
    assert len(await store.some(None)) == 3


async def test_one_version_is_active(w: World) -> None:
    store = w.store.workflows
    await store.keep("t", learned("books", {"number": 1, "state": "active"}, {"number": 2, "state": "canary"}))
    assert states(await store.move("t", "books", 2, "active")) == {1: "retired", 2: "active"}
    assert states(await store.move("t", "books", 1, "active")) == {1: "active", 2: "retired"}
    with pytest.raises(WrongState, match="cannot become draft"):
        await store.move("t", "books", 1, "draft")
    with pytest.raises(NotFound, match="no version 9"):
        await store.move("t", "books", 9, "active")


async def test_two_that_become_active_at_once_leave_one(w: World) -> None:
    store, other = w.store.workflows, (await w.another()).workflows
    await store.keep("t", learned("books", *({"number": n, "state": "canary"} for n in (1, 2, 3, 4))))
    await asyncio.gather(*((store, other)[n % 2].move("t", "books", n, "active") for n in (1, 2, 3, 4)))
    assert sorted(states(await store.get("t", "books")).values()) == ["active", "retired", "retired", "retired"]


async def test_a_version_that_breaks_gives_its_place_back_to_its_parent(w: World) -> None:
    store = w.store.workflows
    await store.keep("t", learned("books", {"number": 1, "state": "active"}))
    version = learned("x", {"number": 1, "parent": 1, "by": "repair", "state": "canary"}).versions[0]
    assert (await store.add_version("t", "books", version)).version.number == 2
    await store.move("t", "books", 2, "active")
    assert await store.roll_back("t", "books", 2, "a record was wrong") == 1
    row = await store.get("t", "books")
    assert states(row) == {1: "active", 2: "broken"}
    assert row.versions[1].why == "a record was wrong"
    assert await store.roll_back("t", "books", 2, "seen by another worker") == 1
    assert await store.roll_back("t", "books", 1, "it breaks, too") is None


async def test_counts_add_up_over_stores(w: World) -> None:
    store, other = w.store.workflows, (await w.another()).workflows
    await store.keep("t", learned("books"))
    await asyncio.gather(
        *((store, other)[n % 2].add_figures("t", "books", 1, {"replays": 10, "misses": 1}) for n in range(6))
    )
    assert (await store.get("t", "books")).versions[0].figures == {"replays": 60, "misses": 6}


async def test_one_repair_at_a_time_over_the_cluster_and_so_many_a_day(w: World) -> None:
    store, other = w.store.workflows, (await w.another()).workflows
    await store.keep("t", learned("books"))
    asked = await asyncio.gather(
        *((store, other)[n % 2].lease_repair("t", "books", "sig", f"w{n}", most_a_day=2) for n in range(6))
    )
    assert [lease.given for lease in asked].count(True) == 1
    owner = f"w{[lease.given for lease in asked].index(True)}"
    assert (await store.lease_repair("t", "books", "sig", owner, most_a_day=2)).given, "its owner keeps it"
    assert (await store.lease_repair("t", "books", "else", "w9", most_a_day=2)).given, "pages of another signature"
    assert await store.end_repair("t", "books", "sig", owner)
    assert not (await store.lease_repair("t", "books", "sig", "w8", most_a_day=2)).given, "two have begun today"
    w.clock.now += 86_400
    assert (await store.lease_repair("t", "books", "sig", "w8", most_a_day=2)).given


async def test_a_repair_whose_worker_died_is_begun_by_another_once_its_lease_ran_out(w: World) -> None:
    store = w.store.workflows
    await store.keep("t", learned("books"))
    assert (await store.lease_repair("t", "books", "sig", "w1", lasts_s=60)).given
    assert not (await store.lease_repair("t", "books", "sig", "w2")).given
    w.clock.now += 61
    assert (await store.lease_repair("t", "books", "sig", "w2")).given
    assert not await store.end_repair("t", "books", "sig", "w1")


async def test_a_dropped_workflow_leaves_nothing(w: World) -> None:
    store = w.store.workflows
    await store.keep("t", learned("books"))
    await store.add_figures("t", "books", 1, {"replays": 1})
    await store.lease_repair("t", "books", "sig", "w1")
    await store.drop("t", "books")
    with pytest.raises(NotFound):
        await store.get("t", "books")
    fresh = await store.keep("t", learned("books"))
    assert fresh.versions[0].figures == {}
    assert (await store.lease_repair("t", "books", "sig", "w2")).given
