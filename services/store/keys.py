"""API keys: kept as hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, insert, select, update

from services.errors import NotFound
from services.store import codec
from services.store.reading import when
from services.store.records import ApiKey
from services.store.tables import api_key
from services.store.tx import Tx


def create_key(tx: Tx, name: str, tenant: str, scopes: Sequence[str], key_hash: str) -> ApiKey:
    """Stores a new key."""
    row = tx.conn.execute(
        insert(api_key)
        .values(name=name, tenant=tenant, scopes=codec.dump_json(list(scopes)), key_hash=key_hash, created_at=tx.now)
        .returning(*api_key.c)
    ).one()
    return _key(row)


def find_key(tx: Tx, key_hash: str) -> ApiKey | None:
    """The key with this hash, revoked or not; None when there is none."""
    found = _select(tx, api_key.c.key_hash == key_hash)
    return found[0] if found else None


def all_keys(tx: Tx) -> list[ApiKey]:
    """Every key, oldest first."""
    return _select(tx)


def revoke_key(tx: Tx, key: int) -> ApiKey:
    """Makes a key useless; the first revocation's time stays.

    Raises:
        NotFound: there is no such key.
    """
    tx.conn.execute(
        update(api_key).where(api_key.c.id == key, api_key.c.revoked_at.is_(None)).values(revoked_at=tx.now)
    )
    found = _select(tx, api_key.c.id == key)
    if not found:
        raise NotFound(f"there is no API key {key}", key=key)
    return found[0]


def _select(tx: Tx, *where: ColumnElement[bool]) -> list[ApiKey]:
    return [_key(row) for row in tx.conn.execute(select(api_key).where(*where).order_by(api_key.c.id))]


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        scopes=tuple(codec.load_json(row.scopes)),
        created_at=when(row.created_at),
        revoked_at=None if row.revoked_at is None else when(row.revoked_at),
    )
