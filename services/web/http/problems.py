"""Errors to answers: RFC 9457 problem details, by one table from exception class to status."""

from __future__ import annotations

import http
from collections.abc import Mapping, Sequence

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from shoal.agent.support.printable import readable
from shoal.services import errors
from shoal.services.events import LogEvent

log = structlog.get_logger(__name__)

STATUS: Mapping[type[errors.ServiceError], int] = {
    errors.BadInput: 400,
    errors.Unauthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.WrongState: 409,
    errors.KeyReused: 409,
    errors.ArtifactMissing: 410,
    errors.TooLarge: 413,
    errors.NotJson: 415,
    errors.QuotaExceeded: 429,
    errors.LoginProviderAway: 503,
    errors.StoreAway: 503,
    errors.StoreOutdated: 503,
    errors.ArtifactStoreAway: 503,
    errors.ArtifactWaiting: 503,
}
"""HTTP statuses of our errors. One that is missing here is a bug and answers 500."""

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 5
"""Seconds that callers are told to wait while a store is away."""


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    faults: Sequence[Mapping[str, str]] = (),
    request_id: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One problem document as an answer. `code` is stable; `detail` is for people.

    `detail` and `faults` may quote what was given, which may hold half a surrogate pair.
    """
    body: dict[str, object] = {
        "type": f"urn:shoal:problem:{code}",
        "title": http.HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": readable(detail),
    }
    if faults:
        body["errors"] = [{name: readable(text) for name, text in fault.items()} for fault in faults]
    if request_id:
        body["request_id"] = request_id
    return Response(orjson.dumps(body), status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def of_error(error: errors.ServiceError, request_id: str = "") -> Response:
    """The answer for one of our own errors."""
    status = next((STATUS[cls] for cls in type(error).__mro__ if cls in STATUS), 500)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="shoal"'
    if status in (429, 503):
        wait_s = error.details.get("retry_after_s", RETRY_AFTER_S)
        headers["Retry-After"] = str(max(1, round(float(str(wait_s)))))
    return problem(status, error.code, error.message, faults=faults_of(error), request_id=request_id, headers=headers)


def of_http(request: Request, error: HTTPException) -> Response:
    """The answer for an error of the framework, such as an address that nothing has."""
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    return problem(error.status_code, code, str(error.detail), request_id=request_id(request), headers=error.headers)


def of_parameters(error: RequestValidationError) -> errors.BadInput:
    """The framework's faults of a request's parameters as an error of ours."""
    faults = [
        {
            "field": ".".join(part for part in fault["loc"][1:] if isinstance(part, str)) or "body",
            "reason": fault["msg"].replace("Input should", "must"),
        }
        for fault in error.errors()
    ]
    return errors.BadInput("The request is not valid.", errors=faults)


def faults_of(error: errors.ServiceError) -> list[dict[str, str]]:
    """The {field, reason} list that an error carries; empty for most."""
    faults = error.details.get("errors", [])
    if not isinstance(faults, list | tuple):
        return []
    return [{"field": fault.get("field") or fault.get("place", ""), "reason": fault["reason"]} for fault in faults]


def install(app: FastAPI) -> None:
    """Makes `app` answer every error with a problem document."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, errors.ServiceError)
        answer = of_error(error, request_id(request))
        if answer.status_code >= 500:
            log.error(LogEvent.REQUEST_FAILED, code=error.code, error=error.message, path=request.url.path)
        return answer

    async def framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return of_http(request, error)

    async def parameters(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return of_error(of_parameters(error), request_id(request))

    async def unforeseen(request: Request, error: Exception) -> Response:
        log.error(LogEvent.REQUEST_FAILED, path=request.url.path, exc_info=error)
        return problem(
            500, "internal_error", "This is a bug in Shoal; its log has the details.", request_id=request_id(request)
        )

    app.add_exception_handler(errors.ServiceError, ours)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(RequestValidationError, parameters)
    app.add_exception_handler(Exception, unforeseen)


def request_id(request: Request) -> str:
    """The id of this request, as the answer's X-Request-ID carries it."""
    return str(request.scope.get("shoal.request_id", ""))
