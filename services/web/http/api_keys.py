"""API keys: how they look, how they are kept, and what they allow."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Literal, get_args

from shoal.services.schedules.spec import results_scope

Scope = Literal["read", "submit", "control", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""read: see jobs and results; submit: hand in jobs; control: cancel, pause, resume, retry, delete; admin: all of
these for every tenant."""

PREFIX = "shoal_"
"""Makes a key recognisable: in a secret scanner, and to the person who finds it in a file."""

DEFAULT_TENANT = "default"
"""Whose jobs they are where no keys are used."""


_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def tenant_fault(name: str) -> str | None:
    """Why no tenant may be called `name`; None when one may. It names folders of secrets, metrics and quotas."""
    if _TENANT.fullmatch(name):
        return None
    return f"{name[:80]!r} is no name of a tenant: 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request."""

    tenant: str
    scopes: frozenset[str]
    name: str = ""  # of the key, for logs
    key_hash: str = ""  # of the key, "" when none was needed

    @property
    def sees(self) -> str | None:
        """The tenant whose rows this caller may see; None: all."""
        return None if "admin" in self.scopes else self.tenant

    def may(self, scope: Scope) -> bool:
        """Return whether this caller may do what `scope` stands for."""
        return scope in SCOPES and not self.scopes.isdisjoint({scope, "admin"})

    def may_read_results(self, schedule: int | None) -> bool:
        """Return whether this caller may read the newest results of a schedule; None: of one that there is not."""
        return self.may("read") or (schedule is not None and results_scope(schedule) in self.scopes)


EVERYBODY = Caller(tenant=DEFAULT_TENANT, scopes=frozenset(SCOPES), name="local")
"""The caller where authentication is off: on loopback, the person at this machine."""


def make_key() -> str:
    """A new key: 256 random bits behind the prefix."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_key(key: str) -> str:
    """Return what is stored instead of the key.

    One round of SHA-256 is enough: slow hashes protect secrets that people can guess, and 256 random bits cannot be
    guessed bits. It also lets the store find a key by its hash, so that no comparison depends on the key itself.
    """
    return hashlib.sha256(key.encode()).hexdigest()
