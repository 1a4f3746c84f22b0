"""The list of jobs."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response

from shoal.agent.status import Status
from shoal.services.store import ids
from shoal.services.store.records import JobFilter, JobRow
from shoal.services.web.api.jobs import job_cursor, labels_of
from shoal.services.web.cluster_state.overview import overview
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import Door
from shoal.services.web.pages.queries import statuses_of
from shoal.services.web.pages.rendering import Pages, let_in

JOBS_SHOWN = 50


def add_job_list(router: APIRouter, deps: GatewayDeps, door: Door, pages: Pages) -> None:
    """Adds the page that shows all jobs."""

    @router.get("/")
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(door, "read")),
        status: str = "",
        label: str = "",
        cursor: str | None = None,
    ) -> Response:
        wanted = JobFilter(
            tenant=caller.sees,
            statuses=statuses_of(status, "status"),
            labels=labels_of([label]) if label else {},
            before=job_cursor(cursor),
            limit=JOBS_SHOWN + 1,
        )
        rows = await deps.store.jobs(wanted)
        now = await deps.store.now()
        return pages.page(
            request,
            "jobs.html",
            caller=caller,
            jobs=[look(row, now) for row in rows[:JOBS_SHOWN]],
            seen=await overview(deps.store, caller),
            chosen=status,
            label=label,
            statuses=list(Status),
            following=_following(rows, status, label),
        )


def _following(rows: list[JobRow], status: str, label: str) -> str | None:
    """The address of the next page of jobs; None: this is the last."""
    if len(rows) <= JOBS_SHOWN:
        return None
    query = {"status": status, "label": label, "cursor": ids.job_id(rows[JOBS_SHOWN - 1].id)}
    return "/?" + urlencode({name: text for name, text in query.items() if text})
