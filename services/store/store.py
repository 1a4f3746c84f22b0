"""The store: the durable truth about jobs and sessions, on PostgreSQL or SQLite.

Its methods stand in `roles`, by who calls them. Each is one transaction of a function in a neighbouring room.
"""

from __future__ import annotations

import asyncio

from shoal.services.store.database.database import Clock, Database
from shoal.services.store.database.migrate import bring_up, check_version
from shoal.services.store.learning.learning_store import LearningStore
from shoal.services.store.roles.callers import Commands, JobReading
from shoal.services.store.roles.deliveries import Deliveries
from shoal.services.store.roles.dispatching import Dispatching
from shoal.services.store.roles.housekeeping import Housekeeping
from shoal.services.store.roles.sinks import SinkStore
from shoal.services.store.schedules.schedule_store import ScheduleStore
from shoal.services.store.throttle.site_store import SiteStore
from shoal.services.store.throttle.tenant_limits import TenantStore
from shoal.services.store.workflows.workflow_store import WorkflowStore


async def open_store(url: str, *, migrate: bool = True, clock: Clock | None = None) -> Store:
    """A store on `sqlite:///PATH`, `sqlite://` (in memory, for tests) or `postgresql://…`.

    Args:
        url: where the database is. A SQLite file and its folder are made when they are missing.
        migrate: bring the schema up to date first.
        clock: seconds since the epoch; default: the machine's for SQLite, the server's for PostgreSQL.

    Raises:
        StoreAway: the database does not answer.
        StoreOutdated: its schema is not this program's, and `migrate` is false or cannot help.
        BadSetting: the URL is none that the store knows.
    """
    database = Database(url, clock)
    try:
        await database.call(lambda: bring_up(database) if migrate else check_version(database))
        database.note_file()
    except BaseException:
        await database.close()
        raise
    return Store(database)


class Store(Commands, JobReading, Dispatching, Deliveries, Housekeeping):
    """Every method is one transaction. Unknown ids raise `NotFound`; a lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.workflows = WorkflowStore(database)
        self.learning = LearningStore(database)
        self.schedules = ScheduleStore(database)
        self.sites = SiteStore(database)
        self.sinks = SinkStore(database)
        self.tenants = TenantStore(database)
        self._probe: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Ends the connections; may be called twice."""
        await self._db.close()
        if self._probe is not None:
            await asyncio.wait([self._probe])

    async def check(self) -> None:
        """Returns once something was written.

        Raises:
            StoreAway: nothing can be written; the message says why, where, and what to do.
            StoreBroken: and no waiting mends that.
        """
        if self._probe is None or self._probe.done():  # one at a time: each may wait long for a lock
            self._probe = asyncio.create_task(self._db.probe(), name="store-probe")
            self._probe.add_done_callback(lambda task: task.cancelled() or task.exception())  # the caller may have gone
        await asyncio.shield(self._probe)
