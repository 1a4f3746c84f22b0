"""Running a workflow from its page: one row of details in a form, or the rows of a file, as a job."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import RedirectResponse

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.version import Version
from shoal.services.errors import BadInput
from shoal.services.store import ids
from shoal.services.store.workflows.records import WorkflowRow
from shoal.services.web.api.submitter import Submitter
from shoal.services.web.api.workflow_tries import version_of
from shoal.services.web.aside import aside
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_nothing
from shoal.services.web.http.problems import faults_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.submit.compose import Inputs, form_inputs, once_key
from shoal.services.web.pages.submit.loop_values import TableFile, read_table
from shoal.services.web.pages.workflows.run_inputs import Fault, RunInputs, details, matched, rows_of, run_inputs

FORM_BYTES = 4
"""A form is so much longer than the job in it, at most."""


@dataclass(frozen=True, slots=True)
class RunForm:
    """The contents of the form of a run."""

    workflow: str
    version: int
    inputs: RunInputs
    url: str  # where the run begins
    key: str  # a second click is the same job
    values: Mapping[str, str] = field(default_factory=dict)  # texts by the names of the inputs
    empty: frozenset[str] = frozenset()  # inputs that may be empty
    domains: Mapping[str, str] = field(default_factory=dict)  # where each secret may be filled in
    totp: str = ""  # name of the secret that one-time codes are made of; "": a person is asked
    file: str | None = None  # its text; None: one row is given
    table: TableFile | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # of the file, by the names of the inputs
    faults: tuple[Fault, ...] = ()

    @classmethod
    def new(cls, row: WorkflowRow, version: Version) -> RunForm:
        """The form as it is shown first."""
        inputs, site = run_inputs(version), row.scope.site
        domains = dict.fromkeys(inputs.secrets, site.partition(":")[0])
        return cls(row.name, version.number, inputs, version.begins_at, secrets.token_urlsafe(12), domains=domains)

    def filled(self, sent: Inputs) -> RunForm:
        """The form with what was sent. A file that is no table is a fault."""
        names = [each.name for each in self.inputs.fields]
        form = replace(
            self,
            url=sent.one("url").strip(),
            key=sent.one("key") or self.key,
            values={name: sent.one(f"value.{name}") for name in names},
            empty=frozenset(sent.every("empty")),
            domains={name: sent.one(f"domains.{name}") for name in self.inputs.secrets},
            totp=sent.one("totp").strip(),
            file=sent.one("file") if sent.has("file") else None,
        )
        if form.file is None:
            return form
        try:
            table = read_table(form.file.encode())
        except BadInput as error:
            return replace(form, faults=tuple(faults_of(error)))
        chosen = {name: sent.one(f"column.{name}") for name in names if sent.has(f"column.{name}")}
        return replace(form, table=table, columns=matched(self.inputs, table.columns) | chosen)

    def spec(self) -> tuple[dict[str, Json], tuple[Fault, ...]]:
        """The job of the form, and what is wrong with the details."""
        faults: list[Fault] = []
        if self.inputs.unsaid:
            faults.append({"field": "data", "reason": f"{self.inputs.unsaid}: hand the job in as JSON"})
        spec: dict[str, Json] = {"policy": f"workflow:{self.workflow}@{self.version}"}
        if self.url:
            spec["url"] = self.url
        if self.table is not None:
            rows, wrong = rows_of(self.inputs, self.table, self.columns, self.empty)
            faults += wrong
            spec["loop"] = {"values": [_item(row) for row in rows], "is_link": False}
        elif self.inputs.fields:
            given = details(self.inputs, self.values, self.empty, faults, "")
            spec |= {"loop": {"values": [_item(given)], "is_link": False}} if self.inputs.of_item else {"data": given}
        if self.domains:
            spec["secrets"] = {
                name: {"domains": hosts.replace(",", " ").split()} for name, hosts in self.domains.items()
            }
        if self.inputs.codes:
            spec |= {"totp": self.totp} if self.totp else {"help": {"person": True}}
        return spec, tuple(faults)


def _item(row: Json) -> str:
    return row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)


def add_runs(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages, submitter: Submitter) -> None:
    """Adds what the page's form hands in."""

    @router.post("/workflows/{name}/versions/{number}/run")
    async def run(
        request: Request,
        name: str,
        number: int = Path(ge=1, le=10_000),
        caller: Caller = Depends(let_in(login_check, "submit")),
    ) -> Response:
        """Hands a job in, or shows a file's columns and what is wrong."""
        sent = await form_inputs(request, FORM_BYTES * deps.options.body_limit)
        login_check.check_form(request, sent.one("token"))
        row = await deps.store.workflows.get(caller.tenant, name)
        empty_form = RunForm.new(row, version_of(row, number).version)
        form = await aside(sent.size, empty_form.filled, sent)
        if not form.faults and sent.one("step") == "run":
            spec, faults = await aside(sent.size, form.spec)
            body = await aside(sent.size, _body, spec)
            if not faults:
                try:
                    done = await submitter.submit(body, caller, idempotency_key=once_key(form.key, body))
                    return RedirectResponse(f"/jobs/{ids.job_id(done.job)}", status_code=303)
                except BadInput as error:
                    faults = tuple(faults_of(error)) or ({"field": "job", "reason": error.message},)
            form = replace(form, faults=faults)
        note_nothing(request)
        status = 400 if form.faults else 200
        return pages.page(request, "workflows/run.html", status=status, caller=caller, form=form)


def _body(spec: Mapping[str, Json]) -> bytes:
    return json.dumps(spec, ensure_ascii=False).encode()
