"""Schedules of a tenant: all of them, and one with its next times and a strip of its last runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Depends, Form, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.services.errors import NotFound
from shoal.services.store import ids
from shoal.services.store.schedules.records import RunRow
from shoal.services.store.store import Store
from shoal.services.web.api.schedules.keys import make_schedule_key, schedule_key_body
from shoal.services.web.api.schedules.routes import VERBS, command_schedule
from shoal.services.web.api.views.schedules import ScheduleRunView, ScheduleView
from shoal.services.web.api.views.sinks import SinkView
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

SHOWN = 50
STRIP = 30
"""Runs of the strip."""


def add_schedule_pages(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the list of schedules, and the page of each. They are those of the caller's tenant."""
    store = deps.store.schedules

    @router.get("/schedules", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "read")),
        after: str = Query("", max_length=100),
    ) -> Response:
        rows = await store.listed(caller.tenant, after=after or None, limit=SHOWN + 1)
        last = [await store.runs(caller.tenant, row.spec.name, limit=1) for row in rows[:SHOWN]]
        shown = [
            (ScheduleView.of(row), ScheduleRunView.of(runs[0]) if runs else None)
            for row, runs in zip(rows[:SHOWN], last, strict=True)
        ]
        following = f"/schedules?after={rows[SHOWN - 1].spec.name}" if len(rows) > SHOWN else None
        return pages.page(
            request,
            "schedules/list.html",
            caller=caller,
            schedules=shown,
            following=following,
        )

    async def page(request: Request, name: str, caller: Caller, made: str = "", status: int = 200) -> Response:
        row = await store.get(caller.tenant, name)
        rows = await store.runs(caller.tenant, name, limit=STRIP)
        runs = [ScheduleRunView.of(run) for run in rows]
        newest, sinks = await _newest_sinks(deps.store, rows)
        return pages.page(
            request,
            "schedules/page.html",
            status=status,
            caller=caller,
            keys=await store.keys(caller.tenant, name) if caller.may("control") else (),
            made=made,
            now=await deps.store.now(),
            schedule=ScheduleView.of(row),
            runs=runs,
            sinks=sinks,
            sinks_of=newest and ids.job_id(newest),
            verbs={verb: VERBS[verb] for verb in VERBS if verb != ("resume" if row.due_at else "pause")},
            can_control=caller.may("control"),
        )

    @router.get("/schedules/{name}", response_class=HTMLResponse)
    async def schedule(request: Request, name: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        return await page(request, name, caller)

    @router.get("/schedules/{name}/results")
    async def results(name: str, caller: Caller = Depends(let_in(login_check, "read"))) -> Response:
        """Leads to the records of the last run that completed and is not degraded."""
        run = await store.newest_completed(caller.tenant, name)
        assert run.job is not None
        return RedirectResponse(f"/jobs/{ids.job_id(run.job)}/results?format=csv&columns=record", 303)

    _add_keys(router, deps, login_check, page)

    @router.post("/schedules/{name}/{verb}")
    async def command(
        request: Request,
        name: str,
        verb: str = Path(max_length=20),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Pauses, resumes, fires or deletes a schedule, or accepts its newest run."""
        login_check.check_form(request, token)
        if verb == "delete":
            await store.drop(caller.tenant, name)
            return RedirectResponse("/schedules", status_code=303)
        known = next((each for each in VERBS if each == verb), None)
        if known is None:
            raise NotFound(f"a schedule cannot {verb!r}")
        await command_schedule(deps, known, caller.tenant, name)
        return RedirectResponse(f"/schedules/{name}", status_code=303)


def _add_keys(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, page: Callable[..., Awaitable[Response]]
) -> None:
    """Adds the forms by which keys to a schedule's results are made and revoked; `page` is the schedule's."""

    @router.post("/schedules/{name}/keys")
    async def make_key(
        request: Request,
        name: str,
        token: str = Form(""),
        label: str = Form("", max_length=400),
        days: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Makes a key to its results. The answer is the page itself: this is the only time that the key is shown."""
        login_check.check_form(request, token)
        body = schedule_key_body({"name": " ".join(label.split()), "days": days.strip() or None})
        row, key = await make_schedule_key(deps.store, caller, name, body)
        note_detail(request, f"key {row.id} ({row.name})")
        return await page(request, name, caller, made=key, status=201)

    @router.post("/schedules/{name}/keys/{key}/revoke")
    async def revoke_key(
        request: Request,
        name: str,
        key: int = Path(ge=1, le=2**31 - 1),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        login_check.check_form(request, token)
        note_detail(request, (await deps.store.schedules.revoke_key(caller.tenant, name, key)).name)
        return RedirectResponse(f"/schedules/{name}", status_code=303)


async def _newest_sinks(store: Store, runs: Sequence[RunRow]) -> tuple[int | None, list[SinkView]]:
    """The newest of some runs whose job has written to sinks, or is to: its job, and how far each is."""
    for run in runs:
        if run.job is not None and (sinks := await store.sinks.of_job(run.job)):
            return run.job, [SinkView.of(sink) for sink in sinks]
    return None, []
