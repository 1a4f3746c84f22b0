"""Errors of Shoal's clients: one class for each thing that a program can do about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shoal.agent.support.json_value import Json

if TYPE_CHECKING:
    from shoal.records import Job, Result


class ShoalError(Exception):
    """Base of all errors that `shoal` raises for a gateway, a job or a missing package.

    The agent's own errors, which `open_page` raises, derive from `AgentError`.
    """


class GatewayUnreachable(ShoalError):
    """No gateway is known, or it does not answer after all tries."""


class AnswerUnreadable(ShoalError):
    """The server at the gateway's address answers without an end, or in a way that no gateway does."""


class MissingDependency(ShoalError, ImportError):
    """An optional package is not installed; the message names the command that installs it."""


class JobFailed(ShoalError):
    """The job ended without reaching its goal.

    Attributes:
        job: the job as it ended, with its status, counts and error.
        results: its result lines, where they were read.
    """

    def __init__(self, job: Job, results: Sequence[Result] = ()) -> None:
        self.job = job
        self.results = tuple(results)
        why = f"{job.error.code}: {job.error.message}" if job.error else job.reason or "no item completed"
        super().__init__(f"{job.id} is {job.status}: {why}")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the input."""

    field: str  # place in the job spec or the query, such as "loop.values[3]"
    reason: str  # what is wrong with it, such as "must be a string"


class ApiError(ShoalError):
    """The gateway refused a request with a problem document (RFC 9457).

    Attributes:
        status: HTTP status.
        code: stable code, such as `bad_input`.
        detail: one sentence for people.
        faults: each fault of the input with its field; empty for most errors.
        request_id: names the request in the gateway's log.
        retry_after_s: when the gateway wants to be asked again, in seconds from now; None: it did not say.
        advice: what the caller can do.
    """

    advice: ClassVar[str] = "Look at `code` and `detail`."

    def __init__(self, status: int, problem: Mapping[str, Json], *, retry_after_s: float | None = None) -> None:
        self.status = status
        self.code = str(problem.get("code", "http_error"))
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.faults = _faults(problem.get("errors", ()))
        self.request_id = str(problem.get("request_id", ""))
        self.retry_after_s = retry_after_s
        super().__init__(self.detail)

    @staticmethod
    def of(status: int, problem: Mapping[str, Json], *, retry_after_s: float | None = None) -> ApiError:
        """The error of the class that belongs to a problem document: by its code, else by its status."""
        kind = _BY_CODE.get(str(problem.get("code"))) or _BY_STATUS.get(status)
        if kind is None:
            kind = ServerUnavailable if status >= 500 else ApiError
        return kind(status, problem, retry_after_s=retry_after_s)


class BadRequest(ApiError):
    """The job spec, the query or the body is not valid (400, 413, 415)."""

    advice = "Change the fields that `faults` names; sent again as it is, the request fails again."


class AuthenticationFailed(ApiError):
    """The API key is missing or not valid (401)."""

    advice = "Set SHOAL_API_KEY or pass `api_key`; `shoal keys create` makes a key."


class PermissionDenied(ApiError):
    """The API key lacks the scope of this request (403)."""

    advice = "Use a key with the scope that `detail` names."


class NotFound(ApiError):
    """There is no such thing, or it belongs to another tenant (404)."""

    advice = "Check the id and the key's tenant."


class Conflict(ApiError):
    """The job or session is not in a state that allows this (409)."""

    advice = "Read the job or session first."


class KeyReused(Conflict):
    """The idempotency key stands for an earlier job with another spec (409)."""

    advice = "Use a new key for a new job, or send the spec of the first time."


class Gone(ApiError):
    """The stored bytes are gone, though their row is there (410)."""

    advice = "The bytes cannot be had any more."


class RateLimited(ApiError):
    """The tenant sends too many requests, or its quota of queued sessions is used up (429)."""

    advice = "Try again after `retry_after_s`; the client has done so several times already."


class ServerUnavailable(ApiError):
    """The gateway, or a store behind it, fails (5xx)."""

    advice = "Try again later; `request_id` names the request in the gateway's log."


_BY_CODE: Mapping[str, type[ApiError]] = {"idempotency_key_reused": KeyReused}

_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: BadRequest,
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: Gone,
    413: BadRequest,
    415: BadRequest,
    429: RateLimited,
}


def _faults(errors: Sequence[Mapping[str, Json]]) -> tuple[Fault, ...]:
    return tuple(Fault(str(error.get("field", "")), str(error.get("reason", ""))) for error in errors)
