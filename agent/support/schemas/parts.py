"""The schemas inside of a schema, and where its references lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urldefrag, urljoin

from shoal.agent.support.json_value import Json

Schema = dict[str, Json]

_ONE = ("not", "if", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf")
_BY_NAME = ("dependentSchemas", "dependencies")
_ONE_BELOW = (
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems"),
    *("unevaluatedItems", "contains", "contentSchema"),
)
_SEVERAL_BELOW = ("prefixItems", "items")
_BY_NAME_BELOW = ("properties", "patternProperties")
_ONLY_NAMED = ("$defs", "definitions")


def in_place(schema: Schema) -> Iterator[Schema]:
    """The schemas that the same value is held to, without references."""
    return _select_parts(schema, _ONE, _SEVERAL, _BY_NAME)


def all_parts(schema: Schema) -> Iterator[Schema]:
    """All schemas right inside of `schema`."""
    yield from in_place(schema)
    yield from _select_parts(schema, _ONE_BELOW, _SEVERAL_BELOW, (*_BY_NAME_BELOW, *_ONLY_NAMED))


def _select_parts(
    schema: Schema, single: tuple[str, ...], several: tuple[str, ...], named: tuple[str, ...]
) -> Iterator[Schema]:
    for keyword in single:
        if isinstance(part := schema.get(keyword), dict):
            yield part
    for keyword in several:
        if isinstance(parts := schema.get(keyword), list):
            yield from (part for part in parts if isinstance(part, dict))
    for keyword in named:
        if isinstance(by_name := schema.get(keyword), dict):
            yield from (part for part in by_name.values() if isinstance(part, dict))


class References:
    """The targets of a schema's references. Found once, in time linear in the schema's size."""

    def __init__(self, root: Schema) -> None:
        self._id = "id" if "draft-04" in str(root.get("$schema", "")) else "$id"
        self._bases: dict[int, str] = {}  # of each schema, by its Python id: the address its references start from
        self._resources: dict[str, Schema] = {"": root}
        self._anchors: dict[str, Schema] = {}  # by their whole address
        self.parts: list[Schema] = []
        waiting = [(root, "")]
        while waiting:
            part, base = waiting.pop()
            if id(part) in self._bases:
                continue
            base = self._named(part, base)
            self._bases[id(part)] = base
            self.parts.append(part)
            waiting += [(inner, base) for inner in all_parts(part)]

    def _named(self, part: Schema, base: str) -> str:
        name = part.get(self._id)
        if isinstance(name, str):
            address, fragment = urldefrag(urljoin(base, name))
            if fragment and name.startswith("#"):  # how older drafts spell an anchor
                self._anchors[f"{base}#{fragment}"] = part
            else:
                base = address
                self._resources.setdefault(base, part)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := part.get(keyword), str):
                self._anchors[f"{base}#{anchor}"] = part
        return base

    def target(self, part: Schema) -> Schema | bool | None:
        """Return where the `$ref` of `part` leads; None where that is nowhere in the schema, or to no schema."""
        address, fragment = urldefrag(urljoin(self._bases.get(id(part), ""), str(part["$ref"])))
        resource = self._resources.get(address)
        if resource is None:
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(f"{address}#{fragment}")
        here: Json = resource
        for step in unquote(fragment).split("/")[1:]:
            here = _stepped(here, step.replace("~1", "/").replace("~0", "~"))
        return here if isinstance(here, dict | bool) else None


def _stepped(here: Json, step: str) -> Json:
    if isinstance(here, Mapping):
        return here.get(step)
    if isinstance(here, list) and step.isascii() and step.isdigit() and int(step) < len(here):
        return here[int(step)]
    return None
