"""Changes between two runs: records that appeared, went or differ, and those of which that cannot be told.

Nothing is told to have gone, or to be new, where a run may simply not have read it: its item gave no record, or the run
did not read all. Such records are `unclear`, with the reason.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import IO, Literal

from pydantic_core import from_json, to_json

from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput, WrongState
from shoal.services.store import ids
from shoal.services.store.records import JobRow
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.results.compared_runs import ComparedRuns, MatchedRecord, WhichRun
from shoal.services.web.results.record_keys import ADDRESS, ITEM, SAMPLE, Key, likely_keys, usable_keys
from shoal.services.web.results.result_lines import PAGE, Line, job_lines

Change = Literal["appeared", "went", "changed", "unclear", "same"]

_IN_MEMORY = 1 << 20
_THIS, _OTHER = ("earlier", "later"), ("later", "earlier")
"""Names of a run and of the other one, by `WhichRun`."""


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """Counts of two runs' records by change."""

    appeared: int = 0
    went: int = 0
    changed: int = 0
    unclear: int = 0  # it cannot be told what became of them
    same: int = 0


@dataclass(frozen=True, slots=True)
class RunChanges:
    """The changes between two runs, in a temporary file. Close it when done."""

    since: int  # the earlier job
    job: int
    key: Key  # by what records were matched
    counts: ChangeCounts
    _file: IO[bytes]

    def lines(self) -> Iterator[Line]:
        """The changes: those of the later run in the order of its items, then what is in the earlier one alone."""
        self._file.seek(0)
        for line in self._file:
            yield from_json(line)

    async def stream(self) -> AsyncIterator[Line]:
        """The same, read in threads."""
        lines = self.lines()
        while page := await asyncio.to_thread(lambda: [line for line, _ in zip(lines, range(PAGE), strict=False)]):
            for line in page:
                yield line

    def close(self) -> None:
        """Drops the file."""
        self._file.close()


async def changes_between(deps: GatewayDeps, before: JobRow, after: JobRow, key: Key = ()) -> RunChanges:
    """Return what changed from one job to a later one, by a key of their records;
    the key is found where none is given.

    Raises:
        BadInput: no record has a field of the key.
        WrongState: one of them has not ended.
        ArtifactMissing: one of them is archived, and a part of its archive is gone.
    """
    for row in (before, after):
        if row.status not in FINAL:
            job = ids.job_id(row.id)
            raise WrongState(f"job {job} has not ended: what changed is known once it has", job=row.id)
    old, new = await job_lines(deps, before), await job_lines(deps, after)
    first = [await _sample(lines) for lines in (old, new)]
    _check(key, after, [*first[WhichRun.BEFORE], *first[WhichRun.AFTER]])
    key = key or declared_key(after)
    runs = ComparedRuns([key] if key else likely_keys(*first))
    try:
        for run, lines in ((WhichRun.BEFORE, old), (WhichRun.AFTER, new)):
            async for page in _pages(first[run], lines):
                await asyncio.to_thread(runs.add, run, page)
        lacks = [_lacks(before, runs.unplaced[WhichRun.BEFORE]), _lacks(after, runs.unplaced[WhichRun.AFTER])]
        return await asyncio.to_thread(write_changes, runs, before.id, after.id, lacks)
    finally:
        await asyncio.to_thread(runs.close)


def _check(key: Key, row: JobRow, lines: list[Line]) -> None:
    """Refuses a key by which no record could be known.

    Raises:
        BadInput: neither a record nor the schema has a field of it.
    """
    schema = (row.spec.extract.record_schema if row.spec.extract is not None else None) or {}
    usable = dict.fromkeys((ITEM, ADDRESS, *(schema.get("properties") or ()), *usable_keys(lines)))
    for name in key:
        if name not in usable:
            reason = f"no record has a field {name!r}; there are: {', '.join(usable)}"
            raise BadInput(f"key: {reason}", errors=[{"place": "key", "reason": reason}])


def declared_key(row: JobRow) -> Key:
    """The key that the job's schema declares; empty for none."""
    return row.spec.extract.record_key if row.spec.extract is not None else ()


async def _sample(lines: AsyncIterator[Line]) -> list[Line]:
    sample: list[Line] = []
    async for line in lines:
        sample.append(line)
        if len(sample) == SAMPLE:
            break
    return sample


async def _pages(first: list[Line], rest: AsyncIterator[Line]) -> AsyncIterator[list[Line]]:
    for start in range(0, len(first), PAGE):
        yield first[start : start + PAGE]
    page: list[Line] = []
    async for line in rest:
        page.append(line)
        if len(page) == PAGE:
            yield page
            page = []
    yield page


def _lacks(row: JobRow, unplaced: bool) -> str:
    """Why a job may have read less than there is, of any item; "" where it read all."""
    loop, job = row.spec.loop, ids.job_id(row.id)
    if row.status is not Status.COMPLETED:
        return f"{job} is {row.status}"
    if row.incomplete is not None:
        return f"a list of {job} is known to lack something"
    if row.spec.sample is not None:
        return f"{job} is a sample"
    if loop is not None and loop.max_items is not None and row.counts.expected >= loop.max_items:
        return f"{job} read no more than `loop.max_items`"
    if unplaced or (loop is not None and loop.loop is not None and row.counts.final > row.counts.completed):
        return f"a part of {job} gave no records"
    return ""


def write_changes(runs: ComparedRuns, before: int, after: int, lacks: list[str]) -> RunChanges:
    """All changes in a file, and their number.

    Args:
        runs: their lines, all of them.
        before: id of the earlier job.
        after: id of the later one.
        lacks: of each run, why it may have read less than there is; "" where it read all.
    """
    number = runs.chosen()
    file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by RunChanges.close()
    counts = dict.fromkeys(("appeared", "went", "changed", "unclear", "same"), 0)
    try:
        changes = chain(
            (_of_later(record, number, lacks[WhichRun.BEFORE]) for record in runs.matched(WhichRun.AFTER, number)),
            (
                _alone(record, number, WhichRun.BEFORE, lacks[WhichRun.AFTER])
                for record in runs.matched(WhichRun.BEFORE, number)
                if not (record.same_key == 1 and record.twins == 1)  # told already, beside its twin
            ),
        )
        for change, line in changes:
            counts[change] += 1
            if change != "same":
                file.write(to_json(line, inf_nan_mode="null") + b"\n")
    except BaseException:
        file.close()
        raise
    return RunChanges(before, after, runs.keys[number], ChangeCounts(**counts), file)


_Told = tuple[Change, Line]


def _of_later(record: MatchedRecord, number: int, lacks: str) -> _Told:
    """Return what is to be said of a record of the later run."""
    if record.same_key != 1 or record.twins != 1:
        return _alone(record, number, WhichRun.AFTER, lacks)
    assert record.twin_record is not None and record.twin_meta is not None
    if record.record == record.twin_record:
        return "same", {}
    old, new = json.loads(record.twin_record), json.loads(record.record)
    unlike = differing(old, new)
    # A value that was not given since it was not sure enough is no other value.
    doubted = {
        **{name: "earlier" for name in unlike if name in record.twin_meta["doubted"]},
        **{name: "later" for name in unlike if name in record.meta["doubted"]},
    }
    fields = {name: {"before": a, "after": b} for name, (a, b) in unlike.items() if name not in doubted}
    why = "; ".join(f"{name} was not sure enough in the {run} run" for name, run in doubted.items())
    change: Change = "changed" if fields else "unclear" if doubted else "same"
    parts = (_provenance(record.twin_meta), _provenance(record.meta))
    return change, _line(change, record.meta["keys"][number], fields, new, why, *parts)


def _alone(record: MatchedRecord, number: int, run: WhichRun, lacks: str) -> _Told:
    """Return what is to be said of a record that has no twin; `lacks`: why the other run may not have read it."""
    why = ""
    if record.same_key == 0:
        why = "the record has no key"
    elif record.same_key > 1:
        why = f"{record.same_key} records of the {_THIS[run]} run have this key"
    elif record.twins > 1:
        why = f"{record.twins} records of the {_OTHER[run]} run have this key"
    elif record.unread is not None:
        why = f"its item gave no record in the {_OTHER[run]} run: {record.unread}"
    elif lacks:
        why = f"the {_OTHER[run]} run may not have read it: {lacks}"
    change: Change = "unclear" if why else "appeared" if run is WhichRun.AFTER else "went"
    seen = _provenance(record.meta)
    parts = (seen, None) if run is WhichRun.BEFORE else (None, seen)
    return change, _line(change, record.meta["keys"][number], {}, json.loads(record.record), why, *parts)


def _line(
    change: Change,
    key: list[str] | None,
    fields: Mapping[str, Json],
    record: Json,
    why: str,
    before: Json,
    after: Json,
) -> Line:
    return {
        "change": change,
        "key": None if key is None else key[0] if len(key) == 1 else json.dumps(key, ensure_ascii=False),
        "why": why,
        "fields": fields,
        "record": record,
        "before": before,
        "after": after,
    }


def _provenance(meta: Mapping[str, Json]) -> dict[str, Json]:
    """Return where and when a record was read."""
    return {name: meta[name] for name in ("session", "item", "url", "at")}


def differing(old: Json, new: Json) -> dict[str, tuple[Json, Json]]:
    """Fields of two records that are not the same, old and new."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return {} if _same(old, new) else {"record": (old, new)}
    names = dict.fromkeys((*old, *new))
    return {name: (old.get(name), new.get(name)) for name in names if not _same(old.get(name), new.get(name))}


def _same(old: Json, new: Json) -> bool:
    """Return whether two values are the same JSON: 1 is 1.0, and is not true."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(_same(value, new[name]) for name, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return bool(old == new)
