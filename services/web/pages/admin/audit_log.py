"""The audit log: who changed what, as a page and as JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, replace

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from shoal.services.store.records import AuditFilter
from shoal.services.store.store import Store
from shoal.services.web.api.views.base import time_text
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

ENTRIES_SHOWN = 100
_AT_ONCE = 1_000


def add_audit_log(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of the audit log. A tenant sees what its own keys changed; an admin sees everything."""
    store = deps.store

    @router.get("/admin/audit")
    async def listing(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "control")),
        before: int | None = Query(None, ge=1, le=2**63 - 1),
    ) -> Response:
        entries = await store.audit(AuditFilter(caller.sees, before, ENTRIES_SHOWN + 1))
        shown = entries[:ENTRIES_SHOWN]
        following = f"/admin/audit?before={shown[-1].id}" if len(entries) > ENTRIES_SHOWN else None
        return pages.page(request, "admin/audit.html", caller=caller, entries=shown, following=following)

    @router.get("/admin/audit/export")
    async def export(caller: Caller = Depends(let_in(login_check, "control"))) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="audit.jsonl"'}
        lines = _lines(store, AuditFilter(caller.sees, limit=_AT_ONCE))
        return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)


async def _lines(store: Store, audit_filter: AuditFilter) -> AsyncIterator[bytes]:
    """All entries as JSON lines, newest first."""
    while entries := await store.audit(audit_filter):
        for entry in entries:
            yield orjson.dumps({**asdict(entry), "at": time_text(entry.at)}) + b"\n"
        audit_filter = replace(audit_filter, before=entries[-1].id)
