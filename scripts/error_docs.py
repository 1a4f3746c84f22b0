"""Writes docs/errors.md from the tables of errors; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import deliver
from shoal.agent.error_advice import ADVICE
from shoal.agent.errors import AgentError, Recourse
from shoal.agent.fault_table import (
    CERTIFICATE_ERRORS,
    EGRESS_FAULTS,
    HTTP_FAULTS,
    NETWORK_FAULTS,
    OTHER_4XX,
    OTHER_5XX,
    PAUSE,
    TREATMENTS,
    Fault,
    network_fault,
)
from shoal.services.web.http.problems import STATUS

HEAD = """# Errors by code

`code` is stable. Programs may match on it; messages are for people and may change.

This page is written by `scripts/error-docs` from `agent/errors.py`, `agent/fault_table.py` and
`services/web/http/problems.py`. The code uses the same tables.

## Errors of a session

They stand in a result's `error` and in the session's attempts.

| who acts | what that means | another attempt | counts towards `max_attempts` | pause before it |
| --- | --- | --- | --- | --- |
"""

CODES = """
| code | class | meaning | who acts | what you can do |
| --- | --- | --- | --- | --- |
"""

FAULTS = """
## What a fault of a page means

A page that is opened by its address can answer with an HTTP error, or not at all. What does the answering is looked at
first: the cluster's egress filter answers in a site's place where it lets no connection through.

| fault | code | class | who acts | another attempt | pause before it |
| --- | --- | --- | --- | --- | --- |
"""

API = """
## Errors of the API

They are problem documents (RFC 9457); see [the API](api.md).

| code | status | meaning |
| --- | --- | --- |
"""

_WHO = {
    Recourse.RETRY: "the cluster, after a pause",
    Recourse.OTHER_SESSION: "the cluster, in another browser",
    Recourse.OPERATOR: "the operator",
    Recourse.GIVE_UP: "no one",
    Recourse.CALLER: "the caller",
}
_MEANS = {
    Recourse.RETRY: "The cause passes by itself. The same session is tried again.",
    Recourse.OTHER_SESSION: "The browser is gone or tainted. The session is tried again in another one.",
    Recourse.OPERATOR: "Something of the installation is full, away or missing.",
    Recourse.GIVE_UP: "Another attempt would give the same answer. The session ends.",
    Recourse.CALLER: "The job must be changed. The session ends.",
}


def page() -> str:
    """The whole page."""
    acts = "".join(
        f"| {_WHO[who]} | {_MEANS[who]} | {_yes(how.again)} | {_yes(how.counts) if how.again else '-'} "
        f"| {_growing() if how.again else '-'} |\n"
        for who, how in TREATMENTS.items()
    )
    codes = "".join(
        f"| `{error.code}` | `{error.__name__}` | {_error_text(error)} | {_WHO[error.recourse]} | {ADVICE[error]} |\n"
        for error in _all(AgentError)
    )
    api = "".join(f"| `{error.code}` | {status} | {_error_text(error)} |\n" for error, status in STATUS.items())
    return HEAD + acts + CODES + codes + FAULTS + "".join(_fault_rows()) + API + api


def _fault_rows() -> Iterator[str]:
    for outcome, fault in EGRESS_FAULTS.items():
        yield _row(f"egress filter: `{outcome}`", fault)
    for status, fault in HTTP_FAULTS.items():
        yield _row(f"HTTP {status}", fault)
    yield _row("another HTTP 4xx", OTHER_4XX)
    yield _row("another HTTP 5xx", OTHER_5XX)
    for name, fault in NETWORK_FAULTS.items():
        yield _row(f"`{name}`", fault)
    yield _row(f"`{CERTIFICATE_ERRORS}…`", network_fault(CERTIFICATE_ERRORS))
    yield _row("another network error", network_fault(""))


def _row(told: str, fault: Fault) -> str:
    error, how = fault.error, TREATMENTS[fault.error.recourse]
    pause = _growing() + (", and at least the site's `Retry-After`" if fault.site_pause else "") if how.again else "-"
    return f"| {told} | `{error.code}` | `{error.__name__}` | {_WHO[error.recourse]} | {_yes(how.again)} | {pause} |\n"


def _growing() -> str:
    return f"{PAUSE.first_s:g} s, doubled each time, {PAUSE.longest_s:g} s at most"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _all(base: type[AgentError]) -> Iterator[type[AgentError]]:
    """The product's classes below `base`, each before those below it."""
    for error in base.__subclasses__():
        if error.__module__.startswith("shoal."):
            yield error
        yield from _all(error)


def _error_text(error: type[Exception]) -> str:
    return " ".join((inspect.getdoc(error) or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(deliver("docs/errors.md", page()))
