"""Which logins were ended, as the store has it for all gateways."""

from __future__ import annotations

from cachetools import TTLCache

from shoal.services.store.store import Store
from shoal.services.web.http import auth


class EndedLogins:
    """Asks the store whether a login was ended, and not for each request."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._good: TTLCache[str, bool] = TTLCache(auth.KNOWN_KEYS, auth.KNOWN_FOR_S)

    async def end(self, login: str, lasts_s: float) -> None:
        """Ends a login that would have lasted so much longer. Another gateway takes it for some seconds more.

        Raises:
            StoreAway: it was not ended.
        """
        await self._store.end_login(login, lasts_s)
        self._good.pop(login, None)

    async def ended(self, login: str) -> bool:
        """Return whether a login was ended."""
        if login in self._good:
            return False
        if await self._store.login_ended(login):
            return True
        self._good[login] = True
        return False
