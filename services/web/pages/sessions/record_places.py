"""Places of one record's fields on the picture of the page that it was read from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.agent.support.json_value import Json
from shoal.agent.types import Box, FieldSource, Record
from shoal.services.errors import NotFound
from shoal.services.store import ids
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST
from shoal.services.web.pages.rendering import Pages, let_in


@dataclass(frozen=True, slots=True)
class PlacedField:
    """One field of a record, and where it stands on the picture."""

    name: str
    value: Json
    source: FieldSource | None
    box: Box | None  # from the picture's top left corner, in CSS pixels; None: the picture does not show it


def record_key(value: Json, places: Mapping[str, str]) -> str:
    """Names a record among those of its session: by what it says, and by where each field was found."""
    text = json.dumps([value, places], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def add_record_places(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of a record's places."""

    @router.get("/sessions/{session}/records/{key}", response_class=HTMLResponse)
    async def record_page(
        request: Request,
        session: str,
        key: str,
        field: str = Query("", max_length=LONGEST),
        caller: Caller = Depends(let_in(login_check, "read")),
    ) -> Response:
        detail = await deps.store.session(ids.parse_session(session), tenant=caller.sees)
        records = detail.row.outcome.records if detail.row.outcome is not None else ()
        record = {record_key(known.value, _places(known)): known for known in reversed(records)}.get(key)
        if record is None:
            raise NotFound(f"{session} has no such record")
        kept = {artifact.id for artifact in detail.artifacts}
        picture = record.picture if record.picture is not None and record.picture.artifact in kept else None
        return pages.page(
            request,
            "session/record.html",
            caller=caller,
            session=detail.row,
            record=record,
            key=key,
            picture=picture,
            fields=_fields(record, picture.shows if picture is not None else None),
            chosen=field,
        )


def _places(record: Record) -> Mapping[str, str]:
    return {name: source.where for name, source in record.sources.items()}


def _fields(record: Record, shows: Box | None) -> Sequence[PlacedField]:
    """The record's fields, those that the picture shows with their boxes on it."""
    values = record.value if isinstance(record.value, Mapping) else {"record": record.value}
    return [
        PlacedField(name, value, record.sources.get(name), _on(shows, record, name)) for name, value in values.items()
    ]


def _on(shows: Box | None, record: Record, name: str) -> Box | None:
    source = record.sources.get(name)
    if shows is None or source is None or source.box is None:
        return None
    return Box(source.box.x - shows.x, source.box.y - shows.y, source.box.width, source.box.height)
