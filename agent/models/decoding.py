"""A caller's JSON Schema as a decoder can enforce it, and what the decoder gave as the caller's schema wants it.

vLLM's two back ends, xgrammar and guidance, refuse different keywords, and a refused one fails the whole request.
A decoder that must write a required number writes one, whether the page shows it or not. So what is sent is weaker than
the schema in its keywords, stricter about which fields are written, and lets every field be null. The reply is checked
against the whole schema afterwards.
"""

from __future__ import annotations

import re

from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.nulls import Nulls

_COUNTS = ("minItems", "maxItems")
_MOST_COUNTED = 1_000
"""A decoder writes a rule for each item that it counts: more would hold up the model's server for all requests."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", *_COUNTS)
"""Kept as they are. Not kept: formats, uniqueItems, and lengths (xgrammar then lets raw control characters through)."""

_STRUCTURE = ("type", "enum", "const", "required", "additionalProperties", *_BOUNDS)

_DEFINITION = re.compile(r"#/(?:\$defs|definitions)/([^/]+)")
_PLAIN_PATTERN = re.compile(r"\^(?:[\w\s.\-+*?@/,:]|\\[dws.\-/+]|\[[^\]\\]*\]|\{\d+(?:,\d*)?\})*\$")
"""Anchored and without groups: back ends differ on everything beyond."""

_MAX_DEPTH = 40


def nullable(schema: dict[str, Json]) -> dict[str, Json]:
    """`schema` with only what every back end takes, its definitions at the top, and null allowed for every field."""
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    sent = _weakened(schema, 0)
    if definitions:
        sent["$defs"] = {name: _weakened(part, 0) for name, part in definitions.items()}
    return sent


def _weakened(schema: Json, depth: int) -> dict[str, Json]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return {}
    if "$ref" in schema:
        reference = _DEFINITION.fullmatch(str(schema["$ref"]))
        return {"$ref": f"#/$defs/{reference.group(1)}"} if reference else {}
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return {"anyOf": [_weakened(part, depth + 1) for part in schema[choice]]}
    if len(schema.get("allOf", ())) == 1 and "properties" not in schema:
        return _weakened(schema["allOf"][0], depth + 1)
    sent: dict[str, Json] = {name: schema[name] for name in ("enum", "const") if name in schema}
    if sent:
        return sent
    sent = {name: schema[name] for name in ("type", *_BOUNDS) if name in schema and not _counts_on(name, schema[name])}
    if _PLAIN_PATTERN.fullmatch(str(schema.get("pattern", ""))):
        sent["pattern"] = schema["pattern"]
    if isinstance(schema.get("items"), dict):
        sent["items"] = _weakened(schema["items"], depth + 1)
    if "properties" in schema:
        sent.setdefault("type", "object")
        sent["properties"] = {name: _or_null(_weakened(part, depth + 1)) for name, part in schema["properties"].items()}
        # Written out in full: a field that the decoder may skip is one that it forgets.
        sent["required"] = list(schema["properties"])
        sent["additionalProperties"] = False
    return sent


def _counts_on(keyword: str, number: Json) -> bool:
    return keyword in _COUNTS and number > _MOST_COUNTED


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    if not schema or schema.get("type") == "null" or "null" in schema.get("enum", ()):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def undecorated(schema: Json) -> Json:
    """A schema of ours with only what decoders enforce: no titles, descriptions, defaults, patterns or lengths."""
    if not isinstance(schema, dict):
        return schema
    sent = {name: schema[name] for name in _STRUCTURE if name in schema}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            sent[name] = undecorated(schema[name])
    if "anyOf" in schema:
        sent["anyOf"] = [undecorated(part) for part in schema["anyOf"]]
    if "properties" in schema:
        sent["properties"] = {name: undecorated(part) for name, part in schema["properties"].items()}
    return sent


def without_unknown(value: Json, schema: dict[str, Json]) -> Json:
    """`value` without the fields that are null where `schema` does not allow null: there it means "not on the page"."""
    return _Pruning(schema).pruned(value, schema, 0)


class _Pruning:
    """Looks at each part of the schema once, however many records there are."""

    def __init__(self, root: dict[str, Json]) -> None:
        self._nulls = Nulls(root)
        self._definitions = {**root.get("definitions", {}), **root.get("$defs", {})}
        self._known: dict[int, dict[str, Json]] = {}

    def pruned(self, value: Json, schema: Json, depth: int) -> Json:
        schema = self._resolved(schema)
        if depth > _MAX_DEPTH or not isinstance(schema, dict):
            return value
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            return [self.pruned(part, schema["items"], depth + 1) for part in value]
        if not isinstance(value, dict):
            return value
        parts = self._properties(schema)
        kept: dict[str, Json] = {}
        for name, part in value.items():
            if part is None and name in parts and not self._nulls.is_allowed(parts[name]):
                continue
            kept[name] = self.pruned(part, parts.get(name, {}), depth + 1)
        return kept

    def _properties(self, schema: dict[str, Json]) -> dict[str, Json]:
        """The properties that `schema` names, also inside of its choices."""
        if id(schema) not in self._known:
            parts: dict[str, Json] = dict(schema.get("properties", {}))
            for choice in ("anyOf", "oneOf", "allOf"):
                for option in map(self._resolved, schema.get(choice, ())):
                    if isinstance(option, dict):
                        for name, part in option.get("properties", {}).items():
                            parts.setdefault(name, part)
            self._known[id(schema)] = parts
        return self._known[id(schema)]

    def _resolved(self, schema: Json) -> Json:
        reference = _DEFINITION.fullmatch(str(schema.get("$ref", ""))) if isinstance(schema, dict) else None
        return schema if reference is None else self._definitions.get(reference.group(1), {})
