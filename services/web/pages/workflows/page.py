"""Workflows of a tenant: all of them, and one with its versions, its graph and the places of its fields."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from shoal.agent.workflows.format.node import ActionNode, Node
from shoal.agent.workflows.format.version import MOVES, State
from shoal.services.errors import NotFound
from shoal.services.store.workflows.records import VersionRow, WorkflowRow
from shoal.services.web.api.workflow_difference import changes
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

SHOWN = 50
_MOVES: dict[str, State] = {"activate": "active", "retire": "retired"}


def add_workflow_pages(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the list of workflows, and the page of each. They are those of the caller's tenant."""
    store = deps.store.workflows

    @router.get("/workflows")
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
            now=await deps.store.now(),
        )

    @router.get("/workflows/{name}")
    async def workflow(
        request: Request,
        name: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        version: int | None = Query(None, ge=1, le=10_000),
    ) -> Response:
        row = await store.get(caller.tenant, name)
        chosen = _chosen(row, version)
        parent = next((kept for kept in row.versions if kept.version.number == chosen.version.parent), None)
        return pages.page(
            request,
            "workflows/page.html",
            caller=caller,
            workflow=row,
            chosen=chosen,
            steps=[StepLine.of(node) for node in chosen.version.nodes],
            parent=parent,
            differences=changes(parent.version.as_json(), chosen.version.as_json()) if parent is not None else [],
            moves={how: state in MOVES[chosen.version.state] for how, state in _MOVES.items()},
            can_control=caller.may("control"),
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


@dataclass(frozen=True, slots=True)
class StepLine:
    """One node of a version, as the page shows it."""

    id: str
    kind: str
    what: str  # the action with its arguments, or the node's own words
    element: str  # role, name and the ways to find it; "" where it needs none
    then: str  # the node that follows
    on_miss: str
    sends: bool = False

    @classmethod
    def of(cls, node: Node) -> StepLine:
        """The line of `node`."""
        then = node.next or "end"
        if not isinstance(node, ActionNode):
            return cls(node.id, node.kind, node.says, "", then, node.on_miss)
        args = ", ".join(
            f"{name}={{{arg.param}}}" if arg.param else f"{name}={arg.template or arg.const}"
            for name, arg in node.args.items()
        )
        target, element = node.target, ""
        if target is not None:
            families = ", ".join(locator.family for locator in target.locators)
            element = f"{target.role} {target.name}: {families}".strip()
        return cls(node.id, node.kind, f"{node.action} {args}".strip(), element, then, node.on_miss, node.submits)


def _chosen(row: WorkflowRow, number: int | None) -> VersionRow:
    """The version of this number; None: the active one, else the last.

    Raises:
        NotFound: there is none of this number.
    """
    if number is None:
        return row.active or row.versions[-1]
    chosen = next((version for version in row.versions if version.version.number == number), None)
    if chosen is None:
        raise NotFound(f"the workflow {row.name!r} has no version {number}", workflow=row.name, version=number)
    return chosen
