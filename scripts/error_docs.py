"""Writes docs/errors.md from the classes of errors; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import deliver
from shoal.agent.errors import AgentError, Recourse
from shoal.services.web.http.problems import STATUS

HEAD = """# Errors by code

`code` is stable. Programs may match on it; messages are for people and may change.

This page is written by `scripts/error-docs` from `agent/errors.py` and `services/web/http/problems.py`.

## Errors of a session

They stand in a result's `error` and in the session's attempts.

| who acts | what that means |
| --- | --- |
| the cluster, after a pause | The same session is tried again. The attempt counts towards `max_attempts`. |
| the cluster, in another browser | The session is tried again in another browser. The attempt counts. |
| the operator | Something of the installation is full, away or missing. The attempt does not count. |
| no one | Another attempt would give the same answer. The session ends. |
| the caller | The job must be changed. The session ends. |

| code | class | meaning | who acts |
| --- | --- | --- | --- |
"""

MIDDLE = """
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


def page() -> str:
    """The whole page."""
    sessions = [
        f"| `{one.code}` | `{one.__name__}` | {_told(one)} | {_WHO[one.recourse]} |\n" for one in _all(AgentError)
    ]
    answers = [f"| `{one.code}` | {status} | {_told(one)} |\n" for one, status in STATUS.items()]
    return HEAD + "".join(sessions) + MIDDLE + "".join(answers)


def _all(base: type[AgentError]) -> Iterator[type[AgentError]]:
    """The classes below `base`, each before those below it."""
    for one in base.__subclasses__():
        yield one
        yield from _all(one)


def _told(error: type[Exception]) -> str:
    return " ".join((inspect.getdoc(error) or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(deliver("docs/errors.md", page()))
