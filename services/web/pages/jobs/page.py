"""The page of one job, what its owner does to it, its events and results."""

from __future__ import annotations

from functools import partial
from typing import Literal, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Header, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.agent.redaction.masking import masked_spec
from shoal.agent.status import FINAL, Status
from shoal.services.errors import NotFound
from shoal.services.store import ids
from shoal.services.web.api.events import event_stream, resume_point
from shoal.services.web.api.jobs import CONTROLS, Verb, control_job, job_end
from shoal.services.web.api.questions import open_questions
from shoal.services.web.api.results import Format, written_results
from shoal.services.web.api.sessions import explained
from shoal.services.web.api.views.jobs import LearningView
from shoal.services.web.api.views.sinks import SinkView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.live.event_feed import EventFeed
from shoal.services.web.pages.item_rows import item_columns
from shoal.services.web.pages.jobs.change_form import changes_of
from shoal.services.web.pages.jobs.records import RecordQuery, matching, record_query
from shoal.services.web.pages.jobs.view_models import failed_sessions, failures, first_results, paced
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST, statuses_of
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.results.records_alone import Columns, Lists
from shoal.services.web.results.result_lines import job_lines

SESSIONS_SHOWN = 25


def add_job_page(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, feed: EventFeed) -> None:
    """Adds the page of one job, and what its forms and links lead to."""
    _add_page(router, deps, login_check, pages)
    _add_control(router, deps, login_check)
    _add_sinks(router, deps, login_check)
    _add_streams(router, deps, login_check, feed)


def _add_page(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    @router.get("/jobs/{job}", response_class=HTMLResponse)
    async def job_page(
        request: Request,
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        sessions: str = "",
        code: str = Query("", max_length=LONGEST, description="of a failure: only its sessions"),
        cursor: str | None = None,
    ) -> Response:
        store = deps.store
        seen = (
            await store.changed_partitions(None)
        ).seq  # before anything is read: the page is told of what comes later
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        chosen = statuses_of(sessions, "sessions")
        if code:
            rows, after = await failed_sessions(store, row, chosen, code, cursor, SESSIONS_SHOWN)
        else:
            rows, after = await store.sessions(row.id, statuses=chosen, after=cursor, limit=SESSIONS_SHOWN)
        groups, more_failures = await failures(store, row)
        end = await job_end(store, row)
        return pages.page(
            request,
            "job/page.html",
            caller=caller,
            job=await paced(store, row),
            seen=seen,
            end=end,
            run=await store.schedules.run_of_job(row.id),
            questions=[] if row.status in FINAL else await open_questions(store, caller, job=ids.job_id(row.id)),
            learning=[LearningView.of(learned) for learned in await store.learning.of_job(row.id)],
            spec=masked_spec(row.spec),
            sinks=[SinkView.of(sink) for sink in await store.sinks.of_job(row.id)] if row.spec.sinks else [],
            controls=CONTROLS,
            failures=groups,
            more_failures=more_failures,
            results=await first_results(store, row),
            sessions=rows,
            items=item_columns(session.item for session in rows),
            waits=await explained(store, row, rows),
            chosen=sessions,
            code=code,
            statuses=list(Status),
            following=after and "?" + urlencode({"sessions": sessions, "code": code, "cursor": after}) + "#sessions",
            can_control=caller.may("control"),
        )


def _add_control(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck) -> None:
    @router.post("/jobs/{job}/change")
    async def change(
        request: Request,
        job: str,
        token: str = Form(""),
        concurrency: str = Form("", max_length=20),
        deadline_s: str = Form("", max_length=20),
        job_tokens: str = Form("", max_length=20),
        priority: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        given = {
            "concurrency": concurrency,
            "deadline_s": deadline_s,
            "job_tokens": job_tokens,
            "priority": priority,
        }
        row = await deps.store.change(ids.parse_job(job), changes_of(given), tenant=caller.sees)
        return RedirectResponse(f"/jobs/{ids.job_id(row.id)}", status_code=303)

    @router.post("/jobs/{job}/{verb}")
    async def control(
        request: Request,
        job: str,
        verb: str,
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        if verb not in get_args(Verb):
            raise NotFound(f"there is nothing called {verb!r} to do to a job")
        row = await control_job(deps, next(known for known in CONTROLS if known == verb), ids.parse_job(job), caller)
        return RedirectResponse(f"/jobs/{ids.job_id(row.id)}", status_code=303)


def _add_sinks(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck) -> None:
    @router.post("/jobs/{job}/sinks/{sink}/again")
    async def again(
        request: Request,
        job: str,
        sink: int = Path(ge=0, le=100),
        token: str = Form(""),
        back: Literal["job", "schedule"] = Form("job"),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Writes a job's records to a sink once more."""
        login_check.check_form(request, token)
        number = ids.parse_job(job)
        await deps.store.sinks.again(number, sink, tenant=caller.sees)
        run = await deps.store.schedules.run_of_job(number) if back == "schedule" else None
        return RedirectResponse(f"/schedules/{run.name}" if run else f"/jobs/{ids.job_id(number)}", status_code=303)


def _add_streams(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, feed: EventFeed) -> None:
    @router.get("/jobs/{job}/events")
    async def events(
        request: Request,
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        last_event_id: str | None = Header(None),
        after: int = Query(0, ge=0, le=2**63 - 1),
    ) -> Response:
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        start = resume_point(last_event_id, after)
        holds = partial(login_check.holds, request, caller)
        return await event_stream(deps, feed, row.id, start, caller.tenant, follow=True, holds=holds)

    @router.get("/jobs/{job}/results")
    async def results(
        job: str,
        format: Format = Format.JSONL,
        formulas: bool = False,
        columns: Columns = Columns.ALL,
        lists: Lists = Lists.JSON,
        caller: Caller = Depends(let_in(login_check, "read")),
        asked: RecordQuery = Depends(record_query),
    ) -> Response:
        """The lines that match, in item order: all of them, also where the table shows the first ones alone.

        A person opens them in a spreadsheet, so texts stay texts there unless `formulas` is true.
        """
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        headers = {"Content-Disposition": f'attachment; filename="{ids.job_id(row.id)}.{format}"'}
        lines = matching(await job_lines(deps, row), asked)
        return await written_results(row, lines, format, headers, columns, lists, formulas=formulas)
