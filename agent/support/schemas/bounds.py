"""Bounds on a caller's schema: everything by which checking one value could take long is refused.

It is refused when a job is submitted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.cost import Cost, Endless, TooCostly
from shoal.agent.support.schemas.engine import SchemaUnusable, compiled
from shoal.agent.support.schemas.parts import References, Schema

MOST_CHARS = 131_072
"""Characters of a schema as JSON."""
MOST_PARTS = 5_000
"""Objects and arrays in a schema."""
MOST_DEEP = 64
MOST_PATTERNS = 64
"""Patterns: each takes up to a megabyte when it is compiled."""
MOST_NAMES = 16
"""`$id`s: the engine's time for them is quadratic."""
MOST_IN_PLACE = 10_000
"""Units (`cost`) for a value without parts: how often references may multiply."""
LONG_SCHEMA = 65_536
"""Characters of a schema beyond which nothing that was found out about it is remembered."""


@bounded_cache(512, longest=LONG_SCHEMA)
def schema_fault(text: str) -> str | None:
    """Why a schema, given as JSON, is not taken; None when it is. Remembered, since batches share theirs."""
    if len(text) > MOST_CHARS:
        return f"has {len(text)} characters; at most {MOST_CHARS} are taken"
    schema = json.loads(text)
    return _too_much(schema) or _dialect_fault(schema) or _references_fault(schema) or _engine_fault(schema)


def _too_much(schema: Schema) -> str | None:
    """Counts only: nothing that follows may meet a schema that has not passed here."""
    parts = patterns = names = 0
    level: list[Json] = [schema]
    deep = 0
    while level:
        deep += 1
        if deep > MOST_DEEP:
            return f"is nested too deeply: more than {MOST_DEEP} levels"
        below: list[Json] = []
        for node in level:
            parts += 1
            if isinstance(node, Mapping):
                patterns += isinstance(node.get("pattern"), str)
                by_pattern = node.get("patternProperties")
                patterns += len(by_pattern) if isinstance(by_pattern, Mapping) else 0
                names += isinstance(node.get("$id"), str) or isinstance(node.get("id"), str)
                below += (inner for inner in node.values() if isinstance(inner, dict | list))
            else:
                below += (inner for inner in node if isinstance(inner, dict | list))
        level = below
    for what, number, most in (
        ("objects and arrays", parts, MOST_PARTS),
        ("patterns", patterns, MOST_PATTERNS),
        ("names of its own ($id)", names, MOST_NAMES),
    ):
        if number > most:
            return f"has {number} {what}; at most {most} are taken"
    return None


def _dialect_fault(schema: Schema) -> str | None:
    dialect = schema.get("$schema", "https://json-schema.org/draft/2020-12/schema")
    if not isinstance(dialect, str):
        return "is not a valid JSON Schema at $schema: it must be a string"
    try:
        compiled({"$schema": dialect})
    except SchemaUnusable:
        return f"names a $schema that is not known: {dialect[:200]}; leave it out for draft 2020-12"
    return None


def _references_fault(schema: Schema) -> str | None:
    references = References(schema)
    for part in references.parts:
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in part:
                return f"has a {keyword}, whose cost cannot be told; use $ref"
        if isinstance(part.get("$ref"), str) and references.target(part) is None:
            return f"refers to {part['$ref'][:200]}, which is not in it; nothing is fetched from elsewhere"
    try:
        units = Cost(schema, references).in_place()
    except (Endless, TooCostly) as error:
        return str(error)
    if units > MOST_IN_PLACE:
        return "refers to the same parts too often: its references multiply"
    return None


def _engine_fault(schema: Schema) -> str | None:
    try:
        compiled(schema)
    except SchemaUnusable as error:
        return str(error)
    return None
