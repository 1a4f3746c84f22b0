"""Following a JSONPath through a document: each part that is looked at is counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonpath import JSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.match import FilterContextVars

from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json

LONGEST_PATH = 500
"""Characters of a path."""
_MOST_NODES = 200_000
"""Parts of a document that one question may look at: some paths multiply with each step."""
_MOST_MATCHES = 10_000


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_WIDE_FILTER = re.compile(r"\?.*(?:\$|\.\.|\*|\?|:|,)", re.DOTALL)
"""Parts of a filter that would look through the document again for each part of it, and are not counted."""


@dataclass(slots=True)
class _WorkLeft:
    """The number of the document's parts that may still be looked at."""

    nodes: int = 0


_left = _WorkLeft()
"""One for all questions: a question runs to its end without any other in between."""


class _CountedMatch(JSONPathMatch):
    """A part of a document, counted when it is come upon."""

    __slots__ = ()

    def __init__(
        self,
        *,
        filter_context: FilterContextVars,
        obj: object,
        parent: JSONPathMatch | None,
        path: str,
        parts: tuple[int | str, ...],
        root: Sequence[Any] | Mapping[str, Any],
    ) -> None:
        _left.nodes -= 1
        if _left.nodes < 0:
            raise JsonPathFault(f"looks at more than {_MOST_NODES:,} parts of the document; name the way more closely")
        super().__init__(filter_context=filter_context, obj=obj, parent=parent, path=path, parts=parts, root=root)


class _Environment(JSONPathEnvironment):
    """The standard, without regular expressions: those could run for hours on a hostile document."""

    def setup_function_extensions(self) -> None:
        """The standard functions of filters, but `match` and `search`."""
        super().setup_function_extensions()
        for name in ("match", "search"):
            self.function_extensions.pop(name, None)


_ENVIRONMENT = _Environment(strict=True)


@lru_cache(maxsize=256)
def compiled(path: str) -> JSONPath:
    """The path, ready to be followed.

    Raises:
        JsonPathFault: it is none.
    """
    if len(path) > LONGEST_PATH:
        raise JsonPathFault(f"is longer than {LONGEST_PATH} characters")
    try:
        compiled = _ENVIRONMENT.compile(path)
    except (JSONPathError, RecursionError) as error:
        raise JsonPathFault(f"is no JSONPath: {_first_line(error)}; an example is $.offers.price") from None
    if not isinstance(compiled, JSONPath):
        raise JsonPathFault("is no JSONPath of RFC 9535; an example is $.offers.price")
    if _WIDE_FILTER.search(_QUOTED.sub("''", path)):
        raise JsonPathFault("has a filter that searches; filters look at names only, as in $.items[?@.kind == 'a']")
    return compiled


def values_at(path: str, document: list[Json] | dict[str, Json]) -> list[tuple[str, Json]]:
    """See `shoal.agent.support.json_paths.values_at`."""
    _left.nodes = _MOST_NODES
    matches: list[tuple[str, Json]] = []
    try:
        for match in _followed(compiled(path), document):
            matches.append((str(match.path), match.obj))
            if len(matches) > _MOST_MATCHES:
                raise JsonPathFault(f"leads to more than {_MOST_MATCHES:,} values; name the way more closely")
    except (JSONPathError, RecursionError) as error:
        raise JsonPathFault(f"cannot be followed: {_first_line(error)}") from None
    return matches


def _followed(path: JSONPath, document: Json) -> Iterable[JSONPathMatch]:
    """Return what `JSONPath.finditer` gives, with each part counted: that makes the first one of another class."""
    matches: Iterable[JSONPathMatch] = [
        _CountedMatch(filter_context={}, obj=document, parent=None, path="$", parts=(), root=document)
    ]
    for segment in path.segments:
        matches = segment.resolve(matches)
    return matches


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
