"""The sites that need care: those that run now, were slowed down, asked for a pause, or keep a distance."""

from __future__ import annotations

from shoal.agent.worker_messages import RobotsState
from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import SiteRow

_ROBOTS = tuple(RobotsState)
"""By the number that their column holds."""


def sites(tx: Tx, limit: int, host: str = "") -> list[SiteRow]:
    """Sites with running sessions or with a limit of their own, the busiest first; with a host, that one alone."""
    return [
        SiteRow(
            host=row.host,
            running=int(row.running),
            most=row.most,
            paused_s=max(0.0, (row.blocked_until or 0.0) - tx.now),
            delay_s=row.delay_s or 0.0,
            domain=row.id,
            own_most=row.own_most,
            own_delay_s=row.own_delay_s,
            own_paused_s=max(0.0, (row.own_pause_until or 0.0) - tx.now),
            robots="" if row.robots is None else str(_ROBOTS[row.robots]),
        )
        for row in tx.rows("busy_sites", now=tx.now, n=limit, host=host)
    ]
