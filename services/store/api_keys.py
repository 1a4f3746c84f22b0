"""API keys, kept as hashes; people who log in elsewhere, each with the row of a key that no one holds; ended logins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, or_, select, update

from shoal.services.errors import NotFound
from shoal.services.store.database import codec
from shoal.services.store.database.tables import api_key, ended_login
from shoal.services.store.database.transaction import Tx
from shoal.services.store.read.reading import when
from shoal.services.store.records import ApiKey

USED_S = 60.0
"""Seconds within which the time of a key's last use is exact."""
PERSON = "person:"
"""Begins what stands in place of a key's hash where the row is a person's: no key hashes to it."""
_LONGER_S = 3600.0
"""Seconds that ended logins are kept longer: a gateway whose clock is behind takes a login for so much longer."""


def create_key(
    tx: Tx, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float | None = None
) -> ApiKey:
    """Stores a new key, which expires after `lasts_s`; None: never."""
    row = tx.conn.execute(
        insert(api_key)
        .values(
            name=name,
            tenant=tenant,
            scopes=codec.dump_json(list(scopes)),
            key_hash=key_hash,
            created_at=tx.now,
            expires_at=None if lasts_s is None else tx.now + lasts_s,
        )
        .returning(*api_key.c)
    ).one()
    return _key(tx, row)


def admit_person(tx: Tx, name: str, tenant: str, scopes: Sequence[str], key_hash: str, lasts_s: float) -> ApiKey | None:
    """The row of a person who has logged in elsewhere, made or renewed; None: the person is shut out."""
    rows = tx.rows(
        "admit_person",
        name=name,
        tenant=tenant,
        scopes=codec.dump_json(list(scopes)),
        key_hash=key_hash,
        now=tx.now,
        expires_at=tx.now + lasts_s,
    )
    return _key(tx, rows[0]) if rows else None


def find_key(tx: Tx, key_hash: str) -> ApiKey | None:
    """The key with this hash, revoked or not; None when there is none."""
    keys = keys_where(tx, api_key.c.key_hash == key_hash)
    return keys[0] if keys else None


def all_keys(tx: Tx) -> list[ApiKey]:
    """Every key, oldest first."""
    return keys_where(tx)


def note_use(tx: Tx, key: int) -> None:
    """Keeps that a key is used now, unless that was kept within the last minute."""
    stale = or_(api_key.c.used_at.is_(None), api_key.c.used_at <= tx.now - USED_S)
    tx.conn.execute(update(api_key).where(api_key.c.id == key, stale).values(used_at=tx.now))


def revoke_key(tx: Tx, key: int) -> ApiKey:
    """Makes a key useless; the first revocation's time stays.

    Raises:
        NotFound: there is no such key.
    """
    tx.conn.execute(
        update(api_key).where(api_key.c.id == key, api_key.c.revoked_at.is_(None)).values(revoked_at=tx.now)
    )
    keys = keys_where(tx, api_key.c.id == key)
    if not keys:
        raise NotFound(f"there is no API key {key}", key=key)
    return keys[0]


def restore_person(tx: Tx, key: int) -> ApiKey:
    """Lets a person who was shut out log in again. What they were logged in with before stays without use.

    Raises:
        NotFound: this is no person's row.
    """
    tx.conn.execute(
        update(api_key)
        .where(api_key.c.id == key, api_key.c.key_hash.startswith(PERSON), api_key.c.revoked_at.is_not(None))
        .values(revoked_at=None, expires_at=tx.now)
    )
    keys = keys_where(tx, api_key.c.id == key, api_key.c.key_hash.startswith(PERSON))
    if not keys:
        raise NotFound(f"there is no person {key}", key=key)
    return keys[0]


def end_login(tx: Tx, login: str, lasts_s: float) -> None:
    """Keeps that a login ended which would have lasted so much longer; forgets those whose time is over."""
    tx.conn.execute(delete(ended_login).where(ended_login.c.until <= tx.now))
    tx.run("end_login", login=login, until=tx.now + lasts_s + _LONGER_S)


def login_ended(tx: Tx, login: str) -> bool:
    """Return whether a login ended before its time."""
    return tx.conn.execute(select(ended_login.c.login).where(ended_login.c.login == login)).first() is not None


def keys_where(tx: Tx, *where: ColumnElement[bool]) -> list[ApiKey]:
    """Keys of which all that holds, oldest first."""
    return [_key(tx, row) for row in tx.conn.execute(select(api_key).where(*where).order_by(api_key.c.id))]


def _key(tx: Tx, row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        scopes=tuple(codec.load_json(row.scopes)),
        created_at=when(row.created_at),
        revoked_at=None if row.revoked_at is None else when(row.revoked_at),
        expires_at=None if row.expires_at is None else when(row.expires_at),
        used_at=None if row.used_at is None else when(row.used_at),
        person=row.key_hash.startswith(PERSON),
        left_s=math.inf if row.expires_at is None else row.expires_at - tx.now,
    )
