"""An export of many records: the gateway answers others meanwhile. What it holds of them is in `test_bombs`."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest

from tests.gateway_world import World, completed
from tests.served_gateway import PAUSE_S, Served, served_gateway

RECORDS, LONG = 20_000, "x" * 1_000
BYTES = RECORDS * len(LONG)


async def many(w: World) -> None:
    """A job whose one session gave as many records."""
    await w.submit()
    await w.run(lambda work: completed(*({"n": n, "text": LONG} for n in range(RECORDS))))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with served_gateway(many) as one:
        yield one


@pytest.mark.parametrize("form", ["jsonl", "csv", "xlsx"])
def test_others_are_answered_while_a_large_export_is_written(served: Served, form: str) -> None:
    asked, ended = 0, threading.Event()

    def look() -> None:
        nonlocal asked
        while not ended.is_set():
            assert httpx.get(f"{served.url}/healthz", timeout=20).status_code == 200
            asked += 1

    beside = threading.Thread(target=look)
    served.pauses.reset()
    beside.start()
    size = 0
    try:
        with httpx.stream("GET", f"{served.url}/v1/jobs/j1/results?format={form}", timeout=200) as answer:
            assert answer.status_code == 200
            for chunk in answer.iter_raw():
                size += len(chunk)
    finally:
        ended.set()
        beside.join()
    assert size > BYTES or form == "xlsx", "which packs what repeats itself"
    assert asked > 3
    assert served.pauses.longest_s < 2 * PAUSE_S
