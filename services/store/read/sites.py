"""The sites that need care: those that run now, were slowed down, asked for a pause, or keep a distance."""

from __future__ import annotations

from shoal.services.store.database.transaction import Tx
from shoal.services.store.records import SiteRow


def sites(tx: Tx, limit: int) -> list[SiteRow]:
    """Sites with running sessions or with a limit of their own, the busiest first."""
    return [
        SiteRow(
            host=row.host,
            running=int(row.running),
            most=row.most,
            paused_s=max(0.0, (row.blocked_until or 0.0) - tx.now),
            delay_s=row.delay_s or 0.0,
        )
        for row in tx.rows("busy_sites", now=tx.now, n=limit)
    ]
