"""The gateway as a server: its socket, its life, and the parts around it where it runs alone. Knows nothing of Ray."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import structlog
import uvicorn

from services import interpreter, tracing
from services.artifacts.store import ArtifactStore
from services.cluster.configs import artifact_store, gateway_options, trace_options
from services.errors import ClusterFailed
from services.events import LogEvent
from services.gateway.app import create_app
from services.gateway.deps import GatewayDeps
from services.gateway.retention import Retention
from services.settings import Settings
from services.store.sql import open_store
from services.store.store import Store
from services.webhooks.deliverer import Deliverer
from services.webhooks.sender import Sender

log = structlog.get_logger()

_GRACE_S = 3
"""What open requests get to end; event streams and long downloads go on elsewhere, at the place they have reached."""


class Server(uvicorn.Server):
    """Uvicorn without its signal handlers: its owner decides when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket on `host` and `port` (0: any free one).

    Raises:
        ClusterFailed: the address is taken, or none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only on sockets that name their protocol. Without that every
    # answer waits some 40 ms for the acknowledgement of its own headers.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise ClusterFailed(
                f"cannot listen on {host}, port {port} ({error.strerror}): "
                "set SHOAL_PORT, 0 for any free one, or SHOAL_HOST"
            ) from error
        yield listener


@asynccontextmanager
async def served(app: Any, listener: socket.socket, name: str) -> AsyncIterator[str]:
    """An ASGI app behind `listener` for as long as the context lasts; gives its address once it answers.

    Raises:
        ClusterFailed: it did not start.
    """
    config = uvicorn.Config(
        app,
        interface="asgi3",
        http="h11",  # httptools, which uvicorn prefers where it is installed, takes headers without end into memory
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name=name)
    try:
        while not server.started and not task.done():
            await asyncio.wait([task], timeout=0.02)
        if task.done():
            raise ClusterFailed(f"the {name} did not start") from task.exception()
        host, port = listener.getsockname()[:2]
        yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await asyncio.wait([task])


@asynccontextmanager
async def gateway(
    listener: socket.socket, settings: Settings, store: Store, artifacts: ArtifactStore
) -> AsyncIterator[str]:
    """The gateway in this process over stores that its caller owns; gives its address once it answers.

    Beside it the outbox of webhooks is emptied, where the settings want that, and old jobs are archived.
    """
    tracing.start(trace_options(settings), "gateway")
    interpreter.tune()
    deps = GatewayDeps(store, artifacts, gateway_options(settings))
    async with AsyncExitStack() as stack:
        if settings.webhooks:
            await stack.enter_async_context(_delivering(deps))
        await stack.enter_async_context(_retaining(deps, settings.retention_days))
        yield await stack.enter_async_context(served(create_app(deps), listener, "gateway"))


@asynccontextmanager
async def _delivering(deps: GatewayDeps) -> AsyncIterator[None]:
    """Webhooks on their way for as long as the context lasts."""
    sender = Sender(deps.options.rules.reach, deps.names)
    deliverer = Deliverer(deps.store, sender, await deps.webhook_secrets())
    task = asyncio.create_task(deliverer.run(), name="webhooks")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await sender.close()


@asynccontextmanager
async def _retaining(deps: GatewayDeps, days: float) -> AsyncIterator[None]:
    """Finished jobs are archived and dropped in their time, for as long as the context lasts."""
    task = asyncio.create_task(Retention(deps.store, deps.artifacts, days or None).run(), name="retention")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def gateway_alone(settings: Settings) -> AsyncIterator[str]:
    """The gateway without a cluster in this process: dispatchers elsewhere work on the same database.

    SQLite is brought up to date here, since nobody else would; PostgreSQL by `shoal migrate`, once for all gateways.

    Raises:
        ClusterFailed: the address is taken.
        StoreAway, StoreOutdated: the database is not there, or not migrated.
    """
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listening(settings.host, settings.port))
        store = await open_store(settings.store_url, migrate=settings.store_url.startswith("sqlite"))
        stack.push_async_callback(store.close)
        artifacts = artifact_store(settings)
        stack.push_async_callback(artifacts.close)
        url = await stack.enter_async_context(gateway(listener, settings, store, artifacts))
        log.info(LogEvent.SERVICE_STARTED, service="gateway", url=url)
        yield url
        log.info(LogEvent.SERVICE_STOPPED, service="gateway")
