"""Which records of a loop are provisional: a workflow read them, and no audit has confirmed one since."""

from __future__ import annotations

import json
from collections.abc import Iterable

from shoal.services.store.database.transaction import Tx

CONFIRMED = "_good"
"""Among a loop's figures: the last session whose replayed record an audit confirmed."""


def confirmed_up_to(tx: Tx, loops: Iterable[int | None]) -> dict[int, int]:
    """The last session of each loop whose replayed record an audit confirmed. Records behind it are provisional."""
    ids = sorted({loop for loop in loops if loop is not None})
    rows = tx.rows("learning_figures", ids=tx.many(ids)) if ids else ()
    return {row.loop: json.loads(row.figures).get(CONFIRMED, 0) for row in rows}
