"""Bounds in bytes on the reports that a dispatcher holds back while it cannot write; nothing of them is lost."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.store.records import CommitResult, Finish
from tests.cluster_world import world
from tests.doubles import FakePage
from tests.patience import soon
from tests.worker_world import LOOP, shop

RECORD_BYTES = 50_000
ITEMS = 200
HELD_BYTES = 1_000_000
GROUP_BYTES = 300_000
WORKERS = 3
TEXT = {"schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}


def large(n: int) -> dict[str, FakePage]:
    """A shop with `n` items of which each gives a large record."""
    return shop(n) | {
        f"http://shop.example/{i}": FakePage(read={"text": f"{i} " * (RECORD_BYTES // 4)}) for i in range(n)
    }


def size(report: Any) -> int:
    return len(pickle.dumps(report, pickle.HIGHEST_PROTOCOL))


async def test_large_outcomes_stop_the_pullers_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    config = DispatchConfig(workers=WORKERS, per_domain=ITEMS, held_bytes=HELD_BYTES, group_bytes=GROUP_BYTES)
    async with world(large(ITEMS), slots=8, dispatch=config) as w:
        committer, write = w.dispatcher._committer, w.store.finish
        groups: list[int] = []  # bytes of each commit
        writing: list[int] = []  # bytes that were being written, or waited for it, when the database stood still
        told: list[int] = []  # the same as the dispatcher's snapshot tells it

        async def finish(group: Sequence[Finish], *, per_domain: int | None = None) -> CommitResult:
            while any(one.outcome.records for one in group) and not writing:
                # What may still come in has come in: all of it, or so much that nobody pulls any more.
                async with soon(28):
                    while (
                        w.dispatcher._state.signals.takes_reports and len(group) + committer.uncommitted.reports < ITEMS
                    ):
                        await asyncio.sleep(0.01)
                writing.append(sum(map(size, group)) + sum(size(one[1]) for one in committer._reports))
                told.append(committer.uncommitted.bytes)
            groups.append(sum(map(size, group)))
            return await write(group, per_domain=per_domain)

        monkeypatch.setattr(w.store, "finish", finish)
        job = await w.final(await w.submit(loop=LOOP, extract=TEXT))
        rows = await w.store.results(job.id, limit=ITEMS + 1)

    assert (job.status, job.counts.completed) == (Status.COMPLETED, ITEMS)
    assert [row.record.value["text"].split(" ")[0] for row in rows if row.record] == [str(i) for i in range(ITEMS)]
    (held,) = writing
    assert told == [pytest.approx(held, rel=0.02)]
    assert max(groups) <= GROUP_BYTES
    # Pulls that were under way when it became too much: together no more than may be held, or one report each.
    assert held <= 2 * HELD_BYTES + WORKERS * 2 * RECORD_BYTES, f"{held:,} bytes"
