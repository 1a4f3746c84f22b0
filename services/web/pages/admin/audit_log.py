"""The audit log: who changed what, as a page and as JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, StreamingResponse

from shoal.services.store.records import AuditFilter
from shoal.services.store.store import Store
from shoal.services.web.api.views.base import time_text
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import LONGEST, day_of
from shoal.services.web.pages.rendering import Pages, let_in

ENTRIES_SHOWN = 100
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which entries are asked for, as an address says it; "" is no limit."""

    who: str = ""
    what: str = ""
    since: str = ""  # a day, UTC
    until: str = ""  # a day, UTC, that counts too

    @property
    def has_filters(self) -> bool:
        """Return whether it limits anything."""
        return any(asdict(self).values())

    def address(self, path: str, **more: str | int) -> str:
        """The address of `path` that asks the same."""
        query = {name: text for name, text in {**asdict(self), **more}.items() if text}
        return f"{path}?{urlencode(query)}" if query else path

    def filter(self, tenant: str | None, before: int | None, limit: int) -> AuditFilter:
        """The same for the store.

        Raises:
            BadInput: a day is none.
        """
        until = day_of(self.until, "until")
        return AuditFilter(
            tenant,
            before,
            limit,
            actor=self.who.strip().replace("\0", ""),
            text=self.what.strip().replace("\0", ""),
            since=day_of(self.since, "since"),
            until=until and until + timedelta(days=1),
        )


def _audit_query(
    who: str = Query("", max_length=LONGEST),
    what: str = Query("", max_length=LONGEST),
    since: str = Query("", max_length=LONGEST),
    until: str = Query("", max_length=LONGEST),
) -> AuditQuery:
    return AuditQuery(who, what, since, until)


def add_audit_log(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of the audit log. A tenant sees what its own keys changed; an admin sees everything."""
    store = deps.store

    @router.get("/admin/audit", response_class=HTMLResponse)
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "control")),
        asked: AuditQuery = Depends(_audit_query),
        before: int | None = Query(None, ge=1, le=2**63 - 1),
    ) -> Response:
        entries = await store.audit(asked.filter(caller.sees, before, ENTRIES_SHOWN + 1))
        shown = entries[:ENTRIES_SHOWN]
        following = asked.address("/admin/audit", before=shown[-1].id) if len(entries) > ENTRIES_SHOWN else None
        return pages.page(
            request,
            "admin/audit.html",
            caller=caller,
            entries=shown,
            following=following,
            asked=asked,
            export=asked.address("/admin/audit/export"),
        )

    @router.get("/admin/audit/export")
    async def export(
        caller: Caller = Depends(let_in(login_check, "control")), asked: AuditQuery = Depends(_audit_query)
    ) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
        lines = _lines(store, asked.filter(caller.sees, None, _AT_ONCE))
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _lines(store: Store, audit_filter: AuditFilter) -> AsyncIterator[bytes]:
    """All entries that are asked for as JSON lines, newest first."""
    while entries := await store.audit(audit_filter):
        for entry in entries:
            yield orjson.dumps({**asdict(entry), "at": time_text(entry.at)}) + b"\n"
        audit_filter = replace(audit_filter, before=entries[-1].id)
