"""Readings of items' pages by an earlier run of the same work: records that may be carried over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from shoal.agent.spec import JobSpec
from shoal.agent.support.web_addresses import page_key
from shoal.agent.types import EarlierReading, Outcome, Reason
from shoal.services.store.database import codec
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import session_id
from shoal.services.store.jobs.rows import specs_of
from shoal.services.store.learning.provisional import figures_of, is_provisional
from shoal.services.store.loops.fanout import item_of

_READ_BY = {"goal", "data", "login", "extract", "policy", "workflow", "complete_criterion", "browser", "loop"}
"""Fields of a spec on which it depends what a record holds. Of its loop the depth counts: items are known by page."""


def earlier_readings(tx: Tx, rows: Sequence[Row[Any]], specs: Mapping[int, JobSpec]) -> dict[int, EarlierReading]:
    """By session: what the run before has read from the page of an item that is claimed the first time.

    Only of jobs that skip what has not changed, from runs that read as they do, and records without any doubt.
    """
    readings: dict[int, EarlierReading] = {}
    for job in sorted({row.job for row in rows if specs[row.job].changes.skip_unchanged}):
        before = [row.id for row in tx.rows("previous_run", id=job)]
        if not before or _read_by(specs_of(tx, before)[before[0]]) != _read_by(specs[job]):
            continue
        pages = {
            page_key(item.value): row.id
            for row in rows
            if row.job == job and row.attempt == 1 and (item := item_of(row.item)) is not None and item.is_link
        }
        kept = tx.rows("earlier_pages", job=before[0], pages=tx.many(sorted(pages))) if pages else ()
        figures = figures_of(tx, (row.parent for row in kept))
        for row in kept:
            outcome = codec.load_outcome(row.outcome) if row.state == State.COMPLETED and row.outcome else None
            if outcome is not None and is_doubtless(outcome, figures.get(row.parent, {})):
                readings[pages[row.page]] = EarlierReading(session_id(row.id), outcome.records)
    return readings


def is_doubtless(outcome: Outcome, figures: Mapping[str, int]) -> bool:
    """Return whether nothing of what an item gave is in doubt; `figures`: of its loop, where that learns."""
    if outcome.rejected or outcome.incomplete is not None or outcome.answer or outcome.error is not None:
        return False
    if outcome.replay is not None and is_provisional(outcome.replay, figures):
        return False
    doubts = (Reason.CONTRADICTED, Reason.AMBIGUOUS)
    return bool(outcome.records) and all(
        record.version is not None
        and not record.candidates
        and record.audit in ("", "right")
        and all(source.sureness != "weak" and source.why not in doubts for source in record.sources.values())
        for record in outcome.records
    )


def _read_by(spec: JobSpec) -> dict[str, Any]:
    fields = spec.model_dump(include=_READ_BY, mode="json", by_alias=True)
    depth, loop = 0, spec.loop
    while loop is not None:
        depth, loop = depth + 1, loop.loop
    return {**fields, "loop": depth}
