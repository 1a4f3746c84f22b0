"""An embedded cluster for one benchmark, and one job run on it from its submission to its end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from shoal.services.cluster.embedded import Cluster, embedded_cluster
from shoal.services.settings import load_settings


@asynccontextmanager
async def bench_cluster(slots: int, *, workers: int = 1, **settings: Any) -> AsyncIterator[Cluster]:
    """A cluster in a folder of its own; each of its workers has `slots` slots. `settings` come on top."""
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as data:
        loaded = load_settings(
            data_dir=Path(data),
            port=0,
            allow_private=True,
            workers=workers,
            slots_per_worker=slots,
            log_level="error",
            per_domain=64,
            **settings,
        )
        async with embedded_cluster(loaded) as cluster:
            yield cluster


async def run_job(client: httpx.AsyncClient, spec: dict[str, Any], *, look_s: float = 0.5) -> dict[str, Any]:
    """The job as the gateway shows it once it has ended.

    `look_s`: seconds from one look to the next. The clock is the server's `finished_at`, so looks need not be many.
    """
    answer = await client.post("/v1/jobs", json=spec)
    answer.raise_for_status()
    job = answer.json()["id"]
    while True:
        row: dict[str, Any] = (await client.get(f"/v1/jobs/{job}")).json()
        if row["finished_at"]:
            return row
        await asyncio.sleep(look_s)
