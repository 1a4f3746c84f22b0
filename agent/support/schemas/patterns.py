"""A caller's pattern against a page's text, by the engine that later holds the record to it."""

from __future__ import annotations

import re
from functools import lru_cache

from jsonschema_rs import Validator

from shoal.agent.support.schemas.cost import char_units
from shoal.agent.support.schemas.engine import SchemaUnusable, compiled, fits

_MOST_UNITS = 200_000
"""Some 2 ms: of one look at one text."""
_EDGE = re.compile(r"\d+|[^\W\d_]+|[\W_]")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Validator | None:
    try:
        return compiled({"pattern": pattern})
    except SchemaUnusable:
        return None  # of a job that was stored before such patterns were refused


def fitting(pattern: str, text: str) -> str:
    """`text` where it fits `pattern`; else its first part that does, the longest from there; "" where none does.

    A part begins and ends with whole words and whole numbers: no four digits of a longer number are a year.
    """
    validator = _compiled(pattern)
    units = char_units(pattern)
    if validator is None or units * len(text) > _MOST_UNITS:
        return ""
    if fits(validator, text):
        return text
    edges = [0, *(edge.end() for edge in _EDGE.finditer(text))]
    if units * len(text) * len(edges) ** 2 // 6 > _MOST_UNITS:
        return ""
    parts = (text[start:end] for at, start in enumerate(edges) for end in reversed(edges[at + 1 :]))
    return next((part for part in parts if fits(validator, part)), "")
