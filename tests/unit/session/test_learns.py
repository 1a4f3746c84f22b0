"""Which loops learn from their first items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.sessions.loops.learning import learns, teaches
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, LearningLoop, LoopItem, Step, Task
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.format.workflow import goal_hash, schema_hash
from tests.store_contract.workflows import learned
from tests.worker_world import PlainPolicy

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
LINKS = {"from": {"select": "a"}}
ITEMS = tuple(LoopItem(n, f"https://shop.example:8443/p/{n}", is_link=True) for n in range(3))


class Deciding(PlainPolicy):
    """A policy that asks a model."""

    instant = False


class Instant(PlainPolicy):
    """One that asks none."""

    instant = True


def work(**fields: Any) -> Work:
    given = {"url": "https://shop.example/", "goal": "Read it", "loop": LINKS, "extract": {"schema": SCHEMA}}
    return Work(1, 1, 1, "t", 1, 0, JobSpec.model_validate(given | fields), None, None, None, None)


def test_a_long_loop_of_a_model_learns_for_its_site_goal_and_schema() -> None:
    learning = learns(work(), Deciding(), ITEMS, 21)
    assert learning == LearningLoop("shop.example:8443", goal_hash("read  it"), schema_hash(SCHEMA))
    values = [LoopItem(0, '{"name": "Ada"}', is_link=False)]
    of_values = learns(work(), Deciding(), values, 21)
    assert of_values is not None and of_values.site == "shop.example"


@pytest.mark.parametrize(
    ("fields", "n"),
    [
        ({}, 20),
        ({"learn": "off"}, 1000),
        ({"policy": "workflow:books"}, 1000),
        ({"sample": 3}, 1000),
        ({"login": {"url": "https://shop.example/login", "data": {"user": "ada"}}}, 1000),
        ({"loop": {"from": {"select": "a"}, "loop": {"from": {"select": "b"}}}}, 1000),
        ({"extract": {"fields": {"n": {"select": "p"}}}}, 1000),
        ({"extract": {"schema": {"type": "array", "items": SCHEMA}}}, 1000),
    ],
)
def test_other_loops_do_not(fields: dict[str, Any], n: int) -> None:
    assert learns(work(**fields), Deciding(), ITEMS, n) is None


def test_a_loop_that_names_a_workflow_learns_however_short() -> None:
    named = learns(work(learn="books@2"), Deciding(), ITEMS, 3)
    assert named is not None and named.workflow == "books@2"


NO_PICTURES = {"artifacts": {"screenshots": "none"}}


def test_rules_teach_a_long_loop_whose_pages_may_be_read_without_a_browser() -> None:
    learning = learns(work(**NO_PICTURES), Instant(), ITEMS, 21)
    assert learning is not None and learning.record_schema == schema_hash(SCHEMA)
    by_model = learns(work(**NO_PICTURES), Deciding(), ITEMS, 21)
    assert by_model is not None and by_model.goal != learning.goal, "neither begins with what the other has learned"
    accepts = learns(work(**NO_PICTURES, extract={"schema": SCHEMA, "accept": "certain"}), Instant(), ITEMS, 21)
    assert accepts is not None and accepts.goal != learning.goal


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"artifacts": {"evidence": "document", "har": True}},
        {**NO_PICTURES, "learn": "books"},
        {**NO_PICTURES, "data": {"name": "Ada"}},
        {**NO_PICTURES, "extract": {"schema": SCHEMA, "wait_for": "p"}},
        {**NO_PICTURES, "extract": None},
    ],
)
def test_where_a_browser_opens_each_page_the_rules_teach_nothing(fields: dict[str, Any]) -> None:
    assert learns(work(**fields), Instant(), ITEMS, 1000) is None


def test_rules_do_not_teach_loops_of_values() -> None:
    values = [LoopItem(0, '{"name": "Ada"}', is_link=False)]
    assert learns(work(**NO_PICTURES), Instant(), values, 1000) is None


def test_a_run_of_which_only_the_end_is_seen_teaches_nothing() -> None:
    deciding, step = Deciding(), Step(0, "https://shop.example/", "", ())
    assert teaches(work(), deciding)
    for known in (
        Checkpoint(steps=(step,)),
        Checkpoint(history=(Task("navigate", "go", Status.COMPLETED, steps=(step,)),)),
    ):
        assert not teaches(replace(work(), checkpoint=known), deciding), "an attempt was lost before"
    assert teaches(replace(work(), checkpoint=Checkpoint(url="https://shop.example/", confirmed=())), deciding)

    (version,) = learned().versions
    replaying = WorkflowPolicy("books", version, deciding)
    assert not teaches(work(), replaying)
    missed = replace(replaying.report, handed_over=True)
    replaying._report = missed
    assert teaches(work(), replaying), "the workflow has done nothing, so the model did all"
    replaying.has_acted = True
    assert not teaches(work(), replaying)
