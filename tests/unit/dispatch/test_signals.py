"""The loops of a dispatcher tell each other what happened by one object."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

from shoal.services.dispatch.signals import Signals

ROOT = Path(__file__).resolve().parents[3]


def test_no_module_sets_an_event_of_another_object() -> None:
    """`self._x.set()` is an event of one's own; anything longer is a flag that somebody else has to guess."""
    wrong = []
    for path in sorted((ROOT / "services" / "dispatch").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("set", "clear") and ast.unparse(node).count(".") > 2:
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert wrong == []


async def claims(signals: Signals) -> bool:
    """Return whether the claimer is woken."""
    waiting = asyncio.create_task(signals.wait_to_claim(60))
    for _ in range(5):  # what is there already needs no more turns of the loop
        await asyncio.sleep(0)
    woken = waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])
    return woken


@pytest.mark.parametrize(
    "what", ["sessions_ready", "worker_has_room", "model_has_room", "store_changed", "stop", "few_reports"]
)
async def test_the_claimer_hears_of_what_may_let_it_claim(what: str) -> None:
    signals = Signals()
    signals.too_many_reports()
    assert not await claims(signals)
    getattr(signals, what)()
    assert await claims(signals)
    assert not await claims(signals), "once"


async def test_pullers_wait_while_the_committer_is_behind() -> None:
    signals = Signals()
    signals.too_many_reports()
    waits = asyncio.create_task(signals.wait_to_pull())
    await asyncio.sleep(0)
    assert not waits.done() and not signals.takes_reports
    signals.few_reports()
    await asyncio.wait_for(waits, 60)


async def test_a_dispatcher_begins_by_looking_at_everything() -> None:
    signals = Signals()
    assert signals.all_partitions and signals.changes and signals.takes_reports
    await asyncio.wait_for(signals.wait_for_children(), 60)
    await asyncio.wait_for(signals.wait_for_bulk_operation(), 60)
    for waiting, signal in (
        (signals.wait_for_children, signals.children_pending),
        (signals.wait_for_bulk_operation, signals.bulk_operation_left),
    ):
        task = asyncio.create_task(waiting())
        await asyncio.sleep(0)
        assert not task.done()
        signal()
        await asyncio.wait_for(task, 60)
