"""Finds what lies in the artifact store and is in no row, and removes it.

Evidence goes to the artifact store before its row goes to the database, so an attempt that dies, or whose job was
deleted meanwhile, leaves some behind. Once a day one gateway goes through all keys.

A wrong address must not cost another installation's evidence. So the artifact store says to which database it belongs:
one of another database is left alone, and so is what was there before that was written down.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence

import orjson
import structlog

from shoal.services.artifacts.store import ArtifactStore, Stored
from shoal.services.errors import ArtifactMissing, ArtifactStoreAway, StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.store import Store

log = structlog.get_logger(__name__)

MARK = "shoal-database.json"
"""Key of what says to which database the artifacts belong."""

_DAY_S = 86_400.0
_LOOK_S = 600.0
_KEYS = 1_000
_PAUSE_S = 0.1
"""Between two pages of keys: others use the artifact store, too."""
_OF_NO_JOB_S = _DAY_S
_OF_A_JOB_S = 7 * _DAY_S
"""Seconds that a key without a row must be old: the row comes with the end of the attempt, which waits for a database
that is away. Behind a job that is gone no row comes.
"""

_STATE = "leftovers"
_KEY = re.compile(r"[^/]+/(\d{1,18})/\d{1,18}/\d+-[0-9a-f]{32}\.[^/]+")
"""Keys that `shoal.services.browsers.reports.artifact_sink` makes; nothing else is touched."""


class Leftovers:
    """Runs until it is canceled.

    Args:
        clock: seconds since the epoch.
        pause_s: between two pages of keys.
    """

    def __init__(
        self,
        store: Store,
        artifacts: ArtifactStore,
        *,
        clock: Callable[[], float] = time.time,
        pause_s: float = _PAUSE_S,
    ) -> None:
        self._store = store
        self._artifacts = artifacts
        self._clock = clock
        self._pause_s = pause_s

    async def run(self) -> None:
        """Looks every ten minutes whether a day is over."""
        while True:
            try:
                if await self._is_due():
                    await self.run_once()
            except (StoreAway, ArtifactStoreAway) as error:
                log.warning(LogEvent.RETENTION_WAITS, error=error.message)
            except Exception:  # the top of a loop
                log.exception(LogEvent.LOOP_FAILED, loop="leftovers")
            await asyncio.sleep(_LOOK_S)

    async def _is_due(self) -> bool:
        """Return whether no gateway has begun within a day; then this one has."""
        ages = [age_s for name, (_, age_s) in (await self._store.states(_STATE)).items() if name == _STATE]
        if ages and ages[0] < _DAY_S:
            return False
        await self._store.put_state(_STATE, {})
        return True

    async def run_once(self) -> int:
        """Goes through all keys once; gives how many were removed.

        Raises:
            StoreAway, ArtifactStoreAway: the next run begins anew.
        """
        since = await self._ours_since()
        if since is None:
            log.warning(LogEvent.ARTIFACTS_FOREIGN, key=MARK)
            return 0
        removed, after = 0, ""
        while True:
            page = await self._artifacts.page("", after, _KEYS)
            left = await self._without_row([stored for stored in page if stored.at >= since])
            await self._artifacts.delete_many(left)
            removed += len(left)
            if len(page) < _KEYS:
                break
            after = page[-1].key
            await asyncio.sleep(self._pause_s)
        if removed:
            log.info(LogEvent.ARTIFACTS_SWEPT, removed=removed)
        return removed

    async def _without_row(self, page: Sequence[Stored]) -> list[str]:
        """Those keys that are old enough and in no row."""
        now = self._clock()
        old = {stored.key: stored for stored in page if stored.at < now - _OF_NO_JOB_S and _KEY.fullmatch(stored.key)}
        if not old:
            return []
        job_of = {key: int(key.split("/")[1]) for key in old}
        owners = await self._store.owners(list(old), sorted(set(job_of.values())))
        return [
            key
            for key, stored in old.items()
            if key not in owners.jobs_of and (job_of[key] not in owners.jobs or stored.at < now - _OF_A_JOB_S)
        ]

    async def _ours_since(self) -> float | None:
        """Since when the artifact store is known to belong to this database; None: it belongs to another."""
        master = await self._store.webhook_secret(secrets.token_hex(32))  # random, and the same for all of a database
        own = hmac.new(master.encode(), b"artifacts", hashlib.sha256).hexdigest()[:32]
        try:
            mark = orjson.loads(await self._artifacts.get(MARK))
        except ArtifactMissing:
            mark = {"database": own, "since": self._clock()}
            await self._artifacts.put(MARK, orjson.dumps(mark), "application/json")
        return float(mark["since"]) if mark["database"] == own else None
