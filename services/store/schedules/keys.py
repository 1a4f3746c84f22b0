"""Keys that read the newest results of one schedule, and nothing else. They belong to its number, not to its name."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select, update

from shoal.services.errors import BadInput, NotFound, Unauthenticated, WrongState
from shoal.services.schedules.spec import results_scope
from shoal.services.store import api_keys
from shoal.services.store.database import codec
from shoal.services.store.database.schedule_tables import schedule
from shoal.services.store.database.tables import api_key
from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import ApiKey

MOST_KEYS = 20
"""Of one schedule, that are not revoked."""
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class NewScheduleKey:
    """The kept values of a new key, and the hash of the key that makes it."""

    name: str
    key_hash: str
    days: float | None  # it expires after so many; None: as its maker's key does
    maker_hash: str  # of the key that makes it; "": none was needed


def number_of(tx: Tx, tenant: str, name: str, *, locked: bool = False) -> int | None:
    """The number by which runs and keys know a schedule; None: there is none."""
    query = select(schedule.c.id).where(schedule.c.tenant == tenant, schedule.c.name == name)
    return tx.conn.execute(query.with_for_update() if locked else query).scalar()


def create(tx: Tx, tenant: str, name: str, asked: NewScheduleKey) -> ApiKey:
    """Stores a new key of a schedule, which is locked meanwhile: others count its keys, too, or drop it.

    Raises:
        NotFound: there is no such schedule.
        WrongState: it has as many keys as it may.
        BadInput: the key would outlast the one that makes it.
        Unauthenticated: the one that makes it was revoked.
    """
    number = _required(tx, tenant, name, locked=True)
    if len(_result_keys(tx, tenant, number)) >= MOST_KEYS:
        raise WrongState(f"the schedule {name!r} has {MOST_KEYS} keys: revoke one first")
    scopes = [results_scope(number)]
    return api_keys.create_key(tx, asked.name, tenant, scopes, asked.key_hash, _lasts_s(tx, asked))


def _lasts_s(tx: Tx, asked: NewScheduleKey) -> float | None:
    lasts_s = None if asked.days is None else asked.days * _DAY_S
    maker = api_keys.find_key(tx, asked.maker_hash)
    if maker is not None and maker.revoked_at is not None:  # a gateway may take it for some seconds more
        raise Unauthenticated("This API key was revoked.")
    if maker is None or maker.person or maker.expires_at is None:  # a person's login ends within hours, and is no key
        return lasts_s
    if lasts_s is None:
        return maker.left_s
    if lasts_s > maker.left_s:
        reason = f"your own key expires in {maker.left_s / _DAY_S:.1f} days: this one may not outlast it"
        raise BadInput(f"days: {reason}.", errors=[{"field": "days", "reason": reason}])
    return lasts_s


def listed(tx: Tx, tenant: str, name: str) -> list[ApiKey]:
    """The keys of a schedule that were not revoked, the oldest first.

    Raises:
        NotFound: there is no such schedule.
    """
    return _result_keys(tx, tenant, _required(tx, tenant, name))


def revoke(tx: Tx, tenant: str, name: str, key: int) -> ApiKey:
    """Makes a key of a schedule useless.

    Raises:
        NotFound: there is no such schedule, or it has no such key.
    """
    if all(row.id != key for row in listed(tx, tenant, name)):
        raise NotFound(f"the schedule {name!r} has no key {key}")
    return api_keys.revoke_key(tx, key)


def revoke_all(tx: Tx, tenant: str, number: int) -> None:
    """Makes all keys of a schedule useless, which is locked."""
    tx.conn.execute(update(api_key).where(*_result_key_conditions(tenant, number)).values(revoked_at=tx.now))


def _required(tx: Tx, tenant: str, name: str, *, locked: bool = False) -> int:
    number = number_of(tx, tenant, name, locked=locked)
    if number is None:
        raise NotFound(f"there is no schedule {name!r}")
    return number


def _result_keys(tx: Tx, tenant: str, number: int) -> list[ApiKey]:
    return api_keys.keys_where(tx, *_result_key_conditions(tenant, number))


def _result_key_conditions(tenant: str, number: int) -> tuple[ColumnElement[bool], ...]:
    scopes = codec.dump_json([results_scope(number)])
    return api_key.c.tenant == tenant, api_key.c.scopes == scopes, api_key.c.revoked_at.is_(None)
