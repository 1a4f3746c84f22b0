"""JSONPath (RFC 9535) with bounds: what a path gives of a document, and what is wrong with a path.

Its library is imported with the first path: that takes 0.1 s, and most jobs have none.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shoal.agent.support.json_value import Json


class JsonPathFault(ValueError):
    """The path is no JSONPath, or takes too much work; the message says why."""


def path_fault(path: str) -> str | None:
    """Return what is wrong with `path`; None when it is a JSONPath."""
    try:
        _following().compiled(path)
    except JsonPathFault as fault:
        return str(fault)
    return None


def values_at(path: str, document: Json) -> list[tuple[str, Json]]:
    """The values that `path` leads to in `document`, each with its own path.

    Raises:
        JsonPathFault: the path is none, or leads to too many parts of this document.
    """
    values: list[tuple[str, Json]] = (
        _following().values_at(path, document) if isinstance(document, (dict, list)) else []
    )
    return values


def _following() -> Any:
    return import_module("shoal.agent.support.json_paths.following")
