"""The list of jobs: looked through by words, site, day, label and status; filters that are kept under a name."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.agent.status import Status
from shoal.services.store import ids
from shoal.services.web.api.jobs import job_cursor
from shoal.services.web.cluster_state.overview import overview
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST, JobQuery
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.saved import LONGEST_NAME, all_saved, forget, save

JOBS_SHOWN = 50


def add_job_list(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page that shows all jobs, and its filters."""
    store = deps.store

    @router.get("/", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "read")),
        q: str = Query("", max_length=LONGEST),
        status: str = Query("", max_length=LONGEST),
        site: str = Query("", max_length=LONGEST),
        label: str = Query("", max_length=LONGEST),
        since: str = Query("", max_length=LONGEST),
        until: str = Query("", max_length=LONGEST),
        cursor: str | None = None,
    ) -> Response:
        asked = JobQuery(q.strip(), status, site.strip(), label, since, until)
        rows = await store.jobs(asked.filter(caller.sees, job_cursor(cursor), JOBS_SHOWN + 1))
        now = await store.now()
        more = len(rows) > JOBS_SHOWN
        return pages.page(
            request,
            "jobs.html",
            caller=caller,
            jobs=[look(row, now) for row in rows[:JOBS_SHOWN]],
            seen=await overview(store, caller),
            asked=asked,
            filters=await all_saved(store, "filter", caller),
            statuses=list(Status),
            following=asked.address(cursor=ids.job_id(rows[JOBS_SHOWN - 1].id)) if more else None,
        )

    @router.post("/filters")
    async def keep(
        request: Request,
        token: str = Form(""),
        name: str = Form("", max_length=LONGEST_NAME * 4),
        query: str = Form("", max_length=8 * LONGEST),
        caller: Caller = Depends(let_in(login_check, "submit")),
    ) -> Response:
        login_check.check_form(request, token)
        asked = JobQuery.of_text(query)
        asked.filter(caller.sees, None, 1)  # what cannot be asked for is not kept
        address = asked.address()
        await save(store, "filter", caller, name, {"address": address})
        return RedirectResponse(address, status_code=303)

    @router.post("/filters/{filter}/remove")
    async def remove(
        request: Request, filter: str, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "submit"))
    ) -> Response:
        login_check.check_form(request, token)
        await forget(store, "filter", caller, filter)
        return RedirectResponse("/", status_code=303)
