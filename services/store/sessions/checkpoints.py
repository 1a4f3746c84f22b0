"""Checkpoints of running sessions, as their workers send them."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.types import Checkpoint
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx


def keep_checkpoints(tx: Tx, checkpoints: Sequence[tuple[int, int, Checkpoint]]) -> list[bool]:
    """Keeps checkpoints, each as (session, fence, checkpoint); says of each whether its lease is still the reporter's.

    Of several of one lease the last counts.
    """
    last = {(session, fence): checkpoint for session, fence, checkpoint in checkpoints}
    rows = [
        {"id": session, "fence": fence, "checkpoint": codec.dump_checkpoint(checkpoint)}
        for (session, fence), checkpoint in last.items()
    ]
    kept = {(row.id, row.fence) for row in tx.rows("keep_checkpoints", rows=codec.dump_json(rows))}
    return [(session, fence) in kept for session, fence, _ in checkpoints]
