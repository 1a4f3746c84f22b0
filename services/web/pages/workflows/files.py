"""Workflows as files: a file becomes a workflow's drafts, and a version becomes a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Query, Request, Response

from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.agent.workflows.exchange.files import write_file
from shoal.agent.workflows.format.version import Version
from shoal.services.errors import BadInput
from shoal.services.web.api.workflow_tries import version_of
from shoal.services.web.api.workflows import imported, whole_file
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.submit.compose import form_inputs

FORM_BYTES = 4
"""A form is so much longer than the file in it, at most."""
TITLES: Mapping[ExportFormat, str] = {
    ExportFormat.SHOAL: "Shoal's own file",
    ExportFormat.RECORDER: "a recording of Chrome's DevTools Recorder",
    ExportFormat.AUTOMA: "a workflow of Automa",
    ExportFormat.PLAYWRIGHT: "a Python script for Playwright",
}


@dataclass(frozen=True, slots=True)
class Exportable:
    """One format in which a version can be had."""

    format: ExportFormat
    title: str
    lost: tuple[str, ...]  # what the file does not say


def exports_of(version: Version, name: str) -> list[Exportable]:
    """All formats, with what each does not say of the version."""
    return [
        Exportable(kind, title, () if kind is ExportFormat.SHOAL else tuple(write_file(kind, version, name).lost))
        for kind, title in TITLES.items()
    ]


def add_workflow_files(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds import and export."""
    store = deps.store.workflows

    @router.post("/workflows/import")
    async def take(request: Request, caller: Caller = Depends(let_in(login_check, "control"))) -> Response:
        """Keeps a file's workflow as drafts, and says what of the file the workflow does not say."""
        inputs = await form_inputs(request, FORM_BYTES * deps.options.body_limit)
        login_check.check_form(request, inputs.one("token"))
        if inputs.one("format") not in list(ImportFormat):
            raise BadInput(f"there is no format {inputs.one('format')!r}")
        file, kind, called = inputs.one("file").encode(), ImportFormat(inputs.one("format")), inputs.one("name").strip()
        given, lost = await aside(len(file), imported, file, kind, called or None)
        row = await store.keep(caller.tenant, given)
        note_detail(request, row.name)
        return pages.page(request, "workflows/imported.html", status=201, caller=caller, workflow=row, lost=lost)

    @router.get("/workflows/{name}/export")
    async def export(
        name: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        version: int | None = Query(None, ge=1, le=10_000, description="this version alone; default: all"),
        kind: ExportFormat = Query(ExportFormat.SHOAL, alias="format"),
    ) -> Response:
        row = await store.get(caller.tenant, name)
        if kind is ExportFormat.SHOAL:
            content = whole_file(row, version)
        elif version is None:
            raise BadInput(f"`version`: a file of the format {kind} holds one version")
        else:
            content = write_file(kind, version_of(row, version).version, name).text.encode()
        ending = "py" if kind is ExportFormat.PLAYWRIGHT else "json"
        headers = {"Content-Disposition": f'attachment; filename="{row.name}.{ending}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)
