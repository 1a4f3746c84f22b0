"""Summaries of finished loops for their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import ChildrenSummary
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx

_SAMPLES = 5
"""Records of a loop that its parent is shown, and items that gave none."""
_TOLD_CHARS = 200


def summaries_of(
    tx: Tx, parents: Sequence[Row[Any]], jobs: Mapping[int, Row[Any]], specs: Mapping[int, JobSpec]
) -> dict[int, ChildrenSummary]:
    """Return how the last loop of each of some sessions went, by session; two statements, however many they are."""
    completed = _completed(tx, parents, jobs, specs)
    samples = _samples(tx, [row for row in parents if completed[row.id]])
    failures = _failures(tx, [row for row in parents if completed[row.id] < row.loop_children])
    return {
        row.id: ChildrenSummary(
            expected=row.loop_children,
            completed=completed[row.id],
            failed=row.loop_children - completed[row.id],
            samples=tuple(samples.get(row.id, ())[:_SAMPLES]),
            failures=tuple(failures.get(row.id, ())),
        )
        for row in parents
    }


def _completed(
    tx: Tx, parents: Sequence[Row[Any]], jobs: Mapping[int, Row[Any]], specs: Mapping[int, JobSpec]
) -> dict[int, int]:
    """Return how many children of each are completed; counted only where the job has not done that already."""
    of_whole_jobs = {
        row.id: jobs[row.job].completed for row in parents if _is_whole_job(row, jobs[row.job], specs[row.job])
    }
    others = [row for row in parents if row.id not in of_whole_jobs]
    rows = tx.rows("loops_completed", **_spans(tx, others)) if others else ()
    return dict.fromkeys([row.id for row in others], 0) | {row.id: row.n for row in rows} | of_whole_jobs


def _is_whole_job(row: Row[Any], job: Row[Any], spec: JobSpec) -> bool:
    """Return whether a session's last loop has all items of its job:
    a root's only loop, of which no item is a loop itself.
    """
    flat = spec.loop is not None and spec.loop.loop is None
    return row.depth == 0 and flat and row.children == row.loop_children == job.expected


def _samples(tx: Tx, parents: Sequence[Row[Any]]) -> dict[int, list[Json]]:
    """Records of the first completed children of each."""
    samples: dict[int, list[Json]] = {}
    for row in tx.rows("loop_samples", **_spans(tx, parents), n=_SAMPLES) if parents else ():
        records = codec.load_outcome(row.outcome).records
        samples.setdefault(row.parent, []).extend(record.value for record in records)
    return samples


def _failures(tx: Tx, parents: Sequence[Row[Any]]) -> dict[int, list[str]]:
    """The first children of each that failed, gave up or did not run, and why. Unsure ones are only counted."""
    failures: dict[int, list[str]] = {}
    for row in tx.rows("loop_failures", **_spans(tx, parents, jobs=True), n=_SAMPLES) if parents else ():
        item = codec.load_item(row.item) if row.item else None
        outcome = codec.load_outcome(row.outcome) if row.outcome else None
        why = "it did not run"
        if outcome is not None:
            why = outcome.reason or (outcome.error.message if outcome.error else "it ended without a reason")
        value = (item.label or item.value) if item else "?"
        failures.setdefault(row.parent, []).append(f"{value[:_TOLD_CHARS]}: {why[:_TOLD_CHARS]}")
    return failures


def _spans(tx: Tx, parents: Sequence[Row[Any]], *, jobs: bool = False) -> dict[str, Json]:
    """The sessions, and where the children of their last loops are; with their jobs if asked for."""
    spans = [(row.id, row.first_child, row.first_child + row.loop_children - 1, row.job) for row in parents]
    if tx.dialect == "sqlite":
        return {"spans": codec.dump_json(spans)}
    ids, firsts, lasts, of_jobs = map(list, zip(*spans, strict=True))
    return {"ids": ids, "firsts": firsts, "lasts": lasts} | ({"jobs": of_jobs} if jobs else {})
