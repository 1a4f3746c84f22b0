"""Logins that ended before their time, kept until they would have ended by themselves."""

from __future__ import annotations

from sqlalchemy import delete, select

from shoal.services.store.database.tables import ended_login
from shoal.services.store.database.transaction import Tx

_LONGER_S = 3600.0
"""How much longer they are kept: a gateway whose clock is behind takes a login for so much longer."""


def end_login(tx: Tx, login: str, lasts_s: float) -> None:
    """Keeps that a login ended which would have lasted so much longer; forgets those whose time is over."""
    tx.conn.execute(delete(ended_login).where(ended_login.c.until <= tx.now))
    tx.run("end_login", login=login, until=tx.now + lasts_s + _LONGER_S)


def login_ended(tx: Tx, login: str) -> bool:
    """Whether a login ended before its time."""
    return tx.conn.execute(select(ended_login.c.login).where(ended_login.c.login == login)).first() is not None
