"""All records of a job as a table: sorted, filtered, each field with its source and how sure it is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.store import ids
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.item_rows import ItemColumns, item_columns
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST, one_of, statuses_of
from shoal.services.web.pages.rendering import Pages, let_in
from shoal.services.web.pages.sessions.record_places import record_key
from shoal.services.web.results.result_lines import Line, job_lines, page_of_lines

LINES_SHOWN = 100
LINES_SORTED = 20_000
"""Lines that are read to sort or to filter them; the page says so where a job has more."""
COLUMNS_SHOWN = 30
SURENESS = ("certain", "likely", "weak", "unconfirmed")


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which lines a table shows and how, as its address says it."""

    q: str = ""  # words, in any field or in `field`
    field: str = ""  # the one field of the records in which the words are looked for
    status: str = ""
    sure: str = ""  # some field of the record is so sure only
    sort: str = ""  # a column
    order: str = "up"  # up or down
    sources: str = ""  # "1": with where each value was found
    after: str = ""  # cursor, where nothing is sorted or filtered
    skip: int = 0  # lines, where something is

    @property
    def in_order(self) -> bool:
        """Return whether the lines are simply those of the job, in item order."""
        return not (self.q or self.status or self.sure or self.sort)

    @property
    def filters(self) -> bool:
        """Return whether only some of the lines are asked for."""
        return bool(self.q or self.status or self.sure)

    def address(self, **changes: Json) -> str:
        """The query of an address that asks for this, but for `changes`, from the first line on unless they say so."""
        asked = {**asdict(self), "after": "", "skip": 0, **changes}
        return "?" + urlencode(
            {name: value for name, value in asked.items() if value and (name, value) != ("order", "up")}
        )


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Some lines of a job, with the columns of all that were read."""

    columns: Sequence[str]
    hidden: int  # columns that did not fit
    lines: Sequence[Line]
    items: ItemColumns  # of these lines
    found: int | None  # lines that match; None: not counted
    all_read: bool  # False: the job has more lines than were looked at
    following: str | None  # query of the next page

    @staticmethod
    def cell(line: Line, column: str) -> Json:
        """One field of a line's record; None where it has none."""
        return field_of(line, column)

    @staticmethod
    def sure(line: Line, column: str) -> str:
        """Return how sure a value is, `unconfirmed` where it was not found again on the page;
        "" where that is not known.
        """
        source = line["sources"].get(column)
        return "" if source is None else source["sureness"] if source["confirmed"] else "unconfirmed"

    @staticmethod
    def placed(line: Line) -> bool:
        """Return whether a picture shows where a field of the line's record stands."""
        return any(source.get("box") for source in line["sources"].values())

    @staticmethod
    def key(line: Line) -> str:
        """Names the line's record among those of its session."""
        return record_key(line["record"], {name: source["where"] for name, source in line["sources"].items()})


def add_records(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of a job's records."""

    @router.get("/jobs/{job}/records", response_class=HTMLResponse)
    async def records(
        request: Request,
        job: str,
        caller: Caller = Depends(let_in(login_check, "read")),
        asked: RecordQuery = Depends(record_query),
    ) -> Response:
        row = await deps.store.job(ids.parse_job(job), tenant=caller.sees)
        schema = row.spec.extract.record_schema if row.spec.extract else None
        named = tuple((schema or {}).get("properties") or ())
        if asked.in_order:
            lines, following = await page_of_lines(deps, row, asked.after or None, LINES_SHOWN)
            chosen = [line async for line in lines]
            table = _table(chosen, named, following and asked.address(after=following), None, True)
        else:
            table = await _chosen(await job_lines(deps, row), asked, named)
        return pages.page(
            request,
            "job/records.html",
            caller=caller,
            row=row,
            asked=asked,
            table=table,
            statuses=list(Status),
            sureness=SURENESS,
            most=LINES_SORTED,
        )


def record_query(
    q: str = Query("", max_length=LONGEST),
    field: str = Query("", max_length=LONGEST),
    status: str = Query("", max_length=20),
    sure: str = Query("", max_length=20),
    sort: str = Query("", max_length=LONGEST),
    order: str = Query("up", max_length=4),
    sources: str = Query("", max_length=1),
    after: str = Query("", max_length=LONGEST),
    skip: int = Query(0, ge=0, le=LINES_SORTED),
) -> RecordQuery:
    """Return what an address asks for.

    Raises:
        BadInput: there is no such status, sureness or order.
    """
    statuses_of(status, "status")
    if sure:
        one_of(sure, SURENESS, "sureness")
    one_of(order, ("up", "down"), "order")
    return RecordQuery(q.strip(), field, status, sure, sort, order, sources, after, skip)


async def matching(lines: AsyncIterator[Line], asked: RecordQuery) -> AsyncIterator[Line]:
    """Those of `lines` that are asked for, however many there are."""
    async for line in lines:
        if matches(line, asked):
            yield line


async def _chosen(lines: AsyncIterator[Line], asked: RecordQuery, named: Sequence[str]) -> RecordTable:
    """The lines that match, sorted."""
    chosen: list[Line] = []
    read, all_read = 0, True
    async for line in lines:
        if read == LINES_SORTED:
            all_read = False
            break
        read += 1
        if matches(line, asked):
            chosen.append(line)
    if asked.sort:
        chosen.sort(key=lambda line: sort_key(field_of(line, asked.sort)), reverse=asked.order == "down")
    shown = chosen[asked.skip : asked.skip + LINES_SHOWN]
    more = len(chosen) > asked.skip + LINES_SHOWN
    following = asked.address(skip=asked.skip + LINES_SHOWN) if more else None
    return _table(shown, named, following, len(chosen), all_read)


def _table(
    lines: Sequence[Line], named: Sequence[str], following: str | None, count: int | None, all_read: bool
) -> RecordTable:
    columns = dict.fromkeys(named)
    for line in lines:
        record = line["record"]
        if record is not None:
            columns.update(dict.fromkeys(record if isinstance(record, Mapping) else ("record",)))
    names = tuple(columns)
    hidden = max(0, len(names) - COLUMNS_SHOWN)
    items = item_columns(line["item"] for line in lines)
    return RecordTable(names[:COLUMNS_SHOWN], hidden, lines, items, count, all_read, following)


def matches(line: Line, asked: RecordQuery) -> bool:
    """Return whether a line is one that is asked for."""
    if asked.status and line["status"] != asked.status:
        return False
    if asked.sure and asked.sure not in {RecordTable.sure(line, field) for field in line["sources"]}:
        return False
    if not asked.q:
        return True
    words = asked.q.lower().split()
    if asked.field:
        return _holds([field_of(line, asked.field)], words)
    error = line["error"] or {}
    item = line["item"] or {}
    texts = (line["record"], item.get("value"), item.get("label"), error.get("code"), error.get("message"), line["url"])
    return _holds([text for text in texts if text], words)


def _holds(values: Sequence[Json], words: Sequence[str]) -> bool:
    """Return whether all of the words stand in the values."""
    texts = (text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for text in values)
    whole = "\n".join(texts).lower()
    return all(word in whole for word in words)


def field_of(line: Line, column: str) -> Json:
    """A field of a line's record, or of the line itself where its name begins with `#`."""
    if column in ("#item", "#status"):
        return (line["item"] or {}).get("index") if column == "#item" else line["status"]
    record = line["record"]
    return record.get(column) if isinstance(record, Mapping) else record if column == "record" else None


def sort_key(value: Json) -> tuple[int, float, str]:
    """Numbers before texts, each in their own order; what is missing is last."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).lower())
