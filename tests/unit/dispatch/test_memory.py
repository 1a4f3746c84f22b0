"""Memory of this machine, and what it means for the number of workers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from shoal.services.browsers.pools.local_pool import LocalWorker
from shoal.services.browsers.pools.pool import WorkerStats
from shoal.services.dispatch import dispatcher as module
from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.workers.free_memory import free_bytes
from tests.cluster_world import world
from tests.patience import soon
from tests.worker_world import EXTRACT, LOOP, shop


def test_a_container_s_limit_counts_and_a_tenth_is_left(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("300000\n")
    assert free_bytes(tmp_path) == 600_000
    (tmp_path / "memory.current").write_text("950000\n")
    assert free_bytes(tmp_path) == 0


@pytest.mark.parametrize("limit", [None, "max\n", f"{2**62}\n"])
def test_without_one_the_machine_s_memory_counts(tmp_path: Path, limit: str | None) -> None:
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
        (tmp_path / "memory.current").write_text("1\n")
    machine = psutil.virtual_memory()
    assert 0 <= free_bytes(tmp_path) < machine.total
    assert free_bytes(tmp_path) == pytest.approx(max(0, machine.available - machine.total / 10), abs=machine.total / 20)


@pytest.mark.parametrize("held", [10**9, 10**8], ids=["at work", "idle until now"])
async def test_workers_of_one_machine_are_no_more_than_it_has_memory_for(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(module, "_HOUSEKEEPING_S", 0.05)
    monkeypatch.setattr(module, "free_bytes", lambda: 2.5e9 - 1e9 * len(w.dispatcher.workers))
    stats = LocalWorker.stats

    async def own_stats(worker: LocalWorker) -> WorkerStats:
        return replace(await stats(worker), rss_bytes=held)

    monkeypatch.setattr(LocalWorker, "stats", own_stats)
    config = DispatchConfig(workers=1, most_workers=10, per_domain=50, one_machine=True)
    async with world(shop(100, seconds=0.05), slots=2, dispatch=config) as w, soon(28):
        assert (await w.final(await w.submit(loop=LOOP, extract=EXTRACT))).counts.completed == 100
        assert len(w.pool.workers) == 2, "the backlog is worth ten, the memory two"
