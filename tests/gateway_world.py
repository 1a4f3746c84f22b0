"""A gateway over a store in memory, and a worker that ends sessions as a test says: for tests of gateway and CLI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
from fastapi import FastAPI

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Checkpoint, FanOut, FieldSource, LoopItem, Outcome, Record, Usage
from shoal.agent.worker_messages import Work
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.names import HostNames
from shoal.services.store.records import ClaimRequest, Finish
from shoal.services.store.store import Store, open_store
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps, GatewayOptions
from shoal.services.web.http.api_keys import hash_key, make_key

Answer = Callable[[Work], Outcome]

AT = "2026-11-22T10:00:00.000Z"


class FixedNames(HostNames):
    """Names that resolve as a table says; others do not resolve."""

    def __init__(self, table: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__()
        self.table = dict(table or {})
        self.asked: list[str] = []

    async def addresses(self, host: str, owner: str = "") -> tuple[str, ...]:
        self.asked.append(host)
        return tuple(self.table.get(host, ()))


@dataclass
class World:
    """Everything around one gateway."""

    store: Store
    artifacts: ArtifactStore
    names: FixedNames
    deps: GatewayDeps
    app: FastAPI
    client: httpx.AsyncClient

    async def key(self, *scopes: str, tenant: str = "acme", name: str = "test") -> str:
        """A new key of a tenant."""
        key = make_key()
        await self.store.create_key(name, tenant, scopes, hash_key(key))
        return key

    async def submit(self, **spec: Json) -> str:
        """The id of a new job."""
        answer = await self.client.post("/v1/jobs", json={"url": "https://shop.example/", "goal": "look", **spec})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def claim(self) -> list[Work]:
        """Leases every session that is ready; loops that were begun are stored to their end first."""
        while (await self.store.materialize()).more:
            pass
        takes = [ClaimRequest(partition.job, partition.domain, 0, 1000) for partition in await self.store.partitions()]
        return [claimed.work for claimed in (await self.store.claim("w1", takes, lease_s=60)).sessions] if takes else []

    async def finish(self, work: Sequence[Work], answer: Answer) -> None:
        """Ends leased sessions."""
        await self.store.finish([Finish(one.session, one.fence, answer(one)) for one in work])

    async def run(self, answer: Answer) -> None:
        """Runs sessions until none is ready."""
        while work := await self.claim():
            await self.finish(work, answer)


@asynccontextmanager
async def world(
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    raises: bool = True,
    clock: Callable[[], float] | None = None,
    artifacts: ArtifactStore | None = None,
    **options: Json,
) -> AsyncIterator[World]:
    """A world whose gateway runs with these options (default: without keys); `clock` is the store's.

    Args:
        artifacts: those of its workers, if it has any; default: in memory.
    """
    store = await open_store("sqlite://", clock=clock)
    artifacts, fixed = artifacts or MemoryArtifacts(), FixedNames(names)
    deps = GatewayDeps(store, artifacts, replace(GatewayOptions(auth=False), **options), fixed)
    app = create_app(deps)
    transport = httpx.ASGITransport(app, raise_app_exceptions=raises)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8700") as client:
            yield World(store, artifacts, fixed, deps, app, client)
    finally:
        await store.close()


@asynccontextmanager
async def api_world(**options: Any) -> AsyncIterator[World]:
    """A `world` without the dashboard, whose pages take as long to set up as all of the API."""
    async with world(dashboard=False, **options) as made:
        yield made


def record(value: Json, url: str = "https://shop.example/p/1") -> Record:
    """A record with a source for each field."""
    sources = {name: FieldSource("json-ld", f"$.{name}", True) for name in value} if isinstance(value, dict) else {}
    return Record(value, sources, url, AT)


def completed(*values: Json, **fields: Json) -> Outcome:
    """A session that reached its goal and gave these records."""
    usage = Usage(model_calls=1, prompt_tokens=100, completion_tokens=20, pages=1)
    records = tuple(record(value) for value in values)
    return replace(
        Outcome(Status.COMPLETED, records, url="https://shop.example/p/1", at=AT, seconds=1.5, usage=usage), **fields
    )


def failed(code: str = "navigation_timeout", message: str = "The page did not load within its time.") -> Outcome:
    """A session that gave up."""
    error = ErrorInfo("NavigationTimeout", code, message, True)
    return Outcome(Status.FAILED, error=error, url="https://shop.example/p/9", at=AT, seconds=30.0)


def fan_out(values: Sequence[str]) -> Outcome:
    """A session that becomes a loop over `values`."""
    items = tuple(LoopItem(index, value, value.startswith("http")) for index, value in enumerate(values))
    return Outcome(Status.WAITING, fan_out=FanOut(items, Checkpoint()), at=AT)


def loop_of(values: Sequence[str], each: Answer) -> Answer:
    """The root fans out over `values`, each item ends as `each` says, and the root then completes."""

    def answer(work: Work) -> Outcome:
        if work.item is not None:
            return each(work)
        return completed() if work.children is not None else fan_out(values)

    return answer
