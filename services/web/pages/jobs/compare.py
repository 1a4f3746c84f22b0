"""Two runs of one job: the records that changed, that appeared and that went."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.status import FINAL
from shoal.services.store import ids
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.web.api.results import Format, written_changes
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.results.record_keys import usable_keys
from shoal.services.web.results.result_lines import Line, page_of_lines
from shoal.services.web.results.run_changes import RunChanges, changes_between

ROWS_SHOWN = 200
RUNS_OFFERED = 20
_LINES_FOR_KEYS = 200


@dataclass(slots=True)
class ChangesShown:
    """The first lines of each kind of change."""

    changed: list[Line] = field(default_factory=list)
    appeared: list[Line] = field(default_factory=list)
    went: list[Line] = field(default_factory=list)
    unclear: list[Line] = field(default_factory=list)

    @classmethod
    def of(cls, changes: RunChanges) -> ChangesShown:
        """Those of `changes`, which is closed."""
        shown, full = cls(), set[str]()
        counts = {name: getattr(changes.counts, name) for name in cls.__slots__}
        try:
            for line in changes.lines():
                lines: list[Line] = getattr(shown, line["change"])
                if len(lines) < ROWS_SHOWN:
                    lines.append(line)
                if len(lines) >= min(ROWS_SHOWN, counts[line["change"]]):
                    full.add(line["change"])
                    if full >= {name for name, n in counts.items() if n}:
                        break
        finally:
            changes.close()
        return shown


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
        changes, shown, keys = None, None, list[str]()
        open_job = next((job for job in (row, other) if job is not None and job.status not in FINAL), None)
        if other is not None and open_job is None:
            changes = await changes_between(deps, other, row, (by,) if by else ())
            shown = await asyncio.to_thread(ChangesShown.of, changes)
            keys = usable_keys([*await _first_lines(deps, other), *await _first_lines(deps, row)])
        return pages.page(
            request,
            "job/compare.html",
            caller=caller,
            row=row,
            other=other,
            before=look(other, now) if other else None,
            after=look(row, now),
            runs=await _runs(deps, row, caller),
            open_job=open_job,
            previous=await deps.store.previous(row.id),
            changes=changes,
            lines=shown,
            keys=keys,
            by=by,
            now=now,
        )

    @router.get("/jobs/{job}/changes")
    async def changes(
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        to: str = Query(max_length=40, alias="with"),
        by: str = Query("", max_length=LONGEST),
    ) -> Response:
        """All changes, as CSV. A person opens them in a spreadsheet, so texts stay texts there."""
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        other = await deps.store.job(ids.parse_job(to), tenant=caller.sees)
        differences = await changes_between(deps, other, row, (by,) if by else ())
        return await written_changes(row, differences, Format.CSV, formulas=False)


async def _first_lines(deps: GatewayDeps, row: JobRow) -> list[Line]:
    """Some lines with records, which say by what a person may have records matched."""
    lines, _ = await page_of_lines(deps, row, None, _LINES_FOR_KEYS)
    return [line async for line in lines if line["record"] is not None]


async def _runs(deps: GatewayDeps, row: JobRow, caller: Caller) -> list[JobRow]:
    """Other jobs that begin at the same address, the newest first."""
    job_filter = JobFilter(tenant=caller.sees and row.tenant, text=row.spec.url.lower(), limit=4 * RUNS_OFFERED)
    same = [job for job in await deps.store.jobs(job_filter) if job.id != row.id and job.spec.url == row.spec.url]
    return [job for job in same if job.tenant == row.tenant][:RUNS_OFFERED]
