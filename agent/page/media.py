"""Media queries, answered as a window of 1,280 by 800 pixels on a screen with a mouse answers them."""

from __future__ import annotations

import re

from shoal.agent.support.bounded_cache import bounded_cache

_WIDTH, _HEIGHT = 1280, 800
_PIXELS = {"px": 1.0, "em": 16.0, "rem": 16.0, "": 1.0}
_LENGTH = r"(-?\d*\.?\d+)(px|em|rem|)"
_BOUND = re.compile(r"(min|max)-(?:device-)?(width|height)\s*:\s*" + _LENGTH)
_RANGE = re.compile(r"(width|height)\s*(<=|>=|<|>|=|:)\s*" + _LENGTH)
_FROM = re.compile(_LENGTH + r"\s*(<=|<)\s*(width|height)(?:\s*(<=|<)\s*" + _LENGTH + ")?")
_LONGEST = 200
"""Characters of a condition that is read."""
_OTHERS = frozenset(
    {
        "any-hover: hover",
        "any-pointer: fine",
        "color",
        "forced-colors: none",
        "grid: 0",
        "hover",
        "hover: hover",
        "orientation: landscape",
        "pointer: fine",
        "pointer",
        "prefers-color-scheme: light",
        "prefers-contrast: no-preference",
        "prefers-reduced-motion: no-preference",
        "scripting: enabled",
    }
)
"""Features that hold in such a window. One that is not known here does not hold."""


@bounded_cache(1024, longest=400)
def media_applies(query: str) -> bool:
    """True where a list of media queries holds; an empty one does."""
    queries = query.strip().lower().split(",")
    return queries == [""] or any(_query_applies(each.strip()) for each in queries)


def _query_applies(query: str) -> bool:
    denied = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ").strip()
    kind, *features = re.split(r"\band\b", query)
    if kind.strip().startswith("("):
        features.insert(0, kind)
        kind = "all"
    holds = kind.strip() in ("all", "screen") and all(_feature_holds(each.strip()) for each in features)
    return holds is not denied


def _feature_holds(feature: str) -> bool:
    inner = feature.removeprefix("(").removesuffix(")").strip()
    if inner.startswith("not "):
        return not _feature_holds(inner.removeprefix("not ").strip())
    if bound := _BOUND.fullmatch(inner):
        size = _size(bound[2])
        length = float(bound[3]) * _PIXELS[bound[4]]
        return size >= length if bound[1] == "min" else size <= length
    if bound := _RANGE.fullmatch(inner):
        return _compares(_size(bound[1]), bound[2], float(bound[3]) * _PIXELS[bound[4]])
    if len(inner) < _LONGEST and (bound := _FROM.fullmatch(inner)):
        size = _size(bound[4])
        above = _compares(float(bound[1]) * _PIXELS[bound[2]], bound[3], size)
        return above and (bound[5] is None or _compares(size, bound[5], float(bound[6]) * _PIXELS[bound[7]]))
    return re.sub(r"\s*:\s*", ": ", inner) in _OTHERS


def _size(name: str) -> float:
    return _WIDTH if name == "width" else _HEIGHT


def _compares(left: float, sign: str, right: float) -> bool:
    match sign:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            return left == right
