"""The store's interface for operators and for the processes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.store import api_keys, audit
from shoal.services.store.jobs import retention
from shoal.services.store.read import reading, snapshots
from shoal.services.store.records import (
    ApiKey,
    AuditEntry,
    AuditFilter,
    DropSlice,
    NewAuditEntry,
    Owners,
)
from shoal.services.store.roles.on_database import OnDatabase
from shoal.services.store.throttle import token_bucket


class Housekeeping(OnDatabase):
    """API keys, the audit log, retention, and state that processes share."""

    async def create_key(
        self, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float | None = None
    ) -> ApiKey:
        """A new key, which expires after `lasts_s`; None: never."""
        return await self._db.write(lambda tx: api_keys.create_key(tx, name, tenant, scopes, key_hash, lasts_s))

    async def note_key_use(self, key: int) -> None:
        """Keeps that a key is used now; at most once a minute, however often it is called."""
        await self._db.write(lambda tx: api_keys.note_use(tx, key))

    async def find_key(self, key_hash: str) -> ApiKey | None:
        """The key with this hash, whether it still opens anything or not; None when there is none."""
        return await self._db.read(lambda tx: api_keys.find_key(tx, key_hash))

    async def keys(self) -> list[ApiKey]:
        return await self._db.read(api_keys.all_keys)

    async def admit_person(
        self, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float
    ) -> ApiKey | None:
        """The row of a person who has logged in elsewhere, made or renewed; None: the person is shut out."""
        return await self._db.write(lambda tx: api_keys.admit_person(tx, name, tenant, scopes, key_hash, lasts_s))

    async def restore_person(self, key: int) -> ApiKey:
        """Lets a person who was shut out log in again. NotFound: this is no person's row."""
        return await self._db.write(lambda tx: api_keys.restore_person(tx, key))

    async def revoke_key(self, key: int) -> ApiKey:
        return await self._db.write(lambda tx: api_keys.revoke_key(tx, key))

    async def end_login(self, login: str, lasts_s: float) -> None:
        """Ends a login of the dashboard, for all gateways, which would have lasted so much longer."""
        await self._db.write(lambda tx: api_keys.end_login(tx, login, lasts_s))

    async def login_ended(self, login: str) -> bool:
        """Return whether a login ended before its time."""
        return await self._db.read(lambda tx: api_keys.login_ended(tx, login))

    async def add_audit(self, entry: NewAuditEntry) -> None:
        """Keeps who changed what."""
        await self._db.write(lambda tx: audit.add(tx, entry))

    async def audit(self, audit_filter: AuditFilter) -> list[AuditEntry]:
        """Entries of the audit log, newest first."""
        return await self._db.read(lambda tx: audit.entries(tx, audit_filter))

    async def expired(self, default_days: float | None, limit: int = 10) -> list[int]:
        """Final jobs that are to be archived and dropped: by their own `retention_days`, or else after `default_days`
        (None: never). A job whose dropping was begun comes again until it is done."""
        return await self._db.read(lambda tx: retention.expired_jobs(tx, default_days, limit))

    async def deleted(self, limit: int = 10) -> list[int]:
        """Jobs that their owners have deleted, and of which something is still to be dropped."""
        return await self._db.read(lambda tx: retention.deleted_jobs(tx, limit))

    async def archived(self, job: int, archive: str) -> bool:
        """The results of a job lie under `archive` in the artifact store; `drop` may begin. False: they lie elsewhere
        already, and its rows may be gone in part since.

        Raises:
            WrongState: it is not final.
        """
        return await self._db.write(lambda tx: retention.mark_archived(tx, job, archive))

    async def droppable(self, job: int, most: int = 1_000) -> DropSlice:
        """The next sessions of an archived or deleted job that `drop` may remove, and what lies in the artifact store
        for them alone. The caller that drops them removes those bytes first: their keys are known by these rows only.

        Raises:
            WrongState: it is neither.
            NotFound: nothing is left of it.
        """
        return await self._db.read(lambda tx: retention.next_slice(tx, job, most))

    async def owners(self, keys: Sequence[str], jobs: Sequence[int]) -> Owners:
        """Which jobs refer to these keys of the artifact store, and which of these jobs there are."""
        return await self._db.read(lambda tx: retention.owners(tx, keys, jobs))

    async def drop(self, job: int, sessions: Sequence[int]) -> bool:
        """Removes these sessions of an archived or deleted job, as `droppable` gave them, with their tasks and
        artifacts; behind the last one, some of its events. Whether any are left. May be called twice.

        The own row of an archived job stays, with its counts.
        """
        return await self._db.write(lambda tx: retention.drop_sessions(tx, job, sessions))

    async def now(self) -> datetime:
        """This moment by the store's clock, which all its times are told by: the machine's own may be wrong."""
        return await self._db.read(lambda tx: reading.when(tx.now))

    async def changed(self, timeout_s: float, *, since: int | None = None) -> int:
        """Returns soon after a commit that dispatchers or event streams wait for.

        PostgreSQL: LISTEN/NOTIFY. SQLite: `PRAGMA data_version`, looked at every 50 ms. Returns after `timeout_s` in
        any case; may wake without a cause. Gives a count; handed back as `since`, what happened between the two calls
        wakes at once (without it only what happens from now on does).
        """
        self._db.require_open()
        return await self._db.notifier.wait(timeout_s, since)

    async def spend(self, tenant: str, spent: int, *, per_s: float, most: float) -> float:
        """Counts so many requests of a tenant, which were let in already, and asks for one more.

        All gateways draw on one token bucket per tenant, which gains `per_s` a second and holds `most`. What was let in
        has to be made up for, so the rate holds over time even if the bucket was empty then.

        Returns:
            0.0 where one more may be let in, which counts it; else the seconds until it may.
        """
        return await self._db.write(lambda tx: token_bucket.spend(tx, tenant, spent, per_s=per_s, most=most))

    async def put_state(self, name: str, data: Mapping[str, Json]) -> None:
        """Keeps a small snapshot under a name (a dispatcher's capacity and causes of waiting, say)."""
        await self._db.write(lambda tx: snapshots.put_state(tx, name, data))

    async def states(self, prefix: str) -> dict[str, tuple[Mapping[str, Json], float]]:
        """Snapshots by name, each with its age in seconds."""
        return await self._db.read(lambda tx: snapshots.get_states(tx, prefix))

    async def drop_states(self, prefix: str, *, older_than_s: float) -> None:
        """Forgets snapshots whose name begins so and that were not put for so long."""
        await self._db.write(lambda tx: snapshots.drop_states(tx, prefix, older_than_s))

    async def open_by_status(self) -> dict[tuple[str, Status], int]:
        """Sessions that are not final by (tenant, status); costs no more for all that is over."""
        return await self._db.read(snapshots.open_by_status)

    async def counts_by_status(self) -> dict[tuple[str, Status], int]:
        """Sessions by (tenant, status), for metrics: those that are not final, and all items that have ended.

        Ended items count until their job is deleted, also when retention has dropped their sessions. Costs no more for
        all that is over.
        """
        return await self._db.read(snapshots.count_by_status)
