"""Items of a loop that have one and the same record: their pages may be one page, such as that of what is gone.

Where a workflow has read such a record, the loop's baseline reads the item's page again without seeing it. Where the
baseline reads the same, the records are equal with reason. After some such pairs equal records are no doubt any more.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.judging.batch import MOST_AGAIN, MOST_EQUAL, Batch, is_identifying
from shoal.agent.workflows.judging.phase import Phase
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.learning.provisional import note_reopened


@dataclass(frozen=True, slots=True)
class _Holder:
    """Which item has a record."""

    session: int
    sure: bool  # the baseline read it, or confirmed it


def note_records(tx: Tx, row: Row[Any], batch: Batch, ended: Sequence[tuple[int, Outcome]]) -> set[int]:
    """Adds the records of ended items to what is known of their loop.

    Args:
        row: of the loop in `learning`.
        batch: is changed.
        ended: sessions, with how they ended.

    Returns:
        The items whose records a workflow has read, and other items have, too.
    """
    single_records = [(session, outcome) for session, outcome in ended if _is_one_record(outcome)]
    for _, outcome in single_records:
        batch.note(outcome.records[0].value, by_baseline=_is_sure(outcome))
    if batch.equal >= MOST_EQUAL:
        return set()  # equal records are no doubt any more
    single_records = [
        (session, outcome) for session, outcome in single_records if is_identifying(outcome.records[0].value)
    ]
    keys = {session: _key(outcome) for session, outcome in single_records}
    if not keys:
        return set()
    rows = tx.rows("learned_records", job=row.job, loop=row.loop, keys=tx.many(sorted(set(keys.values()))))
    known = {held.key: _Holder(held.session, bool(held.sure)) for held in rows}
    changed: dict[str, _Holder] = {}
    doubted: set[int] = set()
    for session, outcome in single_records:
        key, sure = keys[session], _is_sure(outcome)
        holder = known.get(key)
        if holder is None or holder.session == session or (sure and not holder.sure):
            known[key] = changed[key] = _Holder(session, sure)
        if holder is None or holder.session == session or _is_same_item(tx, session, holder.session):
            continue
        if sure and holder.sure:
            batch.equal = MOST_EQUAL if row.phase in (Phase.ITEMS, Phase.SHADOW) else batch.equal + 1
        else:
            doubted |= {held for held, is_sure in ((session, sure), (holder.session, holder.sure)) if not is_sure}
    tx.each(
        "keep_learned_record",
        [
            {"job": row.job, "loop": row.loop, "key": key, "session": now.session, "sure": now.sure}
            for key, now in sorted(changed.items())
        ],
    )
    return doubted


def note_doubted(batch: Batch, figures: Counter[str], n: int) -> None:
    """Counts so many records of a version that does what may not be done again: none of its items is read again."""
    batch.acted += n
    figures[f"miss_{DivergenceReason.SAME_RECORD}"] += n


def read_again(tx: Tx, batch: Batch, figures: Counter[str], doubted: Set[int]) -> list[int]:
    """Counts as misses those of some items that are completed, and were not read again yet.

    Returns:
        These items, in the order of the loop.
    """
    asked = sorted(doubted - set(batch.again))[: max(0, MOST_AGAIN - len(batch.again))]
    again: list[int] = []
    for item in tx.rows("ended_items", ids=tx.many(asked)) if asked else ():
        if item.state != State.COMPLETED:
            continue
        replay = codec.load_outcome(item.outcome).replay
        if replay is not None:
            note_reopened(figures, replay.branches, 1)
            again.append(item.id)
    if again:
        figures[f"miss_{DivergenceReason.SAME_RECORD}"] += len(again)
    batch.again += sorted(again)
    return sorted(again)


def _is_one_record(outcome: Outcome) -> bool:
    return outcome.status is Status.COMPLETED and len(outcome.records) == 1


def _is_sure(outcome: Outcome) -> bool:
    """Return whether the baseline read the record, or confirmed it."""
    replay = outcome.replay
    return replay is None or replay.shadow or not replay.whole or replay.audit == "right"


def _key(outcome: Outcome) -> str:
    record_json = json.dumps(outcome.records[0].value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(record_json.encode()).hexdigest()[:32]


def _is_same_item(tx: Tx, session: int, other: int) -> bool:
    """Return whether the loop names one item twice."""
    rows = tx.rows("ended_items", ids=tx.many([session, other]))
    return len({codec.load_item(row.item).value for row in rows}) < 2
