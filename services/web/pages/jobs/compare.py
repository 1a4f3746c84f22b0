"""Two runs of one job: the records that changed, that appeared and that went."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.support.json_value import Json
from shoal.services.store import ids
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.results.result_lines import Line, job_lines

LINES_READ = 50_000
"""Of each run; the page says so where one has more."""
SAMPLE = 2_000
"""Lines of each run by which it is found out what tells records apart."""
ROWS_SHOWN = 200
RUNS_OFFERED = 20
_ITEM, _URL = "#item", "#url"


@dataclass(frozen=True, slots=True)
class ChangedRecord:
    """A record that both runs have, with the fields that differ."""

    key: str
    before: Line
    after: Line
    fields: Mapping[str, tuple[Json, Json]]  # old and new, by name


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two runs."""

    key: str  # by what records were matched: a field, or `#item` or `#url`
    appeared: Sequence[Line]
    went: Sequence[Line]
    changed: Sequence[ChangedRecord]
    same: int
    unmatched: int  # lines of either run whose key is missing or not their own


@dataclass(slots=True)
class _Run:
    by_key: dict[str, Line] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)
    without: int = 0


def add_compare(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page that compares two runs."""

    @router.get("/jobs/{job}/compare", response_class=HTMLResponse)
    async def compare(
        request: Request,
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        to: str = Query("", max_length=40, alias="with"),
        by: str = Query("", max_length=LONGEST),
    ) -> Response:
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        other = await deps.store.job(ids.parse_job(to), tenant=caller.sees) if to else None
        now = await deps.store.now()
        comparison, whole, keys = None, True, list[str]()
        if other is not None:
            old, old_whole = await _lines(deps, other)
            new, new_whole = await _lines(deps, row)
            whole = old_whole and new_whole
            keys = usable_keys([*old[:SAMPLE], *new[:SAMPLE]])
            comparison = await asyncio.to_thread(compared, old, new, by or best_key(old[:SAMPLE], new[:SAMPLE]))
        return pages.page(
            request,
            "job/compare.html",
            caller=caller,
            row=row,
            other=other,
            before=look(other, now) if other else None,
            after=look(row, now),
            runs=await _runs(deps, row, caller),
            found=comparison,
            whole=whole,
            keys=keys,
            most=LINES_READ,
            shown=ROWS_SHOWN,
            now=now,
        )


async def _runs(deps: GatewayDeps, row: JobRow, caller: Caller) -> list[JobRow]:
    """Other jobs that begin at the same address, the newest first."""
    job_filter = JobFilter(tenant=caller.sees and row.tenant, text=row.spec.url.lower(), limit=4 * RUNS_OFFERED)
    same = [job for job in await deps.store.jobs(job_filter) if job.id != row.id and job.spec.url == row.spec.url]
    return [job for job in same if job.tenant == row.tenant][:RUNS_OFFERED]


async def _lines(deps: GatewayDeps, row: JobRow) -> tuple[list[Line], bool]:
    """The lines with records of a run, and whether these are all."""
    lines: list[Line] = []
    async for line in await job_lines(deps, row):
        if line["record"] is None:
            continue
        if len(lines) == LINES_READ:
            return lines, False
        lines.append(line)
    return lines, True


def key_of(line: Line, by: str) -> str | None:
    """What tells a line from the others of its run, by an item, an address or a field; None where it has none."""
    record = line["record"]
    if by == _ITEM:
        value = (line["item"] or {}).get("value")
    elif by == _URL:
        value = line["url"]
    else:
        value = record.get(by) if isinstance(record, Mapping) else None
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def usable_keys(lines: Sequence[Line]) -> list[str]:
    """By what lines can be matched: their fields, their item, their address."""
    fields = dict.fromkeys(name for line in lines if isinstance(line["record"], Mapping) for name in line["record"])
    item = [_ITEM] if any(line["item"] for line in lines) else []
    return [*item, _URL, *fields]


def best_key(old: Sequence[Line], new: Sequence[Line]) -> str:
    """The key by which most lines have a value of their own; of equals the first of `usable_keys`."""
    keys = usable_keys([*old, *new])

    def told_apart(by: str) -> int:
        return sum(len({key for line in lines if (key := key_of(line, by)) is not None}) for lines in (old, new))

    return max(keys, key=told_apart)


def compared(old: Sequence[Line], new: Sequence[Line], by: str) -> Comparison:
    """What differs. A key that one run has twice says nothing: its lines are counted as unmatched."""
    before, after = _run(old, by), _run(new, by)
    doubled = before.doubled | after.doubled
    unmatched = before.without + after.without
    unmatched += sum(key_of(line, by) in doubled for line in [*old, *new])
    appeared = [line for key, line in after.by_key.items() if key not in before.by_key and key not in doubled]
    went = [line for key, line in before.by_key.items() if key not in after.by_key and key not in doubled]
    changed, same = [], 0
    for key, line in after.by_key.items():
        if key in doubled or key not in before.by_key:
            continue
        fields = differing(before.by_key[key]["record"], line["record"])
        if fields:
            changed.append(ChangedRecord(key, before.by_key[key], line, fields))
        else:
            same += 1
    return Comparison(by, appeared, went, changed, same, unmatched)


def differing(old: Json, new: Json) -> dict[str, tuple[Json, Json]]:
    """Fields of two records that are not the same, old and new."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return {} if _same(old, new) else {"record": (old, new)}
    names = dict.fromkeys((*old, *new))
    return {name: (old.get(name), new.get(name)) for name in names if not _same(old.get(name), new.get(name))}


def _same(old: Json, new: Json) -> bool:
    """Whether two values are the same JSON: 1 is not true."""
    return old == new and isinstance(old, bool) == isinstance(new, bool)


def _run(lines: Sequence[Line], by: str) -> _Run:
    run = _Run()
    for line in lines:
        key = key_of(line, by)
        if key is None:
            run.without += 1
        elif key in run.by_key:
            run.doubled.add(key)
        else:
            run.by_key[key] = line
    return run
