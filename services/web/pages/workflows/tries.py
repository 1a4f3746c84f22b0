"""Trying a version from its page: addresses are typed in, and the answer comes as a part of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic_core import to_json

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.version import Version
from shoal.services.errors import BadInput, ServiceError
from shoal.services.store.workflows.records import WorkflowRow
from shoal.services.web.api.workflow_tries import read_try, version_of
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_nothing
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.submit.compose import Inputs, form_inputs
from shoal.services.web.specs.specs import parse_json
from shoal.services.web.tries.version_trial import VersionTry
from shoal.services.web.tries.version_trier import VersionTrier
from shoal.services.web.tries.version_views import VersionTryView

_TRY_S = 90.0


@dataclass(frozen=True, slots=True)
class CountLine:
    """The number of elements that one locator, or one channel, finds on each page of a try."""

    of: str  # the node, or the branch and its field
    family: str
    value: str
    counts: dict[int, int] = field(default_factory=dict)  # by the number of the page in the try


def add_version_tries(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, trier: VersionTrier
) -> None:
    """Adds what the page's form asks."""

    @router.post("/workflows/{name}/versions/{number}/try")
    async def attempt(
        request: Request,
        name: str,
        number: int = Path(ge=1, le=10_000),
        caller: Caller = Depends(let_in(login_check, "submit")),
    ) -> Response:
        """Return what the version gives on the pages, as HTML; it is kept nowhere."""
        inputs = await form_inputs(request, 4 * deps.options.body_limit)
        login_check.check_form(request, inputs.one("token"))
        row = await deps.store.workflows.get(caller.tenant, name)
        version = version_of(row, number).version
        return await answer_try(
            request, pages, trier, caller, lambda: version_try_of(inputs, row, version), inputs.size
        )


async def answer_try(
    request: Request,
    pages: Pages,
    trier: VersionTrier,
    caller: Caller,
    given: Callable[[], VersionTry],
    size: int,
    *,
    pictured: bool = False,
) -> Response:
    """Return what a version gives on pages, as a part of the page, or the fault of what was asked.
    Nothing is stored.

    Args:
        given: what is to be run; its faults are told too.
        size: bytes of the form that it is read from.
        pictured: the answer has pictures of the pages, with what can be pointed at.
    """
    note_nothing(request)

    async def listens() -> bool:
        return not await request.is_disconnected()

    try:
        version = await aside(size, given)
        answer = await trier.pictured_attempt(version, caller, timeout_s=_TRY_S, listens=listens, pictured=pictured)
    except ServiceError as error:
        return JSONResponse({"fault": error.message})
    if answer is None:
        return Response(status_code=204)  # its caller has gone
    view, pictures = answer
    html = pages.part(request, "workflows/tried.html", tried=view, choosable=bool(pictures), counted=counted(view))
    return JSONResponse({"html": html, "pictures": pictures})


def counted(view: VersionTryView) -> list[CountLine]:
    """Return what each locator and each channel finds, page by page, in the order of the version."""
    lines: dict[tuple[str, str, str], CountLine] = {}
    for number, page in enumerate(view.pages):
        for entry in page.counts:
            line = lines.setdefault(
                (entry.of, entry.family, entry.value), CountLine(entry.of, entry.family, entry.value)
            )
            line.counts[number] = entry.count
    return list(lines.values())


def version_try_of(inputs: Inputs, row: WorkflowRow, version: Version) -> VersionTry:
    """Return what the form asks to run.

    Raises:
        BadInput: naming the field that is wrong.
    """
    body = read_try(_try_body(inputs))
    return VersionTry(row.name, row.scope, version, body.urls, body.start, body.data, body.item)


def _try_body(inputs: Inputs) -> bytes:
    """The body of a try that the form's inputs make.

    Raises:
        BadInput: a JSON field holds none.
    """
    body: dict[str, Json] = {"urls": inputs.one("urls").split(), "start": inputs.one("start") or None}
    for part in ("item", "data"):
        text = inputs.one(part).strip()
        if text:
            try:
                body[part] = parse_json(text.encode())
            except BadInput as error:
                reason = error.message.removeprefix("The body ").removesuffix(".")
                raise BadInput(f"{part}: this is no JSON: {reason}") from None
    return to_json(body)
