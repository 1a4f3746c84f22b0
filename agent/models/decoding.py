"""A caller's JSON Schema as a decoder can enforce it, and what the decoder gave as the caller's schema wants it.

vLLM's two back ends, xgrammar and guidance, refuse different keywords, and a refused one fails the whole request.
A decoder that must write a required number writes one, whether the page shows it or not. So what is sent is weaker than
the schema in its keywords, stricter about which fields are written, and lets every field be null. The reply is checked
against the whole schema afterwards.
"""

from __future__ import annotations

import re
from typing import Any

from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

Json = Any

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems")
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
        found = _DEFINITION.fullmatch(str(schema["$ref"]))
        return {"$ref": f"#/$defs/{found.group(1)}"} if found else {}
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return {"anyOf": [_weakened(part, depth + 1) for part in schema[choice]]}
    if len(schema.get("allOf", ())) == 1 and "properties" not in schema:
        return _weakened(schema["allOf"][0], depth + 1)
    sent: dict[str, Json] = {name: schema[name] for name in ("enum", "const") if name in schema}
    if sent:
        return sent
    sent = {name: schema[name] for name in ("type", *_BOUNDS) if name in schema}
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
    checker = validator_for(schema, default=Draft202012Validator)
    return _without(value, schema, checker(schema, registry=Registry()), schema, 0)


def _without(value: Json, schema: Json, validator: Validator, root: dict[str, Json], depth: int) -> Json:
    schema = _resolved(schema, root)
    if depth > _MAX_DEPTH or not isinstance(schema, dict):
        return value
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_without(part, schema["items"], validator, root, depth + 1) for part in value]
    if not isinstance(value, dict):
        return value
    parts = _properties(schema, root)
    kept: dict[str, Json] = {}
    for name, part in value.items():
        if part is None and name in parts and not _allows_null(validator, parts[name]):
            continue
        kept[name] = _without(part, parts.get(name, {}), validator, root, depth + 1)
    return kept


def _allows_null(validator: Validator, schema: Json) -> bool:
    try:
        return bool(validator.evolve(schema=schema).is_valid(None))
    except Unresolvable:
        return True  # a `$ref` that leads nowhere: whoever checks the record against the schema says so


def _properties(schema: dict[str, Json], root: dict[str, Json]) -> dict[str, Json]:
    """The properties that `schema` names, also inside of its choices."""
    parts: dict[str, Json] = dict(schema.get("properties", {}))
    for choice in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(choice, ()):
            resolved = _resolved(option, root)
            if isinstance(resolved, dict):
                parts = {**resolved.get("properties", {}), **parts}
    return parts


def _resolved(schema: Json, root: dict[str, Json]) -> Json:
    found = _DEFINITION.fullmatch(str(schema.get("$ref", ""))) if isinstance(schema, dict) else None
    if found is None:
        return schema
    definitions = {**root.get("definitions", {}), **root.get("$defs", {})}
    return definitions.get(found.group(1), {})
