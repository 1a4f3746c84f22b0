"""An export of many records and items: the gateway answers others meanwhile, and holds few of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import httpx
import psutil
import pytest

from shoal.services.store.database.transaction import Tx
from tests.gateway_world import World, completed, loop_of
from tests.served_gateway import PAUSE_S, Served, served_gateway

RECORDS, LONG = 10_000, "x" * 1_000
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
    # The records of one session, 10 MB here, are read in one call, which keeps the interpreter.
    assert served.pauses.longest_s < 2 * PAUSE_S


ITEMS = int(os.environ.get("SHOAL_EXPORTED_ITEMS", "20000"))
"""A million, say, take many minutes to be made and read."""
HELD_BYTES = 24 << 20
"""The lines of these items take more than twice as much."""
_COPIES = """
with recursive copy(n) as (select 1 union all select n + 1 from copy where n < {most})
insert into session ({columns})
select {values} from session, copy where session.id = {first}
"""


async def many_items(w: World) -> None:
    """A loop of as many items, each with its record."""
    await w.submit(loop={"values": ["https://shop.example/1"]})
    await w.run(loop_of(["https://shop.example/1"], lambda work: completed({"name": "lamp", "price": 7})))

    def copy(tx: Tx) -> None:
        names = [row[1] for row in tx.conn.exec_driver_sql("pragma table_info(session)")]
        (first,) = tx.conn.exec_driver_sql("select max(id) from session").one()
        other = {"id": "id + n", "idx": "n", "path": "substr(path, 1, length(path) - 8) || printf('%08x', n)"}
        columns, values = ", ".join(names), ", ".join(other.get(name, name) for name in names)
        tx.conn.exec_driver_sql(_COPIES.format(most=ITEMS - 1, columns=columns, values=values, first=first))

    await w.store._db.write(copy)


@pytest.fixture(scope="module")
def of_items() -> Iterator[Served]:
    with served_gateway(many_items) as one:
        yield one


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_of_many_items_is_not_held_in_memory(of_items: Served, form: str) -> None:
    own, lines, most = psutil.Process(), 0, 0
    before = own.memory_info().rss
    with httpx.stream("GET", f"{of_items.url}/v1/jobs/j1/results?format={form}", timeout=280) as answer:
        assert answer.status_code == 200
        for chunk in answer.iter_raw():
            lines += chunk.count(b"\n")
            most = max(most, own.memory_info().rss - before)
    assert lines == ITEMS + (form == "csv")
    assert most < HELD_BYTES, f"{most:,} bytes"
