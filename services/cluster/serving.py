"""The gateway as a server: its socket, its life, and the parts around it where it runs alone. Knows nothing of Ray."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog
import uvicorn

from shoal.services import interpreter, tracing
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.configs import trace_options
from shoal.services.cluster.configs import artifact_store, checked_gateway_options
from shoal.services.cluster.local_user import OwnUserProtocol, can_tell
from shoal.services.errors import ClusterFailed, StoreAway, StoreBroken
from shoal.services.events import LogEvent
from shoal.services.settings import Settings
from shoal.services.sinks.targets import SinkTargets
from shoal.services.sinks.writer import SinkWriter
from shoal.services.store.restarts import Restarts
from shoal.services.store.store import Store, open_store
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.auth import is_loopback
from shoal.services.web.http.metrics_door import metrics_app
from shoal.services.web.results.leftovers import Leftovers
from shoal.services.web.results.result_lines import job_lines
from shoal.services.web.results.retention import Retention
from shoal.services.web.schedules.scheduler import scheduler_of
from shoal.services.webhooks.checked_http import CheckedHttp
from shoal.services.webhooks.deliverer import Deliverer
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.sender import Sender

log = structlog.get_logger()

T = TypeVar("T")

_STORE_S = 20.0
"""How long a part that starts waits for a store that is away; one whose address is wrong is told by then."""
_AGAIN_S = 0.5
_GRACE_S = 3
"""What open requests get to end; event streams and long downloads go on elsewhere, at the place they have reached."""


class Server(uvicorn.Server):
    """Uvicorn without its signal handlers: its owner decides when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def patiently(call: Callable[[], Awaitable[T]], tell: Callable[[str], None] = lambda said: None) -> T:
    """What a call of the store gives; made again while the store is away: a connection may drop while a part starts.

    `tell` hears what is waited for.

    Raises:
        StoreAway: it was not back within `_STORE_S`, or is broken.
    """
    until_s, told = time.monotonic() + _STORE_S, ""
    while True:
        try:
            return await call()
        except StoreBroken:
            raise
        except StoreAway as error:
            if time.monotonic() >= until_s:
                raise
            if error.message != told:
                log.warning(LogEvent.STORE_AWAY, error=error.message)
                tell(f"{error.message}; trying again for {_STORE_S:g} s")
            told = error.message
            await asyncio.sleep(_AGAIN_S)


@contextmanager
def listening(host: str, port: int, *, setting: str = "SHOAL_PORT") -> Iterator[socket.socket]:
    """A socket on `host` and `port` (0: any free one), which is the value of `setting`.

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
                f"set {setting}{', 0 for any free one,' if setting == 'SHOAL_PORT' else ''} or SHOAL_HOST"
            ) from error
        yield listener


@asynccontextmanager
async def served(
    app: Any, listener: socket.socket, name: str, *, believes_proxies: bool = True, own_user: bool = False
) -> AsyncIterator[str]:
    """An ASGI app behind `listener` for as long as the context lasts; gives its address once it answers.

    Args:
        app: the app.
        listener: bound already.
        name: for logs and messages.
        believes_proxies: what a proxy on this machine says of its caller is taken for the caller, address included.
        own_user: other users of this machine are refused, where the system tells who calls.

    Raises:
        ClusterFailed: it did not start.
    """
    config = uvicorn.Config(
        app,
        interface="asgi3",
        # Not httptools, which uvicorn prefers where it is installed: it takes headers without end into memory.
        http=OwnUserProtocol if own_user and can_tell() else "h11",
        log_config=None,
        lifespan="off",
        proxy_headers=believes_proxies,
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
    listener: socket.socket,
    settings: Settings,
    store: Store,
    artifacts: ArtifactStore,
    *,
    restarts: Restarts = Restarts(),
    announced: Path | None = None,
) -> AsyncIterator[str]:
    """The gateway in this process over stores that its caller owns; gives its address once it answers.

    Beside it the outbox of webhooks is emptied, where the settings want that. Schedules are fired, old jobs archived.

    Args:
        announced: the file by which the command line finds the cluster; until it is there, /readyz says no.

    Raises:
        BadSetting: two settings contradict each other.
    """
    tracing.start(trace_options(settings), "gateway")
    interpreter.tune()
    deps = GatewayDeps(
        store, artifacts, replace(checked_gateway_options(settings), restarts=restarts, announced=announced)
    )
    async with AsyncExitStack() as stack:
        if settings.webhooks:
            await stack.enter_async_context(_delivering(deps))
            await stack.enter_async_context(_writing_sinks(deps))
        await stack.enter_async_context(_scheduling(deps))
        await stack.enter_async_context(_retaining(deps, settings.retention_days))
        if settings.metrics_port:
            place = stack.enter_context(listening(settings.host, settings.metrics_port, setting="SHOAL_METRICS_PORT"))
            app = metrics_app(deps, local=is_loopback(settings.host))
            await stack.enter_async_context(served(app, place, "metrics server"))
        # Where a proxy names people, its own address is what is asked for, not the one of its caller.
        believes = not settings.login_header
        yield await stack.enter_async_context(
            served(create_app(deps), listener, "gateway", believes_proxies=believes, own_user=not deps.options.auth)
        )


@asynccontextmanager
async def _delivering(deps: GatewayDeps) -> AsyncIterator[None]:
    """Webhooks on their way for as long as the context lasts."""
    options = deps.options
    sender = Sender(options.rules.reach, deps.names)
    notifier = Notifier(sender, options.mail, options.secrets_dir, options.public_url)
    deliverer = Deliverer(deps.store, notifier, await patiently(deps.webhook_secrets))
    task = asyncio.create_task(deliverer.run(), name="webhooks")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await sender.close()


@asynccontextmanager
async def _scheduling(deps: GatewayDeps) -> AsyncIterator[None]:
    """Schedules fire for as long as the context lasts."""
    task = asyncio.create_task(scheduler_of(deps).run(), name="schedules")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def _writing_sinks(deps: GatewayDeps) -> AsyncIterator[None]:
    """Records of jobs that have ended are written to their sinks for as long as the context lasts."""
    http = CheckedHttp(deps.options.rules.reach, deps.names)
    targets = SinkTargets(http, deps.options.secrets_dir, deps.options.sink_dirs, await patiently(deps.webhook_secrets))
    writer = SinkWriter(deps.store, partial(job_lines, deps), targets)
    task = asyncio.create_task(writer.run(), name="sinks")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await http.close()


@asynccontextmanager
async def _retaining(deps: GatewayDeps, days: float) -> AsyncIterator[None]:
    """Finished jobs are archived and dropped in their time, and artifacts without a row removed, while it lasts."""
    tasks = [
        asyncio.create_task(Retention(deps.store, deps.artifacts, days or None).run(), name="retention"),
        asyncio.create_task(Leftovers(deps.store, deps.artifacts).run(), name="leftovers"),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@asynccontextmanager
async def gateway_alone(settings: Settings) -> AsyncIterator[str]:
    """The gateway without a cluster in this process: dispatchers elsewhere work on the same database.

    SQLite is brought up to date here, since no other process would; PostgreSQL by `shoal migrate`, once for all
    gateways.

    Raises:
        ClusterFailed: the address is taken.
        StoreAway, StoreOutdated: the database is not there, or not migrated.
    """
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listening(settings.host, settings.port))
        migrate = settings.store_url.startswith("sqlite")
        store = await patiently(lambda: open_store(settings.store_url, migrate=migrate))
        stack.push_async_callback(store.close)
        artifacts = artifact_store(settings)
        stack.push_async_callback(artifacts.close)
        url = await stack.enter_async_context(gateway(listener, settings, store, artifacts))
        log.info(LogEvent.SERVICE_STARTED, service="gateway", url=url)
        yield url
        log.info(LogEvent.SERVICE_STOPPED, service="gateway")
