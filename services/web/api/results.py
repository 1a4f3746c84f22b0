"""The routes of results and of what changed since an earlier run: JSON lines, CSV or Parquet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from importlib import import_module

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from shoal.agent.support.json_value import Json
from shoal.services.errors import NotAllowed, NotFound
from shoal.services.store import ids
from shoal.services.store.records import JobRow
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.lazy_route import LazyRoute
from shoal.services.web.results.records_alone import Columns, Lists, records_alone
from shoal.services.web.results.result_lines import PAGE, Line, job_lines, page_of_lines
from shoal.services.web.results.run_changes import RunChanges, changes_between
from shoal.services.web.results.table import CHANGES_LEADING, CHANGES_TRAILING, ExportTable


class Format(StrEnum):
    """Formats of results."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    XLSX = "xlsx"


MEDIA_TYPES = {
    Format.JSONL: "application/x-ndjson",
    Format.CSV: "text/csv",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.ARROW: "application/vnd.apache.arrow.stream",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
BINARY = (Format.PARQUET, Format.ARROW, Format.XLSX)
_ACCEPTED = {
    **{media_type: form for form, media_type in MEDIA_TYPES.items()},
    "application/jsonl": Format.JSONL,
    "application/json": Format.JSONL,
    "application/*": Format.JSONL,
    "*/*": Format.JSONL,
}


def result_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes of results."""
    router = APIRouter(prefix="/v1", tags=["results"], route_class=LazyRoute)
    _add_results(router, deps, authenticator)
    _add_newest(router, deps, authenticator)
    _add_changes(router, deps, authenticator)
    return router


def _add_results(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    @router.get(
        "/jobs/{job}/results",
        summary="Read a job's results",
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "One line per record, in item order, of the items that are final",
                "headers": {
                    "Shoal-Next": {
                        "description": "with `limit`: the cursor of the next page, where there may be one",
                        "schema": {"type": "string"},
                    }
                },
                "content": {
                    MEDIA_TYPES[Format.JSONL]: {"schema": {"$ref": "#/components/schemas/ResultView"}},
                    MEDIA_TYPES[Format.CSV]: {"schema": {"type": "string"}},
                    **{MEDIA_TYPES[form]: {"schema": {"type": "string", "format": "binary"}} for form in BINARY},
                },
            }
        },
    )
    async def results(
        job: str,
        caller: Caller = Depends(guard(authenticator, "read")),
        format: Format | None = Query(None, description="instead of the Accept header"),
        after: str | None = Query(None, description="go on after this line: `Shoal-Next` of an earlier answer"),
        limit: int | None = Query(None, ge=1, le=10_000, description="at most so many lines; default: all"),
        formulas: bool = Query(True, description="CSV: false keeps texts that a spreadsheet would compute as texts"),
        columns: Columns = Query(Columns.ALL, description="`record`: the records alone, in the schema's order"),
        lists: Lists = Query(
            Lists.JSON,
            description="with `columns=record`: a list as JSON, as one text (`joined`), or as a row for each value",
        ),
        accept: str = Header("*/*"),
    ) -> StreamingResponse:
        """The lines that there are now; while the job runs, later calls give more.

        With `limit` the header `Shoal-Next` carries the cursor of the next page, as long as there may be one. A job
        whose retention is over gives the same lines from its archive; cursors of the time before are refused then.
        """
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        form = format or accepted_format(accept)
        headers = {}
        if form is not Format.JSONL:
            headers["Content-Disposition"] = f'attachment; filename="{ids.job_id(row.id)}.{form}"'
        if limit is None:
            lines = await job_lines(deps, row, after)
        else:
            lines, following = await page_of_lines(deps, row, after, limit)
            if following is not None:
                headers["Shoal-Next"] = following
        return await written_results(row, lines, form, headers, columns, lists, formulas=formulas)


def _add_newest(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    async def reader(request: Request, name: str) -> tuple[Caller, int | None]:
        """The caller, and the number of the schedule of which alone it may read."""
        caller = await authenticator.any_caller(request)
        if caller.may("read"):
            return caller, None
        number = await deps.store.schedules.number_of(caller.tenant, name)
        if not caller.may_read_results(number):
            raise NotAllowed("This needs the scope `read`, or a key of this very schedule.")
        return caller, number

    @router.get(
        "/schedules/{name}/results",
        summary="Read the results of a schedule's newest good run",
        response_class=StreamingResponse,
    )
    async def newest(
        name: str,
        held: tuple[Caller, int | None] = Depends(reader),
        format: Format | None = Query(None, description="instead of the Accept header"),
        formulas: bool = Query(True, description="CSV: as for a job"),
        columns: Columns = Query(Columns.ALL, description="as for a job"),
        lists: Lists = Query(Lists.JSON, description="as for a job"),
        accept: str = Header("*/*"),
    ) -> StreamingResponse:
        """One address for what is newest: of the last run that completed and is not degraded. 404: there is none.

        A key of the schedule reads this, and nothing else.
        """
        caller, number = held
        run = await deps.store.schedules.newest_completed(caller.tenant, name, number)
        assert run.job is not None
        row = await deps.store.job(run.job, tenant=caller.sees)
        form = format or accepted_format(accept)
        headers = {"Shoal-Job": ids.job_id(row.id)}
        return await written_results(row, await job_lines(deps, row), form, headers, columns, lists, formulas=formulas)


def _add_changes(router: APIRouter, deps: GatewayDeps, authenticator: Authenticator) -> None:
    @router.get(
        "/jobs/{job}/changes",
        summary="Read what changed since an earlier run",
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "One line per record that appeared, went or changed, or of which that is unclear",
                "headers": {
                    "Shoal-Changes": {
                        "description": "as JSON: `job`, `since`, `key`, and how many records `appeared`, `went`, "
                        "`changed`, are `unclear` and the `same`",
                        "schema": {"type": "string"},
                    }
                },
                "content": {
                    MEDIA_TYPES[Format.JSONL]: {"schema": {"$ref": "#/components/schemas/RecordChangeView"}},
                    MEDIA_TYPES[Format.CSV]: {"schema": {"type": "string"}},
                    **{MEDIA_TYPES[form]: {"schema": {"type": "string", "format": "binary"}} for form in BINARY},
                },
            }
        },
    )
    async def changes(
        job: str,
        caller: Caller = Depends(guard(authenticator, "read")),
        since: str = Query("previous", max_length=40, description="the earlier job; `previous`: the run before"),
        key: list[str] = Query(
            [],
            max_length=20,
            description="the field that names a record, `#item` or `#url`; may be given often. Default: what the "
            "schema declares by `x-key`, else what is found",
        ),
        format: Format | None = Query(None, description="instead of the Accept header"),
        formulas: bool = Query(True, description="CSV: as for results"),
        accept: str = Header("*/*"),
    ) -> StreamingResponse:
        """Both jobs must have ended. The run before is the last one of the same work that completed: of one tenant,
        from one address, with one goal, by one policy."""
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        earlier = await earlier_run(deps, row, caller, since)
        differences = await changes_between(deps, earlier, row, tuple(dict.fromkeys(key)))
        return await written_changes(row, differences, format or accepted_format(accept), formulas=formulas)


async def earlier_run(deps: GatewayDeps, row: JobRow, caller: Caller, since: str) -> JobRow:
    """The job that `since` names for `row`.

    Raises:
        NotFound: there is none.
    """
    number = await deps.store.previous(row.id) if since == "previous" else ids.parse_job(since)
    if number is None:
        raise NotFound(f"no earlier run of the work of {ids.job_id(row.id)} completed: name one by `since`")
    return await deps.store.job(number, tenant=caller.sees)


def changes_told(differences: RunChanges) -> dict[str, Json]:
    """Between which runs, by which key, and how many."""
    jobs = {"job": ids.job_id(differences.job), "since": ids.job_id(differences.since)}
    return {**jobs, "key": list(differences.key), **asdict(differences.counts)}


async def written_changes(row: JobRow, differences: RunChanges, form: Format, *, formulas: bool) -> StreamingResponse:
    """The changes of `row` as an answer, after which they are closed."""
    headers = {"Shoal-Changes": json.dumps(changes_told(differences))}
    if form is not Format.JSONL:
        headers["Content-Disposition"] = f'attachment; filename="{ids.job_id(row.id)}-changes.{form}"'
    table = partial(results_table, row, CHANGES_LEADING, CHANGES_TRAILING)
    return await written(table, _closed_after(differences, form), form, headers, formulas=formulas)


async def _closed_after(differences: RunChanges, form: Format) -> AsyncIterator[Line]:
    """The changes. Of tables, a line without changed fields has no column of them."""
    try:
        async for line in differences.stream():
            if form is not Format.JSONL and not line["fields"]:
                del line["fields"]
            yield line
    finally:
        await asyncio.to_thread(differences.close)


def results_table(job: JobRow, *around: tuple[str, ...]) -> ExportTable:
    """A table whose columns are those of the job's schema, and, where they are not those of results, others."""
    return ExportTable(job.spec.extract.record_schema if job.spec.extract else None, *around)


async def written_results(
    job: JobRow,
    lines: AsyncIterator[Line],
    form: Format,
    headers: dict[str, str],
    columns: Columns,
    lists: Lists,
    *,
    formulas: bool,
) -> StreamingResponse:
    """Result lines as an answer, or their records alone."""
    make_table = partial(results_table, job)
    if columns is Columns.RECORD:
        lines = records_alone(lines, lists)
        if form is Format.JSONL:
            lines = (line["record"] async for line in lines)
        schema = job.spec.extract.record_schema if job.spec.extract else None
        make_table = partial(ExportTable, schema, (), (), prefix="record.")
    return await written(make_table, lines, form, headers, formulas=formulas)


async def written(
    make_table: Callable[[], ExportTable],
    lines: AsyncIterator[Line],
    form: Format,
    headers: dict[str, str],
    *,
    formulas: bool,
) -> StreamingResponse:
    """`lines` as an answer in the format `form`; for `formulas` see `ExportTable.csv`."""
    media_type = MEDIA_TYPES[form]
    if form is Format.JSONL:
        return StreamingResponse(_chunks(lines), media_type=media_type, headers=headers)
    table = make_table()
    try:
        await table.fill(lines)
        if form is Format.XLSX:
            table.require_sheet()
    except BaseException:
        table.close()
        raise
    return StreamingResponse(_closing(table, form, formulas), media_type=media_type, headers=headers)


async def _chunks(lines: AsyncIterator[Line]) -> AsyncIterator[bytes]:
    """Lines as they come, in pieces of a page."""
    chunk = bytearray()
    count = 0
    async for line in lines:
        chunk += to_json(line, inf_nan_mode="null") + b"\n"
        count += 1
        if count % PAGE == 0:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


def _closing(table: ExportTable, form: Format, formulas: bool) -> Iterator[bytes]:
    try:
        if form is Format.CSV:
            yield from table.csv(formulas=formulas)
        else:
            # Only here: pyarrow and xlsxwriter take 0.2 s and 60 MiB.
            files = import_module("shoal.services.web.results.table_files")
            write = {Format.ARROW: files.arrow, Format.XLSX: files.xlsx, Format.PARQUET: files.parquet}[form]
            yield from write(table)
    finally:
        table.close()


def accepted_format(accept: str) -> Format:
    """The format that an Accept header prefers; JSON lines when it names none of ours."""
    wishes = []
    for place, part in enumerate(accept.split(",")):
        media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = next((_weight(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
        if media_type in _ACCEPTED and weight > 0:
            wishes.append((-weight, place, _ACCEPTED[media_type]))
    return min(wishes)[2] if wishes else Format.JSONL


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
