"""The history of a job: its plan as a tree, and its events."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.status import Status
from shoal.agent.types import Task
from shoal.services.store import ids
from shoal.services.store.records import JobRow, SessionRow
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.live.progress import progress_of
from shoal.services.web.live.rooms import LiveRooms
from shoal.services.web.pages.jobs.view_models import look
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

EVENTS_SHOWN = 100
_DEEPEST = 5
_LOOKED_AT = 200
"""Sessions of a job among which the example of a loop's items is looked for."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One mini goal of a session, and of a loop what one of its items did."""

    task: Task
    example: SessionPlan | None = None


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The mini goals of one session's last attempt."""

    row: SessionRow
    nodes: tuple[PlanNode, ...]


def add_history(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, rooms: LiveRooms) -> None:
    """Adds the page."""

    @router.get("/jobs/{job}/history", response_class=HTMLResponse)
    async def history(
        request: Request,
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        before: int | None = Query(None, ge=1, le=2**63 - 1, description="only events before this one"),
    ) -> Response:
        store = deps.store
        row = await store.job(ids.parse_job(job), tenant=caller.sees)
        plan = await plan_of(store, row)
        events = await store.latest_events(row.id, before=before, limit=EVENTS_SHOWN + 1)
        return pages.page(
            request,
            "job/history.html",
            caller=caller,
            job=look(row, await store.now()),
            plan=plan,
            progress=await progress_of(rooms, plan.row, row.tenant, caller.tenant),
            events=events[:EVENTS_SHOWN],
            following=events[EVENTS_SHOWN - 1].seq if len(events) > EVENTS_SHOWN else None,
        )


async def plan_of(store: Store, job: JobRow) -> SessionPlan:
    """The plan of a job's root session; each loop in it has one of its items as an example."""
    rows, _ = await store.sessions(job.id, limit=_LOOKED_AT)
    root = (await store.session(job.root_session)).row
    return await _session_plan(store, root, rows, _DEEPEST)


async def _session_plan(store: Store, row: SessionRow, rows: list[SessionRow], deepest: int) -> SessionPlan:
    attempts = (await store.session(row.id)).attempts
    items = [session for session in rows if session.parent == row.id]
    example = next((item for item in items if item.status is Status.COMPLETED), items[0] if items else None)
    nodes = []
    for task in attempts[-1] if attempts else ():
        below = None
        if task.type == "loop" and example is not None and deepest > 1:
            below = await _session_plan(store, example, rows, deepest - 1)
        nodes.append(PlanNode(task, below))
    return SessionPlan(row, tuple(nodes))
