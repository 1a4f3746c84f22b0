"""Limits that an operator sets for single sites: sessions at once, a delay between their starts, a pause.

They are columns of the site's row in `pace`, which every claim on the site locks: a change holds from the next claim
on. Dispatchers read them every few seconds, so that what was lifted is claimed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import SiteChanges

FOREVER_S = 253_370_764_800.0
"""The end of a pause without an end, in seconds since the epoch: the year 9999."""


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """The limits set for one site; None: nothing."""

    most: int | None = None  # sessions at once
    delay_s: float | None = None  # between session starts
    pause_until: float | None = None  # seconds since the epoch

    def paused_s(self, now: float) -> float:
        """Seconds that are left of the pause; 0 without one."""
        return 0.0 if self.pause_until is None else max(0.0, self.pause_until - now)

    @property
    def any(self) -> bool:
        """Return whether something is set."""
        return self != SiteLimits()


def limits_of(row: Row[Any]) -> SiteLimits:
    """Return what a row of `pace` says."""
    return SiteLimits(row.own_most, row.own_delay_s, row.own_pause_until)


def set_limits(tx: Tx, host: str, changes: SiteChanges) -> None:
    """Changes what is set for a site; what `changes` does not name stays."""
    domain = tx.hosts[host]
    (row,) = tx.rows_made("lock_paces", "add_paces", n=1, domains=tx.many([domain]))
    old = limits_of(row)
    until = old.pause_until
    if "pause_s" in changes.named:
        until = None if changes.pause_s == 0 else FOREVER_S if changes.pause_s is None else tx.now + changes.pause_s
    tx.run(
        "write_site_limits",
        domain=domain,
        own_most=changes.most if "most" in changes.named else old.most,
        own_delay_s=changes.delay_s or None if "delay_s" in changes.named else old.delay_s,
        own_pause_until=until,
    )


def set_by_operators(tx: Tx) -> dict[int, SiteLimits]:
    """Return what is set now, by domain; a pause that is over is nothing."""
    rows = tx.rows("site_limits")
    return {row.domain: limits for row in rows if (limits := _now(limits_of(row), tx.now)).any}


def _now(limits: SiteLimits, now: float) -> SiteLimits:
    return limits if limits.paused_s(now) else SiteLimits(limits.most, limits.delay_s)
