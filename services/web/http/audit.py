"""Keeps who changed what: each request of a known caller that changed something is an entry of the audit log."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.services.errors import ServiceError
from shoal.services.events import LogEvent
from shoal.services.store.records import NewAuditEntry
from shoal.services.store.store import Store
from shoal.services.web.http.api_keys import Caller

log = structlog.get_logger(__name__)

_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_CHANGES_NOTHING = frozenset({"/v1/jobs:try", "/new/check", "/new/try", "/new/values", "/logout"})
_KEPT_ELSEWHERE = frozenset({"/v1/jobs", "/v1/jobs:batch"})
"""Submissions through the API come by the thousand a second; the jobs themselves are their record."""
_CALLER, _DETAIL, _NOTHING = "shoal.caller", "shoal.audit_detail", "shoal.audit_nothing"
_MOST = 500


def note_caller(request: Request, caller: Caller) -> None:
    """Says who makes a request, once that is known."""
    request.scope[_CALLER] = caller


def note_detail(request: Request, detail: str) -> None:
    """Says of a change what its address does not: a new key's name, say. Never a secret."""
    request.scope[_DETAIL] = detail


def note_nothing(request: Request) -> None:
    """Says that this request is no change of its own: what a person does on a session's page is one of its steps."""
    request.scope[_NOTHING] = True


class AuditTrail:
    """ASGI middleware: adds an entry before the answer of a change begins, so that a reader of it finds the entry."""

    def __init__(self, app: ASGIApp, store: Store) -> None:
        self._app = app
        self._store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one connection; reads pass through."""
        if scope["type"] != "http" or scope["method"] not in _CHANGING:
            await self._app(scope, receive, send)
            return

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                await self._note(scope)
            await send(message)

        await self._app(scope, receive, send_noted)

    async def _note(self, scope: Scope) -> None:
        caller = scope.get(_CALLER)
        route = str(getattr(scope.get("route"), "path", ""))
        if not isinstance(caller, Caller) or route in _CHANGES_NOTHING | _KEPT_ELSEWHERE or scope.get(_NOTHING):
            return
        try:
            await self._store.add_audit(_entry(scope, caller, route))
        except ServiceError as error:  # what was asked for is done: its caller must not be told that it is not
            log.error(LogEvent.REQUEST_FAILED, error=error.message, doing="audit", path=scope["path"])


def _entry(scope: Mapping[str, object], caller: Caller, route: str) -> NewAuditEntry:
    parameters = scope.get("path_params")
    subject = " ".join(map(str, parameters.values())) if isinstance(parameters, Mapping) else ""
    return NewAuditEntry(
        tenant=caller.tenant,
        actor=caller.name,
        action=f"{scope['method']} {route}",
        subject=subject[:_MOST],
        detail=str(scope.get(_DETAIL, ""))[:_MOST],
        request=str(scope.get("shoal.request_id", "")),
    )
