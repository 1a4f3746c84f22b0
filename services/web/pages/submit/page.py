"""The page on which people hand in jobs, and what it asks while they write."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from shoal.agent.redaction.masking import HIDDEN, masked_spec
from shoal.agent.support.json_value import Json
from shoal.services.demo import shop
from shoal.services.errors import BadInput, NotFound, ServiceError
from shoal.services.store import ids
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.body import read_body
from shoal.services.web.http.problems import faults_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.saved import Saved, all_saved, forget, one_saved, save
from shoal.services.web.pages.submit.compose import Draft, Inputs, composed, form_inputs, once_key, read_draft
from shoal.services.web.pages.submit.equivalents import equivalents
from shoal.services.web.pages.submit.fields import as_line, filled_form, strangers
from shoal.services.web.pages.submit.loop_values import loop_values, read_table
from shoal.services.web.pages.submit.presets import PRESETS
from shoal.services.web.pages.submit.sections import sections
from shoal.services.web.specs.specs import field_name, parse_json, parse_spec
from shoal.services.web.tries.report import report
from shoal.services.web.tries.trier import Trier

FORM_BYTES = 4
"""A form may be so many times as long as a job: `%` and two digits stand for most characters that are no letters."""
FILE_BYTES = 8
"""A file may be so many times as long as a job: not every column becomes a part of it."""
TRIED_ITEMS, TRY_S = 3, 90.0
"""Items of a loop that a try opens, and seconds until its answer comes in any case."""
AS_JSON, FROM, KEY = "#json", "#from", "#draft"
"""Inputs that are no field: the job as JSON, which then counts alone; the job that it began as; a key of this form."""
KEPT = "preset "
"""Prefix of the origin of a draft that is no job."""
TOKEN_HEADER = "x-shoal-form"


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A draft with what the API says of it."""

    draft: Draft
    faults: tuple[Mapping[str, str], ...] = field(default=())
    message: str = ""  # why it would be refused, where that is no fault of a field

    @property
    def valid(self) -> bool:
        """Return whether it would be taken now."""
        return not self.faults and not self.message


def add_submit_page(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, submitter: Submitter, trier: Trier
) -> None:
    """Adds the page and what its form and its scripts ask."""
    job_form = _JobForm(deps, login_check, pages, submitter)

    @router.get("/new", response_class=HTMLResponse)
    async def form(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "submit")),
        job: str = Query("", alias="from", max_length=40),
        preset: str = Query("", max_length=40),
        kept: str = Query("", max_length=40),
    ) -> Response:
        draft = await job_form.beginning(job, preset, kept, caller)
        # A kept job holds no passwords either.
        origin = job or (kept and f"{KEPT}{kept}")
        return await job_form.page(request, caller, CheckedDraft(draft), len(_body(draft)), origin=origin)

    @router.post("/new")
    async def submit(request: Request, caller: Caller = Depends(let_in(login_check, "submit"))) -> Response:
        inputs = await job_form.inputs(request)
        checked = await job_form.checked(inputs, caller)
        if not checked.valid:
            return await job_form.page(
                request, caller, checked, inputs.size, origin=inputs.one(FROM), key=inputs.one(KEY), status=400
            )
        body = await aside(inputs.size, _body, checked.draft)
        own = "idempotency_key" in checked.draft.spec
        key = None if own else once_key(inputs.one(KEY), body)
        done = await submitter.submit(body, caller, idempotency_key=key)
        return RedirectResponse(f"/jobs/{ids.job_id(done.job)}", status_code=303)

    @router.post("/new/demo")
    async def demo(
        request: Request, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "submit"))
    ) -> Response:
        """Hands in a job that works everywhere: see `shop`."""
        login_check.check_form(request, token)
        body = json.dumps(shop.JOB).encode()
        done = await submitter.submit(body, caller, idempotency_key="demo")  # a second click is the same job
        return RedirectResponse(f"/jobs/{ids.job_id(done.job)}", status_code=303)

    @router.post("/new/check")
    async def check(request: Request, caller: Caller = Depends(let_in(login_check, "submit"))) -> Response:
        """Return what the API would say of the job in the form, and the same job for other ways in.
        Nothing is stored.
        """
        inputs = await job_form.inputs(request)
        checked = await job_form.checked(inputs, caller)
        return await aside(inputs.size, job_form.draft_response, request, checked, inputs.has(AS_JSON))

    _add_presets(router, deps, login_check, job_form)
    _add_helpers(router, deps, login_check, job_form, trier)


def _add_presets(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, job_form: _JobForm) -> None:
    """Jobs that a tenant keeps under a name."""

    @router.post("/new/presets")
    async def keep(request: Request, caller: Caller = Depends(let_in(login_check, "submit"))) -> Response:
        """Keeps the job in the form under a name, without its passwords, as a job to begin with."""
        inputs = await job_form.inputs(request)
        checked = await job_form.checked(inputs, caller)
        if not checked.valid:
            return JSONResponse({"fault": checked.message or "Only a valid job can be kept."}, status_code=400)
        spec = await aside(inputs.size, lambda: masked_spec(parse_spec(_body(checked.draft))))
        spec.pop("idempotency_key", None)
        try:
            preset = await save(deps.store, "preset", caller, inputs.one("#name"), {"spec": spec})
        except BadInput as error:
            return JSONResponse({"fault": error.message}, status_code=400)
        return JSONResponse({"address": f"/new?kept={preset.id}"})

    @router.post("/new/presets/{preset}/remove")
    async def remove(
        request: Request, preset: str, token: str = Form(""), caller: Caller = Depends(let_in(login_check, "submit"))
    ) -> Response:
        login_check.check_form(request, token)
        await forget(deps.store, "preset", caller, preset)
        return RedirectResponse("/new", status_code=303)


def _add_helpers(
    router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, job_form: _JobForm, trier: Trier
) -> None:
    """Add what helps to write a job: a sample of it, and the values of a loop from a file."""

    @router.post("/new/try")
    async def attempt(request: Request, caller: Caller = Depends(let_in(login_check, "submit"))) -> Response:
        """Return what a sample of the job in the form gives, as HTML; it is kept nowhere."""
        inputs = await job_form.inputs(request)
        checked = await job_form.checked(inputs, caller)
        if not checked.valid:
            return JSONResponse({"fault": checked.message or "The job is not valid yet."})
        body = await aside(inputs.size, _body, checked.draft)

        async def listens() -> bool:
            return not await request.is_disconnected()

        answer = await trier.sample(
            body,
            caller,
            items=TRIED_ITEMS,
            timeout_s=TRY_S,
            listens=listens,
            tell=lambda sampled: (report(sampled), sampled.pictures),
            pictured=True,
        )
        if answer is None:
            return Response(status_code=204)  # its caller has gone
        view, pictures = answer
        extract = (await aside(len(body), parse_spec, body)).extract
        named = extract is not None and (extract.record_schema or {}).get("properties")
        places = {"fields": view.fields, "records": view.record_place}
        html = job_form.pages.part(request, "submit/tried.html", tried=view, choosable=bool(pictures and named))
        return JSONResponse({"html": html, "places": places, "pictures": pictures, "missing": view.missing})

    @router.post("/new/values")
    async def values(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "submit")),
        mapping: str = Query("", max_length=100_000),
    ) -> Response:
        """The columns and first rows of a file; with a mapping (JSON: names by column), the values of a loop."""
        login_check.check_form(request, request.headers.get(TOKEN_HEADER, ""))
        content = await read_body(request, FILE_BYTES * deps.options.body_limit)
        return await aside(len(content), _table_response, content, mapping)


@dataclass(frozen=True, slots=True)
class _JobForm:
    deps: GatewayDeps
    login_check: LoginCheck
    pages: Pages
    submitter: Submitter

    async def beginning(self, job: str, preset: str, kept: str, caller: Caller) -> Draft:
        """Return what the form begins with: a job that is there, a preset, one that the tenant keeps, or nothing."""
        if job:
            row = await self.deps.store.job(ids.parse_job(job), tenant=caller.sees)
            spec = masked_spec(row.spec)
            spec.pop("idempotency_key", None)
            return Draft(spec)
        if preset:
            if preset not in PRESETS:
                raise NotFound(f"there is no preset {preset!r}")
            return Draft(PRESETS[preset].spec)
        if kept:
            return Draft((await one_saved(self.deps.store, "preset", caller, kept)).data["spec"])
        return Draft({})

    async def inputs(self, request: Request) -> Inputs:
        """Return what the form sent.

        Raises:
            NotAllowed: it is not a form of this login.
            TooLarge, BadInput.
        """
        inputs = await form_inputs(request, FORM_BYTES * self.deps.options.body_limit)
        self.login_check.check_form(request, inputs.one("token"))
        return inputs

    async def checked(self, inputs: Inputs, caller: Caller) -> CheckedDraft:
        """The job in the form, and what the API's own check says of it."""
        try:
            draft, body = await aside(inputs.size, _drafted, inputs)
        except BadInput as error:
            return CheckedDraft(Draft({}), tuple(faults_of(error)) or ({"field": "body", "reason": error.message},))
        faults = [*draft.faults]
        try:
            await self.submitter.check(body, caller)
        except BadInput as error:
            known = {fault["field"] for fault in faults}
            faults += [fault for fault in faults_of(error) if fault["field"] not in known]
        except ServiceError as error:
            return CheckedDraft(draft, tuple(faults), error.message)
        return CheckedDraft(draft, tuple(faults))

    def draft_response(self, request: Request, checked: CheckedDraft, by_json: bool) -> Response:
        """The answer for the page's script; for a job given as JSON, with its form."""
        texts = equivalents(checked.draft.spec, self.gateway(request), keys=self.login_check.required)
        payload = {
            "valid": checked.valid,
            "message": checked.message,
            "faults": list(checked.faults),
            "texts": texts.texts(),
        }
        if by_json:
            payload["form"] = self.fields(request, checked.draft.spec)
            payload["strangers"] = strangers(checked.draft.spec)
        return JSONResponse(payload)

    def gateway(self, request: Request) -> str:
        """The address under which the caller has reached this gateway."""
        scheme = "https" if self.deps.options.secure_cookies else request.url.scheme
        return f"{scheme}://{request.url.netloc}"

    def fields(self, request: Request, spec: Mapping[str, Json]) -> str:
        """The fields of the form with what `spec` gives, as HTML."""
        return self.pages.part(request, "submit/fields.html", sections=sections(filled_form(spec)))

    async def page(
        self,
        request: Request,
        caller: Caller,
        checked: CheckedDraft,
        size: int,
        *,
        origin: str,
        key: str = "",
        status: int = 200,
    ) -> Response:
        """The whole page.

        Args:
            size: bytes of the draft.
        """
        kept = await all_saved(self.deps.store, "preset", caller)
        return await aside(size, self._written, request, caller, checked, kept, origin, key, status)

    def _written(
        self,
        request: Request,
        caller: Caller,
        checked: CheckedDraft,
        kept: Sequence[Saved],
        origin: str,
        key: str,
        status: int,
    ) -> Response:
        return self.pages.page(
            request,
            "submit/page.html",
            status=status,
            caller=caller,
            sections=sections(filled_form(checked.draft.spec)),
            strangers=strangers(checked.draft.spec),
            faults=checked.faults,
            message=checked.message,
            texts=equivalents(checked.draft.spec, self.gateway(request), keys=self.login_check.required).texts(),
            presets=PRESETS.values(),
            kept=kept,
            origin=origin,
            key=key or secrets.token_urlsafe(12),
        )


def _drafted(inputs: Inputs) -> tuple[Draft, bytes]:
    """The job in a form, with what is hidden there among its faults, and as JSON.

    Raises:
        BadInput: it was given as JSON, and is none.
    """
    draft = read_draft(inputs.one(AS_JSON)) if inputs.one(AS_JSON).strip() else composed(inputs)
    hidden = _hidden(draft.spec, ()) if inputs.one(FROM) else ()
    lost = tuple({"field": path, "reason": "is hidden here: give it again"} for path in hidden)
    draft = replace(draft, faults=(*draft.faults, *lost))
    return draft, _body(draft)


def _body(draft: Draft) -> bytes:
    return json.dumps(draft.spec, ensure_ascii=False).encode()


def _table_response(content: bytes, mapping: str) -> Response:
    """The columns and first rows of a file, and the values that `mapping` makes of it."""
    try:
        table = read_table(content)
        lines = loop_values(table, _names_by_column(mapping)) if mapping else []
    except BadInput as error:
        return JSONResponse({"fault": error.message})
    preview = {"columns": table.columns, "rows": len(table.rows), "sample": table.sample()}
    return JSONResponse({**preview, "values": "\n".join(map(as_line, lines))})


def _names_by_column(text: str) -> dict[str, str]:
    try:
        columns = parse_json(text.encode())
    except BadInput:
        columns = None
    if not isinstance(columns, dict) or not all(isinstance(name, str) for name in columns.values()):
        raise BadInput("The mapping must be a JSON object with a name for each column.")
    return columns


def _hidden(value: Json, path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield where a job that began as another still has the mark that stands for a password of that one."""
    if isinstance(value, str):
        if HIDDEN in value:
            yield field_name(path)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _hidden(part, (*path, name))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _hidden(part, (*path, index))
