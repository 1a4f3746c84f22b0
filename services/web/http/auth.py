"""The caller of a request: API keys, where keys are needed, and what protects a gateway that needs none."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import structlog
from cachetools import TLRUCache, TTLCache
from fastapi import Request

from shoal.services.errors import BadSetting, NotAllowed, StoreAway, Unauthenticated
from shoal.services.events import LogEvent
from shoal.services.store.store import Store
from shoal.services.web.http.api_keys import EVERYBODY, PREFIX, Caller, Scope, hash_key
from shoal.services.web.http.audit import note_caller
from shoal.services.web.http.rate_limit import RateLimit

log = structlog.get_logger()

KNOWN_FOR_S = 5.0
"""Seconds for which a key that was found is not looked up again; a revoked key works at most this much longer."""
KNOWN_KEYS = 10_000
USE_NOTED_S = 60.0
"""Seconds between two notes to the store that a key is in use."""
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def needs_keys(setting: str, host: str) -> bool:
    """Return whether a gateway on `host` asks for keys,
    by the setting `auth`.

    Raises:
        BadSetting: `off` for a gateway that others can reach.
    """
    local = is_loopback(host)
    if setting == "off" and not local:
        raise BadSetting(f"SHOAL_AUTH=off: not while the gateway listens on {host}, where others can reach it")
    return setting == "on" or not local


def is_loopback(host: str) -> bool:
    """Return whether `host` names this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class _KnownCaller:
    """A caller, and for how long the store need not be asked again."""

    caller: Caller
    keep_s: float


class Authenticator:
    """Finds the caller of a request."""

    def __init__(self, store: Store, *, required: bool, requests_per_s: float = 0.0) -> None:
        self._store = store
        self._required = required
        self._rate = RateLimit(store, requests_per_s)
        self._known: TLRUCache[str, _KnownCaller] = TLRUCache(KNOWN_KEYS, ttu=lambda _, known, now: now + known.keep_s)
        self._noted: TTLCache[str, bool] = TTLCache(KNOWN_KEYS, USE_NOTED_S)  # hashes of keys whose use is noted

    @property
    def required(self) -> bool:
        """Return whether callers need a key."""
        return self._required

    async def caller(self, request: Request, scope: Scope) -> Caller:
        """The caller of an API request, who may do what `scope` stands for.

        Raises:
            Unauthenticated, NotAllowed, QuotaExceeded.
        """
        caller = await self.any_caller(request)
        require_scope(caller, scope)
        return caller

    async def any_caller(self, request: Request) -> Caller:
        """The caller of an API request; what it may do is left to be asked.

        Raises:
            Unauthenticated, QuotaExceeded.
        """
        if not self._required:
            require_local(request)
            note_caller(request, EVERYBODY)
            return EVERYBODY
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not key.strip():
            raise Unauthenticated("An API key is needed: send `Authorization: Bearer shoal_…`.")
        caller = await self.by_key(key.strip())
        await self._rate.admit(caller.tenant)
        note_caller(request, caller)
        return caller

    async def admit(self, caller: Caller, scope: Scope) -> None:
        """Returns when a known caller may make one more request, and that one.

        Raises:
            NotAllowed, QuotaExceeded.
        """
        await self._rate.admit(caller.tenant)
        require_scope(caller, scope)

    async def holds(self, caller: Caller) -> bool:
        """Return whether the key or login of `caller` still gives what it gave.
        What goes on for long asks this again.

        A person's next login may give another tenant or fewer scopes.
        """
        if not caller.key_hash:
            return not self._required
        try:
            now = await self.by_hash(caller.key_hash)
        except Unauthenticated:
            return False
        return now.tenant == caller.tenant and now.scopes >= caller.scopes

    async def by_key(self, key: str) -> Caller:
        """The caller that `key` stands for.

        Raises:
            Unauthenticated: no such key, or it was revoked, or it has expired.
        """
        if not key.startswith(PREFIX):
            raise Unauthenticated("The API key is not valid.")
        return await self.by_hash(hash_key(key))

    async def by_hash(self, key_hash: str) -> Caller:
        """The caller whose key has this hash.

        Raises:
            Unauthenticated: no such key, or it was revoked, or it has expired.
        """
        known = self._known.get(key_hash)
        if known is not None:
            return known.caller
        row = await self._store.find_key(key_hash)
        if row is None or row.revoked_at is not None:
            self._known.pop(key_hash, None)
            raise Unauthenticated("The API key is not valid.")
        if row.left_s <= 0:
            self._known.pop(key_hash, None)
            raise Unauthenticated("The API key has expired.")
        await self._note_use(key_hash, row.id)
        caller = Caller(tenant=row.tenant, scopes=frozenset(row.scopes), name=row.name, key_hash=key_hash)
        self._known[key_hash] = _KnownCaller(caller, min(KNOWN_FOR_S, row.left_s))
        return caller

    async def _note_use(self, key_hash: str, key: int) -> None:
        """Has the store keep that a key is in use, once a minute.

        The caller is known by then, so a store that can be read and not written keeps no caller out.
        """
        if key_hash in self._noted:
            return
        self._noted[key_hash] = True
        try:
            await self._store.note_key_use(key)
        except StoreAway as error:
            log.warning(LogEvent.STORE_AWAY, error=error.message, doing="note the use of an API key", key=key)


def require_scope(caller: Caller, scope: Scope) -> None:
    """Raises NotAllowed unless `caller` has `scope`."""
    if not caller.may(scope):
        raise NotAllowed(f"This needs the scope `{scope}`; the key has {', '.join(sorted(caller.scopes)) or 'none'}.")


@lru_cache(maxsize=64)
def _names_loopback(host_header: str) -> bool:
    """Return whether a Host header, port and all, names this machine alone."""
    try:
        return is_loopback(urlsplit(f"//{host_header}").hostname or "")
    except ValueError:  # half a pair of brackets
        return False


def require_local(request: Request) -> None:
    """Refuses what a foreign web page could send through the browser of the person at this machine.

    Without keys, only the address protects the gateway. A page can still aim requests at it: under a name of its own
    that resolves to loopback (so the Host header must name loopback), or blindly (so its origin must be ours).

    Raises:
        NotAllowed: saying which of the two it was.
    """
    if not _names_loopback(request.headers.get("host", "")):
        raise NotAllowed("Without API keys the gateway answers under loopback names only; the Host header is another.")
    require_same_origin(request)


def require_same_origin(request: Request) -> None:
    """Refuses a request that another origin's page has made a browser send; reads are left to the browser's own rules.

    Raises:
        NotAllowed: the origin is another's.
    """
    if request.method in _SAFE_METHODS:
        return
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site", "none")
    if site not in ("none", "same-origin") or (
        origin is not None and origin.partition("://")[2] != request.headers.get("host", "")
    ):
        raise NotAllowed("Requests from other origins' pages are not taken.")


Guard = Callable[[Request], Awaitable[Caller]]


def guard(authenticator: Authenticator, scope: Scope) -> Guard:
    """A FastAPI dependency that gives the caller, who may do what `scope` stands for."""

    async def caller(request: Request) -> Caller:
        return await authenticator.caller(request, scope)

    return caller
