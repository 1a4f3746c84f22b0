"""The gateway in this process, and what works beside it: webhooks, sinks, schedules, retention.

Knows nothing of Ray.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog

from shoal.services import interpreter, tracing
from shoal.services.artifacts.store import ArtifactStore
from shoal.services.browsers.configs import trace_options
from shoal.services.cluster.configs import artifact_store
from shoal.services.cluster.gateway_options import checked_gateway_options
from shoal.services.cluster.serving import listening, patiently, served
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
