"""New jobs with their root sessions; several callers' submissions share one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import select

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput, KeyReused
from shoal.services.events import JobEvent
from shoal.services.store.database import codec, tables
from shoal.services.store.database.states import State
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.rows import counts_json
from shoal.services.store.records import Counts, NewJob, Submitted

Key = tuple[str, str]  # tenant, idempotency key
Result: TypeAlias = list[Submitted] | KeyReused

_KEYS_PER_QUERY = 500

_MOST_WORDS = 4_000
"""Characters that are kept: what a job is about stands at its beginning."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A job that stands under an idempotency key."""

    id: int
    spec: JobSpec


def check(job: NewJob) -> None:
    """Refuses what a text column cannot hold.

    Raises:
        BadInput: with the place of each fault.
    """
    texts = {"tenant": job.tenant, "domain": job.domain, "idempotency_key": job.spec.idempotency_key or ""}
    texts["submitted_by"] = job.submitted_by or ""
    texts |= {f"labels/{name}": name + value for name, value in job.spec.labels.items()}
    faults = [place for place, text in texts.items() if "\0" in text or not _encodes(text)]
    if faults:
        reason = "holds U+0000 or half a surrogate pair"
        raise BadInput(
            f"cannot be stored: {', '.join(faults)}", errors=[{"place": p, "reason": reason} for p in faults]
        )


def used_keys(tx: Tx, tenant: str, keys: Collection[str]) -> frozenset[str]:
    """Those of a tenant's idempotency keys that stand for a job."""
    table, known = tables.job, set[str]()
    for part in _parts(sorted(keys)):
        known.update(
            tx.conn.execute(select(table.c.key).where(table.c.tenant == tenant, table.c.key.in_(part))).scalars()
        )
    return frozenset(known)


def submit_all(tx: Tx, calls: Sequence[Sequence[NewJob]]) -> list[Result]:
    """Stores what several callers submitted, each all or nothing: a reused key refuses its own caller only."""
    known = _jobs_by_key(tx, sorted({key for jobs in calls for job in jobs if (key := _key(job))}))
    ids = iter(range(tx.first["job"], tx.first["job"] + sum(map(len, calls))))
    fresh: list[tuple[int, NewJob]] = []
    results: list[Result] = []
    for jobs in calls:
        mine: list[tuple[int, NewJob]] = []
        added: dict[Key, KnownKey] = {}
        try:
            results.append([_place(job, ids, known, added, mine) for job in jobs])
        except KeyReused as err:
            results.append(err)
        else:
            known |= added
            fresh += mine
    _insert(tx, fresh)
    return results


def _place(
    job: NewJob,
    ids: Iterator[int],
    known: dict[Key, KnownKey],
    added: dict[Key, KnownKey],
    mine: list[tuple[int, NewJob]],
) -> Submitted:
    key = _key(job)
    earlier = (known.get(key) or added.get(key)) if key else None
    if earlier is None:
        new = next(ids)
        mine.append((new, job))
        if key:
            added[key] = KnownKey(new, job.spec)
        return Submitted(new, created=True)
    if earlier.spec != job.spec:
        raise KeyReused(f"the idempotency key {job.spec.idempotency_key!r} stands for another job", job=earlier.id)
    return Submitted(earlier.id, created=False)


def _jobs_by_key(tx: Tx, keys: Sequence[Key]) -> dict[Key, KnownKey]:
    table = tables.job
    known: dict[Key, KnownKey] = {}
    for tenant in sorted({tenant for tenant, _ in keys}):
        theirs = [key for owner, key in keys if owner == tenant]
        for part in _parts(theirs):
            columns = select(table.c.id, table.c.key, table.c.spec)
            for row in tx.conn.execute(columns.where(table.c.tenant == tenant, table.c.key.in_(part))):
                known[tenant, row.key] = KnownKey(row.id, codec.load_spec(row.spec))
    return known


def _parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        yield keys[start : start + _KEYS_PER_QUERY]


def _insert(tx: Tx, fresh: Sequence[tuple[int, NewJob]]) -> None:
    if not fresh:
        return
    root = tx.first["session"]
    placed = [(id, root + position, job) for position, (id, job) in enumerate(fresh)]
    tx.each("add_jobs", [_job_row(tx, id, root, job) for id, root, job in placed])
    tx.each("add_roots", [_root_row(tx, id, root, job) for id, root, job in placed])
    labels = [{"name": name, "value": value, "job": id} for id, job in fresh for name, value in job.spec.labels.items()]
    tx.each("add_labels", labels)
    words = [{"job": id, "host": job.domain, "words": words_of(job.spec)} for id, job in fresh]
    tx.each("add_words", words)
    counts = counts_json(Counts(expected=1))
    for id, job in fresh:
        tx.event(id, job.tenant, JobEvent.SUBMITTED, {"url": job.spec.url, "counts": counts})


def _job_row(tx: Tx, id: int, root: int, job: NewJob) -> dict[str, Json]:
    return {
        "id": id,
        "tenant": job.tenant,
        "key": job.spec.idempotency_key,
        "spec": codec.dump_spec(job.spec),
        "priority": job.spec.priority,
        "politeness": codec.dump_politeness(job.spec.politeness),
        "root": root,
        "deadline_at": None if job.spec.deadline_s is None else tx.now + job.spec.deadline_s,
        "created_at": tx.now,
        "submitted_by": job.submitted_by,
        "lineage": codec.lineage_of(job.tenant, job.spec),
    }


def _root_row(tx: Tx, id: int, root: int, job: NewJob) -> dict[str, Json]:
    return {"id": root, "job": id, "domain": tx.hosts[job.domain], "state": int(State.QUEUED)}


def _key(job: NewJob) -> Key | None:
    return (job.tenant, job.spec.idempotency_key) if job.spec.idempotency_key else None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def words_of(spec: JobSpec) -> str:
    """The words by which people look a job up: name, goals, address and labels, in lower case."""
    goal = spec.extract.goal if spec.extract is not None else None
    parts = [part for part in (spec.name, spec.goal, goal, spec.url) if part]
    parts += [f"{name}:{value}" for name, value in spec.labels.items()]
    return "\n".join(parts).lower()[:_MOST_WORDS].replace("\0", " ")
