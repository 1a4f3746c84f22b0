"""The store's side of sites and of the limits that operators set for them. Each method is one transaction."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.services.store.database.database import Database
from shoal.services.store.read import sites
from shoal.services.store.records import SiteChanges, SiteRow
from shoal.services.store.throttle import site_limits
from shoal.services.store.throttle.site_limits import SiteLimits


class SiteStore:
    """Sites by host name. A lost database raises `StoreAway`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def busiest(self, limit: int) -> list[SiteRow]:
        """Sites with running sessions or with a limit of their own, the busiest first."""
        return await self._db.read(lambda tx: sites.sites(tx, limit))

    async def site(self, host: str) -> SiteRow | None:
        """One site; None where no job ever named it and nothing is set for it."""
        rows = await self._db.read(lambda tx: sites.sites(tx, 1, host))
        return rows[0] if rows else None

    async def change(self, host: str, changes: SiteChanges) -> None:
        """Changes what is set for a site, which need not be known yet. It holds from the next claim on."""
        await self._db.write(lambda tx: site_limits.set_limits(tx, host, changes), hosts={host})

    async def limits(self) -> Mapping[int, SiteLimits]:
        """Return what operators have set, by the site's number; for dispatchers."""
        return await self._db.read(site_limits.set_by_operators)
