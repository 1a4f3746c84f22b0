"""Which unsure items a storm's kills explain, and which they do not."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "load-tests"))
chaos: Any = importlib.import_module("_chaos_doubts")

ME, OTHER = 4711, 4712
MINE = frozenset({ME})


def doubt(marked: float = 100.0, ended: float = 103.0, *, action: str = "click on /quote/project") -> Any:
    return chaos.Doubt(7, action, ME, marked, ended, "it could be sent twice")


def kill(at: float, kind: str = "worker", workers: frozenset[int] | None = MINE, lasts_s: float = 0.0) -> Any:
    return chaos.Kill(kind, at, lasts_s, workers)


@pytest.mark.parametrize(
    "kills",
    [
        [kill(101.0)],
        [kill(50.0), kill(102.9), kill(200.0)],
        [kill(101.0, "chromium")],
        [kill(101.0, workers=frozenset({ME, OTHER}))],
        [kill(90.0, "raylet")],
        [kill(80.0, "network", lasts_s=10.0)],
        [kill(60.0, "head", workers=None)],
        [kill(70.0, "frozen worker", lasts_s=20.0)],
        [kill(98.0)],
        [kill(103.2)],
    ],
    ids=[
        "its worker died while it was marked",
        "one of several kills",
        "its browser died",
        "its worker died with another",
        "its worker outlived the raylet for a while",
        "its node was ended after it had been cut off",
        "Ray itself died",
        "its worker stood still until shortly before",
        "the mark was on its way when its worker died",
        "the two clocks were read one after the other",
    ],
)
def test_a_kill_that_fell_into_the_action_explains_it(kills: list[Any]) -> None:
    assert chaos.unexplained([doubt()], kills) == []


@pytest.mark.parametrize(
    "kills",
    [
        [],
        [kill(104.0)],
        [kill(50.0)],
        [kill(101.0, workers=frozenset({OTHER}))],
        [kill(101.0, workers=frozenset())],
        [kill(101.0, kind) for kind in ("gateway", "supervisor", "postgres", "s3", "slow link", "dispatcher")],
        [kill(101.0, kind) for kind in ("frozen dispatcher", "frozen postgres", "write lock", "failover")],
        [kill(30.0, "network", lasts_s=10.0)],
    ],
    ids=[
        "nothing was killed",
        "only later",
        "only long before",
        "another worker",
        "no worker",
        "only what breaks no action off",
        "only what a lease outlives",
        "its node was cut off long before",
    ],
)
def test_an_unsure_item_without_a_kill_in_its_action_fails_the_verdict(kills: list[Any]) -> None:
    (told,) = chaos.unexplained([doubt()], kills)
    assert "item 7" in told and "click on /quote/project" in told


def test_as_many_kills_as_unsure_items_excuse_none_that_they_did_not_fall_into() -> None:
    kills = [kill(101.0), kill(101.5), kill(102.0)]
    late = doubt(300.0, 301.0)
    (told,) = chaos.unexplained([doubt(), late], kills)
    assert told.endswith("the last kill before its end was of a worker, 199.0 s earlier: it could be sent twice")


def test_an_unsure_item_that_names_no_action_fails_whatever_was_killed() -> None:
    assert chaos.unexplained([doubt(action="")], [kill(101.0)]) == ["item 7 is unsure, but no action was marked"]


def test_where_nobody_knows_which_worker_it_was_the_moment_decides() -> None:
    unknown = chaos.Doubt(7, "click", None, 100.0, 103.0)
    assert chaos.unexplained([unknown], [kill(101.0, workers=frozenset({OTHER}))]) == []
    assert chaos.unexplained([unknown], [kill(50.0)]) != []
