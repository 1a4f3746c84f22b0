"""The editor: each answer holds the version as it is by now, so that nothing is kept before it is saved."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.agent.actions.registry import PRIMITIVES
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.target import FAMILIES
from shoal.agent.workflows.format.version import Version
from shoal.services.errors import BadInput
from shoal.services.store.workflows.records import WorkflowRow
from shoal.services.web.api.workflow_difference import changes
from shoal.services.web.api.workflow_tries import version_of
from shoal.services.web.api.workflows import read_given
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail, note_nothing
from shoal.services.web.http.problems import faults_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.submit.compose import Inputs, form_inputs
from shoal.services.web.pages.workflows.editor.changes import (
    KINDS,
    Object,
    deleted,
    inserted,
    misshapen,
    moved,
    node_named,
    nodes_of,
    renamed,
)
from shoal.services.web.pages.workflows.editor.node_form import NodeReader, conditions_of, write_constant
from shoal.services.web.pages.workflows.graph import drawn
from shoal.services.web.pages.workflows.steps import pictures, step_line
from shoal.services.web.pages.workflows.tries import answer_try, version_try_of
from shoal.services.web.tries.version_trial import VersionTry
from shoal.services.web.tries.version_trier import VersionTrier

FORM_BYTES = 4
"""A form may be so many times as long as a workflow: `%` and two digits stand for most characters."""
_DEEPEST = 60
"""Levels of objects and lists in a version, its schema included."""
_OWN = ("number", "parent", "state", "by", "at")
"""Fields of a version that the store sets and not a person."""
_CONDITIONS = ("url", "text", "no_text", "visible", "hidden", "value")


@dataclass(frozen=True, slots=True)
class Edited:
    """A version that is being edited."""

    base: int  # number of the version that it is made from
    version: Object
    node: str  # whose form is shown; "" for none
    faults: Sequence[tuple[str, str]] = field(default=())  # place and reason, of the form


def add_editor(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, trier: VersionTrier
) -> None:
    """Adds the editor of a version, and what its buttons ask."""
    editor = _Editor(deps, login_check, pages)

    @router.get("/workflows/{name}/edit", response_class=HTMLResponse)
    async def begin(
        request: Request,
        name: str,
        caller: Caller = Depends(let_in(login_check, "control")),
        version: int = Query(ge=1, le=10_000),
        node: str = Query("", max_length=200),
    ) -> Response:
        row = await deps.store.workflows.get(caller.tenant, name)
        body = {key: value for key, value in version_of(row, version).version.as_json().items() if key not in _OWN}
        return await editor.page(request, caller, row, Edited(version, body, node))

    @router.post("/workflows/{name}/edit")
    async def change(request: Request, name: str, caller: Caller = Depends(let_in(login_check, "control"))) -> Response:
        """Does what the button says with the version in the form; only `save` stores something."""
        row = await deps.store.workflows.get(caller.tenant, name)
        inputs = await editor.inputs(request)
        edited = await aside(inputs.size, edited_by, inputs)
        if inputs.one("do") == "save" and not edited.faults:
            try:
                version = await aside(inputs.size, checked, row, edited)
            except BadInput:
                return await editor.page(request, caller, row, edited, inputs.size, status=400)
            at = datetime.now(UTC).isoformat(timespec="seconds")
            mine = version.model_copy(update={"state": "draft", "by": "person", "parent": edited.base, "at": at})
            kept = await deps.store.workflows.add_version(caller.tenant, name, mine)
            note_detail(request, f"version {kept.version.number} from version {edited.base}")
            return RedirectResponse(f"/workflows/{name}?version={kept.version.number}", status_code=303)
        note_nothing(request)
        return await editor.page(request, caller, row, edited, inputs.size)

    @router.post("/workflows/{name}/edit/try")
    async def attempt(request: Request, name: str, caller: Caller = Depends(let_in(login_check, "submit"))) -> Response:
        """Return what the version in the form gives on pages, as HTML; nothing is stored."""
        row = await deps.store.workflows.get(caller.tenant, name)
        inputs = await editor.inputs(request)

        def read_form() -> VersionTry:
            edited = edited_by(inputs)
            if edited.faults:
                raise BadInput("; ".join(f"{place}: {reason}" for place, reason in edited.faults))
            return version_try_of(inputs, row, checked(row, edited).model_copy(update={"number": edited.base}))

        return await answer_try(request, pages, trier, caller, read_form, inputs.size, pictured=True)


def edited_by(inputs: Inputs) -> Edited:
    """The version as the form has it, after what its button does.

    Raises:
        BadInput: the form holds no version.
    """
    version, base = _state(inputs)
    shown = inputs.one("node")
    reader = NodeReader(inputs)
    version = _with_form(version, shown, reader)
    if inputs.has("branches"):
        known = version.pop("branches", None)
        pages = reader.json("branches", known)
        if place := misshapen({"branches": pages or []}):
            reader.faults.append(("branches", f"{place} is no such part"))
            pages = known
        version |= {"branches": pages} if pages else {}
    verb, _, at = inputs.one("do").partition(":")
    name = inputs.one("n.id").strip()
    if shown and name and name != shown:
        if node_named(version, name) is not None:
            reader.faults.append(("n.id", f"another node is called {name!r}"))
        else:
            version, shown = renamed(version, shown, name), name
    kind = inputs.one("kind")
    match verb:
        case "show":
            shown = at
        case "before" | "after" if kind in KINDS:
            version, shown = inserted(version, shown, kind, before=verb == "before")
        case "delete":
            version, shown = deleted(version, shown), ""
        case "earlier" | "later":
            version = moved(version, shown, earlier=verb == "earlier")
    _check_writable(version)
    return Edited(base, version, shown, tuple(reader.faults))


def checked(row: WorkflowRow, edited: Edited) -> Version:
    """The version, where it is one.

    Raises:
        BadInput: listing each fault with its place.
    """
    given = {"name": row.name, "scope": row.scope.as_json(), "versions": [edited.version]}
    return read_given(given).versions[0]


def _state(inputs: Inputs) -> tuple[Object, int]:
    text, base = inputs.one("version"), inputs.one("base")
    try:
        version = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the version is no JSON: {error}") from None
    if not isinstance(version, dict) or not base.isdecimal():
        raise BadInput("the version has to be a JSON object")
    _check_writable(version)
    return {key: value for key, value in version.items() if key not in _OWN}, int(base[:9])


def _check_writable(version: Object) -> None:
    """Lets a version pass that a page can show.

    Raises:
        BadInput: it is nested too deep, has no parts where forms go, or holds half of a surrogate pair.
    """
    level: list[Json] = [version]
    for _ in range(_DEEPEST):
        level = [
            inner
            for part in level
            if isinstance(part, (dict, list))
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            break
    else:
        raise BadInput("the version is nested too deep")
    if place := misshapen(version):
        raise BadInput(f"the version is none: {place} is no such part")
    try:
        json.dumps(version, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the version holds text that cannot be written: {error.reason}") from None


def _with_form(version: Object, shown: str, reader: NodeReader) -> Object:
    """The version with what stands in the inputs of the node that is shown, and of the parameters."""
    nodes: list[Json] = list(version.get("nodes") or []) if isinstance(version.get("nodes"), list) else []
    if shown and reader.inputs.has("n.id"):
        nodes = [reader.node(node) if isinstance(node, dict) and node.get("id") == shown else node for node in nodes]
    changed: Object = {**version, "nodes": nodes}
    if reader.inputs.has("params"):
        params = reader.params(version.get("params"))
        changed.pop("params", None)
        if params:
            changed["params"] = params
    return changed


@dataclass(frozen=True, slots=True)
class _Editor:
    deps: GatewayDeps
    login_check: LoginCheck
    pages: Pages

    async def inputs(self, request: Request) -> Inputs:
        """Return what the form sent.

        Raises:
            NotAllowed: it is not a form of this login.
            TooLarge, BadInput.
        """
        inputs = await form_inputs(request, FORM_BYTES * self.deps.options.body_limit)
        self.login_check.check_form(request, inputs.one("token"))
        return inputs

    async def page(
        self,
        request: Request,
        caller: Caller,
        row: WorkflowRow,
        edited: Edited,
        size: int = 0,
        *,
        status: int = 200,
    ) -> Response:
        """The whole page, with what is wrong by its place.

        Args:
            size: bytes of the form that `edited` was read from.
        """
        version, faults = await aside(size, _whole, row, edited)
        shown = [node for node in version.nodes if node.id == edited.node] if version is not None else []
        shots = await pictures(self.deps.store, shown, caller.sees)
        return await aside(size, self._written, request, caller, row, edited, version, faults, shots, status)

    def _written(
        self,
        request: Request,
        caller: Caller,
        row: WorkflowRow,
        edited: Edited,
        version: Version | None,
        faults: Sequence[Mapping[str, str]],
        shots: Mapping[str, str],
        status: int,
    ) -> Response:
        base = version_of(row, edited.base).version.as_json()
        steps = [step_line(node, {}) for node in version.nodes] if version is not None else []
        return self.pages.page(
            request,
            "workflows/edit.html",
            status=status,
            caller=caller,
            workflow=row,
            base=edited.base,
            body=edited.version,
            state=json.dumps(edited.version, ensure_ascii=False),
            nodes=nodes_of(edited.version),
            node=node_named(edited.version, edited.node),
            screenshot=shots.get(edited.node, ""),
            faults=faults,
            version=version,
            graph=drawn(version) if version is not None else None,
            by_node={step.id: step for step in steps},
            differences=changes(base, edited.version),
            kinds=KINDS,
            families=FAMILIES,
            condition_kinds=_CONDITIONS,
            conditions_of=conditions_of,
            constant=write_constant,
            actions=[primitive.name for primitive in PRIMITIVES],
            can_try=caller.may("submit"),
        )


def _whole(row: WorkflowRow, edited: Edited) -> tuple[Version | None, list[dict[str, str]]]:
    """The version where it is one, and the faults of it and of its form."""
    faults = [{"node": edited.node, "field": place, "reason": reason} for place, reason in edited.faults]
    try:
        return checked(row, edited), faults
    except BadInput as error:
        return None, faults + [_placed(fault, edited.version) for fault in faults_of(error)]


def _placed(fault: Json, version: Object) -> dict[str, str]:
    """A fault of the API with the node that it is in."""
    place = str(fault["field"]).removeprefix("versions[0].")
    number, _, rest = place.removeprefix("nodes[").partition("]")
    nodes = version.get("nodes")
    node = ""
    if place.startswith("nodes[") and number.isdecimal() and isinstance(nodes, list) and int(number) < len(nodes):
        part = nodes[int(number)]
        node = str(part.get("id", "")) if isinstance(part, dict) else ""
    return {"node": node, "field": rest.removeprefix(".") if node else place, "reason": str(fault["reason"])}
