"""Which loops learn from their first items."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.sessions.loops.learning import learns
from shoal.agent.spec import JobSpec
from shoal.agent.types import LearningLoop, LoopItem
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.format.workflow import goal_hash, schema_hash
from tests.cluster_world import PlainPolicy

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
        ({"sample": 3}, 1000),
        ({"login": {"url": "https://shop.example/login", "data": {"user": "ada"}}}, 1000),
        ({"loop": {"from": {"select": "a"}, "loop": {"from": {"select": "b"}}}}, 1000),
        ({"extract": {"fields": {"n": {"select": "p"}}}}, 1000),
        ({"extract": {"schema": {"type": "array", "items": SCHEMA}}}, 1000),
    ],
)
def test_other_loops_do_not(fields: dict[str, Any], n: int) -> None:
    assert learns(work(**fields), Deciding(), ITEMS, n) is None


def test_a_loop_without_a_model_does_not_learn_and_one_that_names_a_workflow_does_however_short() -> None:
    assert learns(work(), Instant(), ITEMS, 1000) is None
    named = learns(work(learn="books@2"), Deciding(), ITEMS, 3)
    assert named is not None and named.workflow == "books@2"
