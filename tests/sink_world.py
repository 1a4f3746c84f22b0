"""Sinks as a gateway writes them, over a store in memory: for tests of each kind of sink."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from shoal.services.addresses import Reach
from shoal.services.secrets.folder import SecretFolder
from shoal.services.sinks.targets import GOOGLE, SinkTargets
from shoal.services.sinks.writer import SinkWriter
from shoal.services.store.jobs.sink_records import SinkRow, SinkState
from shoal.services.web.results.result_lines import job_lines
from shoal.services.web.specs.specs import SpecRules
from shoal.services.webhooks.checked_http import CheckedHttp
from tests.gateway_world import FixedNames, World, completed, loop_of, world

MASTER = "m" * 32
NAMES = {
    "127.0.0.1": ["127.0.0.1"],
    "localhost": ["127.0.0.1"],
    "db.example": ["127.0.0.1"],
    "s3.example": ["127.0.0.1"],
    "hooks.example": ["127.0.0.1"],
}
LOCAL = Reach(exceptions=("127.0.0.0/8",))

SCHEMA = {
    "type": "object",
    "properties": {
        "sku": {"type": "string"},
        "price": {"type": "number"},
        "stock": {"type": ["integer", "null"]},
        "new": {"type": "boolean"},
        "since": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "seller": {"type": "object", "properties": {"name": {"type": "string"}, "score": {"type": "number"}}},
    },
}


def product(number: int, **more: Any) -> dict[str, Any]:
    """A record of `SCHEMA`."""
    return {
        "sku": f"A{number}",
        "price": number + 0.99,
        "stock": number,
        "new": number % 2 == 0,
        "since": "2026-11-28",
        "tags": ["a", "b"],
        "seller": {"name": "=1+1", "score": 4.5},
        **more,
    }


@dataclass
class SinkWorld:
    """A gateway with its writer of sinks."""

    gateway: World
    folder: Path  # where the tenant may write to
    secrets: SecretFolder
    reach: Reach
    google: str = GOOGLE
    writers: list[asyncio.Task[None]] = field(default_factory=list)
    ahead_s: list[float] = field(default_factory=lambda: [0.0])

    def skip(self, seconds: float) -> None:
        """Lets time go by for the store."""
        self.ahead_s[0] += seconds

    def secret(self, name: str, value: str, site: str) -> str:
        """Stores a secret of the tenant that is bound to `site`; gives the reference."""
        self.secrets.put("default", name, value, [site])
        return f"secret:{name}"

    async def job(self, sinks: Sequence[Mapping[str, Any]], records: Sequence[Any], **spec: Any) -> int:
        """A job that has ended with these records, each an item of its loop."""
        fields = {
            "goal": None,
            "extract": {"schema": SCHEMA},
            "loop": {"values": [str(n) for n in range(len(records))]},
        }
        job = await self.gateway.submit(sinks=list(sinks), **{**fields, **spec})
        await self.gateway.run(
            loop_of([str(n) for n in range(len(records))], lambda work: completed(records[int(work.item.value)]))  # type: ignore[union-attr]
        )
        return int(job[1:])

    def writer(self) -> SinkWriter:
        """Another writer over the same store."""
        http = CheckedHttp(self.reach, FixedNames(NAMES))
        targets = SinkTargets(
            http, self.secrets.folder, (self.folder.parent / "{tenant}",), (MASTER,), google=self.google
        )
        return SinkWriter(self.gateway.store, partial(job_lines, self.gateway.deps), targets)

    def start(self) -> asyncio.Task[None]:
        """Another writer that runs."""
        writer = asyncio.create_task(self.writer().run())
        self.writers.append(writer)
        return writer

    async def stop(self, writer: asyncio.Task[None]) -> None:
        """Ends a writer in the middle of whatever it does."""
        writer.cancel()
        with suppress(asyncio.CancelledError):
            await writer

    async def sinks(self, job: int) -> list[SinkRow]:
        return await self.gateway.store.sinks.of_job(job)

    async def until(self, job: int, state: SinkState, nth: int = 0) -> SinkRow:
        """Waits for a sink to be so."""
        async with asyncio.timeout(60):
            while (row := (await self.sinks(job))[nth]).state is not state:
                await asyncio.sleep(0.02)
        return row

    async def failing(self, job: int, nth: int = 0) -> SinkRow:
        """Waits for a sink whose attempt has failed."""
        async with asyncio.timeout(60):
            while not (row := (await self.sinks(job))[nth]).error:
                await asyncio.sleep(0.02)
        return row


@asynccontextmanager
async def sink_world(
    tmp_path: Path, *, writing: bool = True, reach: Reach = LOCAL, google: str = GOOGLE
) -> AsyncIterator[SinkWorld]:
    """A gateway, and a writer beside it where `writing` says so."""
    folder, secrets = tmp_path / "out" / "default", tmp_path / "secrets"
    folder.mkdir(parents=True)
    secrets.mkdir()
    ahead_s = [0.0]
    rules = SpecRules(reach, sink_dirs=(tmp_path / "out" / "{tenant}",))
    async with world(
        names={**NAMES, "shop.example": ["93.184.216.34"]}, rules=rules, clock=lambda: time.time() + ahead_s[0]
    ) as gateway:
        w = SinkWorld(gateway, folder, SecretFolder(secrets), reach, google, ahead_s=ahead_s)
        try:
            if writing:
                w.start()
            yield w
        finally:
            for writer in w.writers:
                await w.stop(writer)


def json_lines(text: str) -> list[Any]:
    """The values of JSON lines."""
    return [json.loads(line) for line in text.splitlines()]
