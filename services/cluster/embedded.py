"""One command's worth of Shoal: Ray, dispatcher, workers, gateway and dashboard on this machine."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from pydantic import SecretStr

from shoal.agent.chromium.process.find import find_chromium, read_version
from shoal.services.cluster.address import ADDRESS_FILE, LOCK_FILE, make_data_folder, running_cluster
from shoal.services.cluster.forking.server import fork_server
from shoal.services.cluster.gateway_keeper import supervised_gateway
from shoal.services.cluster.run_dir import RunDir
from shoal.services.cluster.serving import listening, patiently
from shoal.services.cluster.watchdog import Watchdog
from shoal.services.errors import BadSetting, ClusterFailed
from shoal.services.events import LogEvent
from shoal.services.private import make_folder, opener
from shoal.services.settings import Settings

if TYPE_CHECKING:
    from shoal.services.artifacts.store import ArtifactStore
    from shoal.services.store.store import Store

log = structlog.get_logger()

_LOOKED_AT_S = 0.3

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running embedded cluster."""

    url: str  # of gateway and dashboard
    data_dir: Path  # store and artifacts
    run_dir: Path  # temporary; removed when the cluster stops
    store: Store
    artifacts: ArtifactStore


@asynccontextmanager
async def embedded_cluster(settings: Settings, *, tell: Tell = lambda stage: None) -> AsyncIterator[Cluster]:
    """A cluster on this machine, for as long as the context lasts. Enter it on the main thread.

    `tell` hears what is being done. Whatever ends the context, nothing is left running and no temporary folder stays;
    the data folder stays.

    Raises:
        BadSetting: there can be no data folder.
        ClusterFailed: a part did not start, another cluster uses this data folder, or Ray ended under it.
        BrowserNotFound: there is no Chromium, or it does not start.
    """
    make_data_folder(settings.data_dir)
    if settings.secrets_dir.parent == settings.data_dir:
        make_folder(settings.secrets_dir)
    await asyncio.to_thread(read_version, find_chromium(str(settings.chromium) if settings.chromium else None))
    async with AsyncExitStack() as stack:
        with_sync = ExitStack()
        stack.enter_context(with_sync)
        with_sync.enter_context(_only_one(settings.data_dir))
        listener = with_sync.enter_context(
            listening(settings.host, settings.port)
        )  # first: a taken port should be told at once
        settings = _with_cookie_secret(_asking_here(settings, listener))
        tell("opening the store")
        run_dir = _run_dir(with_sync)
        # It starts beside all that follows, and first beside this import, which takes as long as its own.
        forks = with_sync.enter_context(fork_server(run_dir.path))
        parts = import_module("shoal.services.cluster.embedded_parts")
        store = await patiently(lambda: parts.open_store(settings.store_url), tell)
        stack.push_async_callback(store.close)
        artifacts = parts.artifact_store(settings)
        stack.push_async_callback(artifacts.close)
        keeper = await stack.enter_async_context(supervised_gateway(listener, settings, run_dir.tmp, forks))
        tell("starting Ray")
        await parts.start_ray(with_sync, run_dir, settings, tell, forks)
        keeper.check()
        tell("starting the browser workers")
        actor = await stack.enter_async_context(parts.dispatcher(settings, run_dir))
        await stack.enter_async_context(parts.guarded(actor, store))
        tell("starting the gateway")
        url = await keeper.url()
        stack.push_async_callback(keeper.end)  # before the workers are: what nobody would run should not be taken
        stack.enter_context(_announced(settings.data_dir, url))
        log.info(LogEvent.CLUSTER_READY, url=url)
        yield Cluster(url, settings.data_dir, run_dir.path, store, artifacts)
        tell("stopping")


def _asking_here(settings: Settings, listener: socket.socket) -> Settings:
    """The settings with this cluster's own gateway as the place where sessions ask people, unless another is named."""
    if settings.help_url:
        return settings
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    place = f"[{host}]" if ":" in host else host
    own = {"help_url": f"http://{place}:{listener.getsockname()[1]}", "help_token": SecretStr(secrets.token_hex(16))}
    return settings.model_copy(update=own)


def _with_cookie_secret(settings: Settings) -> Settings:
    """The settings with a secret for cookies: a gateway that is started again lets the same people in."""
    if settings.cookie_secret.get_secret_value():
        return settings
    return settings.model_copy(update={"cookie_secret": SecretStr(secrets.token_hex(32))})


@contextmanager
def _only_one(data_dir: Path) -> Iterator[None]:
    """Holds the data folder's lock."""
    try:
        lock = os.open(data_dir / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        why = f"the data folder {data_dir} cannot be written ({error.strerror or error})"
        raise BadSetting(f"{why}: name another with SHOAL_DATA_DIR") from error
    try:
        _take(lock, data_dir)
        yield
    finally:
        os.close(lock)


def _take(lock: int, data_dir: Path) -> None:
    """Takes the lock. Commands that look for a cluster hold it for a moment, so the first refusal is not believed."""
    until_s = time.monotonic() + _LOOKED_AT_S
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= until_s:
                where = running_cluster(data_dir) or "an address it has not told yet"
                raise ClusterFailed(
                    f"another Shoal uses {data_dir}, at {where}: talk to it with --gateway, "
                    "or choose another SHOAL_DATA_DIR"
                ) from error
            time.sleep(0.02)


@contextmanager
def _announced(data_dir: Path, url: str) -> Iterator[None]:
    """Lets the command line find this cluster, and /readyz say yes: the file is there as a whole or not at all."""
    path = data_dir / ADDRESS_FILE
    begun = path.with_suffix(".new")
    with open(begun, "w", opener=opener) as file:
        file.write(json.dumps({"url": url, "pid": os.getpid()}))
    begun.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _run_dir(stack: ExitStack) -> RunDir:
    run_dir = RunDir.make()
    stack.callback(run_dir.remove)
    stack.callback(Watchdog(run_dir.path).dismiss)
    return run_dir
