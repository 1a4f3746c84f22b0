"""Watches the model servers and says how many model-bound sessions may run: the dispatcher asks before it claims."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import structlog

from shoal.agent.support.json_value import Json
from shoal.services.events import LogEvent
from shoal.services.inference.admission import (
    AdmissionConfig,
    Admitted,
    ServerLoad,
    after_look,
    after_silence,
    begun,
)
from shoal.services.inference.errors import MetricsAway, MetricsMissing

if TYPE_CHECKING:
    import httpx

log = structlog.get_logger()


_TOLD_CHANGE = 0.2
"""A limit that moved by this share since it was last told is told again."""


class ModelAdmission(Protocol):
    """The limit on model-bound sessions, for the dispatcher."""

    @property
    def limit(self) -> int | None:
        """Model-bound sessions that may run beside each other in all; None: as many as there are."""
        ...

    def room(self, active: int) -> int | None:
        """Return how many more model-bound sessions may start while `active` of them run;
        None: as many as there are.
        """
        ...


@dataclass(slots=True)
class _Watched:
    url: str  # without the version part
    state: Admitted
    silent: int = 0  # looks in a row without an answer
    unlimited: bool = False  # it has no metrics of vLLM: a hosted service, or another program
    logged_sessions: int = -1  # those of the last log line


class Admission:
    """A `ModelAdmission` over one or several servers; each has its own limit, since each has its own queue.

    A loop keeps to one server, so the sum may be off for a moment when one loop is all there is; its own server's queue
    then cuts its own limit, and the sum with it.
    """

    def __init__(
        self,
        config: AdmissionConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._config = config
        self._clock = clock
        self.changed = changed  # called when more may be admitted than before
        self._servers = [_Watched(root_of(url), begun(config.rules)) for url in config.urls]
        self._active = 0

    def room(self, active: int) -> int | None:
        """See `ModelAdmission`; what is told here also counts as how many run at the next look."""
        self._active = active
        limit = self.limit
        return None if limit is None else max(0, limit - active)

    @property
    def limit(self) -> int | None:
        """Sessions that may run in all; None while a server cannot tell its load: that one may be asked freely."""
        if any(server.unlimited for server in self._servers):
            return None
        return sum(server.state.sessions for server in self._servers)

    @property
    def away(self) -> bool:
        """Return whether no server answers."""
        return all(server.state.away for server in self._servers)

    def snapshot(self) -> dict[str, Json]:
        """For `/v1/status`, the metrics and the dashboard."""
        return {
            "limit": self.limit,
            "active": self._active,
            "servers": [
                {
                    "up": not server.state.away,
                    "limit": None if server.unlimited else server.state.sessions,
                    "running": server.state.load.running if server.state.load else None,
                    "waiting": server.state.load.waiting if server.state.load else None,
                    "kv_cache": server.state.load.kv_cache if server.state.load else None,
                    "first_token_s": round(server.state.first_token_s, 3),
                    "cache_hits": hit_share(server.state.load),
                }
                for server in self._servers
            ],
        }

    async def run(self) -> None:
        """Looks at the servers until it is canceled."""
        async with _loads().load_client(self._config.timeout_s) as client:
            while True:
                await self.look(client)
                await asyncio.sleep(self._config.interval_s)

    async def look(self, client: httpx.AsyncClient) -> None:
        """One look at every server."""
        before = self.limit
        await asyncio.gather(*(self._look_at(server, client) for server in self._servers))
        after = self.limit
        if after is None or (before is not None and after > before):
            self.changed()

    async def _look_at(self, server: _Watched, client: httpx.AsyncClient) -> None:
        try:
            load: ServerLoad = await _loads().read_load(client, server.url)
        except MetricsMissing:
            server.unlimited, server.silent = True, 0
            return
        except MetricsAway as error:
            self._note_silence(server, str(error))
            return
        self._note_load(server, load)

    def _note_silence(self, server: _Watched, why: str) -> None:
        server.silent += 1
        # One lost look is no reason to stop a cluster.
        if server.silent < self._config.silent_looks or server.state.away:
            return
        server.unlimited = False
        server.state = after_silence(server.state, self._config.rules)
        log.warning(LogEvent.MODEL_AWAY, server=server.url, why=why)

    def _note_load(self, server: _Watched, load: ServerLoad) -> None:
        if server.state.away:
            log.info(LogEvent.MODEL_BACK, server=server.url)
        server.silent, server.unlimited = 0, False
        up = sum(not other.state.away for other in self._servers) or 1
        server.state = after_look(server.state, load, self._active / up, self._clock(), self._config.rules)
        sessions = server.state.sessions
        if abs(sessions - server.logged_sessions) > max(1.0, _TOLD_CHANGE * server.logged_sessions):
            log.info(LogEvent.ADMISSION_CHANGED, server=server.url, sessions=sessions, waiting=load.waiting)
            server.logged_sessions = sessions


def _loads() -> Any:
    """The module `load`: only a dispatcher that asks a model server needs its libraries."""
    return import_module("shoal.services.inference.load")


def root_of(url: str) -> str:
    """A server's address without the version part of its API: there its metrics and its health are."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/").removesuffix("/v1"), "", ""))


def hit_share(load: ServerLoad | None) -> float | None:
    """Share of the prompt tokens that the prefix cache served since the server's start; None before there were any."""
    if load is None or not load.cache_asked:
        return None
    return round(load.cache_hits / load.cache_asked, 4)
