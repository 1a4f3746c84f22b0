"""Workflows of a tenant: all of them, and one with its versions, its graph and the places of its fields."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Form, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.agent.workflows.exchange.file_formats import ImportFormat
from shoal.agent.workflows.format.version import MOVES, State
from shoal.services.errors import NotFound
from shoal.services.store.workflows.records import VersionRow, WorkflowRow
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.api.workflow_difference import changes
from shoal.services.web.api.workflow_tries import version_of
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.workflows.editor.page import add_editor
from shoal.services.web.pages.workflows.files import add_workflow_files, exports_of
from shoal.services.web.pages.workflows.graph import drawn
from shoal.services.web.pages.workflows.run import RunForm, add_runs
from shoal.services.web.pages.workflows.steps import pictures, step_line
from shoal.services.web.pages.workflows.tries import add_version_tries
from shoal.services.web.tries.version_trier import VersionTrier

SHOWN = 50
IMPORTED: dict[ImportFormat, str] = {
    ImportFormat.SHOAL: "Shoal's own",
    ImportFormat.RECORDER: "Chrome's DevTools Recorder",
    ImportFormat.AUTOMA: "Automa",
}
_MOVES: dict[str, State] = {"activate": "active", "retire": "retired"}


def add_workflow_pages(
    router: APIRouter,
    deps: GatewayDeps,
    login_check: LoginCheck,
    pages: Pages,
    trier: VersionTrier,
    submitter: Submitter,
) -> None:
    """Adds the list of workflows, and the page of each. They are those of the caller's tenant."""
    add_version_tries(router, deps, login_check, pages, trier)
    add_workflow_files(router, deps, login_check, pages)
    add_editor(router, deps, login_check, pages, trier)
    add_runs(router, deps, login_check, pages, submitter)
    store = deps.store.workflows

    @router.get("/workflows", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "read")),
        after: str = Query("", max_length=100),
    ) -> Response:
        rows = await store.some(caller.tenant, after=after or None, limit=SHOWN + 1)
        shown = rows[:SHOWN]
        following = f"/workflows?after={shown[-1].name}" if len(rows) > SHOWN else None
        return pages.page(
            request,
            "workflows/list.html",
            caller=caller,
            workflows=shown,
            following=following,
            formats=[(kind, IMPORTED[kind]) for kind in ImportFormat],
            can_control=caller.may("control"),
            now=await deps.store.now(),
        )

    @router.get("/workflows/{name}", response_class=HTMLResponse)
    async def workflow(
        request: Request,
        name: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        version: int | None = Query(None, ge=1, le=10_000),
        before: int | None = Query(None, ge=1, le=10_000, description="the version to compare with"),
    ) -> Response:
        row = await store.get(caller.tenant, name)
        chosen = _chosen(row, version)
        version_shown = chosen.version
        shots = await pictures(deps.store, version_shown.nodes, caller.sees)
        steps = [step_line(node, chosen.figures, shots.get(node.id, "")) for node in version_shown.nodes]
        parent = next((kept for kept in row.versions if kept.version.number == chosen.version.parent), None)
        other = parent if before is None else version_of(row, before)
        return pages.page(
            request,
            "workflows/page.html",
            caller=caller,
            workflow=row,
            chosen=chosen,
            steps=steps,
            by_node={step.id: step for step in steps},
            graph=drawn(version_shown),
            other=other,
            differences=changes(other.version.as_json(), chosen.version.as_json()) if other is not None else [],
            exports=exports_of(version_shown, row.name),
            moves={how: state in MOVES[chosen.version.state] for how, state in _MOVES.items()},
            can_control=caller.may("control"),
            can_try=caller.may("submit"),
            form=RunForm.new(row, version_shown),
            now=await deps.store.now(),
        )

    @router.post("/workflows/{name}/versions/{number}/{how}")
    async def move(
        request: Request,
        name: str,
        number: int = Path(ge=1, le=10_000),
        how: str = Path(max_length=20),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "control")),
    ) -> Response:
        """Activates a version, or retires it."""
        login_check.check_form(request, token)
        if how not in _MOVES:
            raise NotFound(f"a version is not {how!r}")
        await store.move(caller.tenant, name, number, _MOVES[how])
        note_detail(request, f"version {number}")
        return RedirectResponse(f"/workflows/{name}?version={number}", status_code=303)


def _chosen(row: WorkflowRow, number: int | None) -> VersionRow:
    """The version of this number; None: the active one, else the last.

    Raises:
        NotFound: there is none of this number.
    """
    return (row.active or row.versions[-1]) if number is None else version_of(row, number)
