"""Schemas that take null. Told from its own words, so that each of its parts is asked once."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.parts import References, Schema


class Nulls:
    """Asked about the parts of one schema, again and again."""

    def __init__(self, root: Schema) -> None:
        self._references = References(root)
        self._known: dict[int, bool] = {}

    def is_allowed(self, schema: Json) -> bool:
        """Return whether null fits `schema`, a part of the whole. A reference that leads nowhere takes everything."""
        if not isinstance(schema, dict):
            return schema is not False
        if id(schema) not in self._known:
            self._known[id(schema)] = True  # for one that refers to itself
            self._known[id(schema)] = all(self._verdicts(schema))
        return self._known[id(schema)]

    def _verdicts(self, schema: Schema) -> Iterator[bool]:
        """One for each keyword that has a say about null."""
        if isinstance(schema.get("$ref"), str):
            yield self.is_allowed(self._references.target(schema))
        if "type" in schema:
            yield schema["type"] == "null" or (isinstance(schema["type"], list) and "null" in schema["type"])
        if "enum" in schema:
            yield None in schema["enum"]
        if "const" in schema:
            yield schema["const"] is None
        if "not" in schema:
            yield not self.is_allowed(schema["not"])
        yield from map(self.is_allowed, schema.get("allOf", ()))
        if "anyOf" in schema:
            yield any(map(self.is_allowed, schema["anyOf"]))
        if "oneOf" in schema:
            yield sum(map(self.is_allowed, schema["oneOf"])) == 1
        if "if" in schema:
            yield self.is_allowed(schema.get("then" if self.is_allowed(schema["if"]) else "else", True))
