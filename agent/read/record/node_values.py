"""Values that a node of structured data states for a field, and the choice of the node that is the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.read.field import Field
from shoal.agent.read.record.casting import Casting
from shoal.agent.read.record.nodes import FoundNode, Node, property_of, types_of, values_of
from shoal.agent.read.vocabulary import (
    ENOUGH,
    LITERALS,
    STRUCTURES,
    Types,
    all_supertypes,
    fit,
    known_property,
    property_named,
)
from shoal.agent.read.words import folded
from shoal.agent.support.json_value import Json

STOCK = (
    "InStock",
    "LimitedAvailability",
    "OnlineOnly",
    "InStoreOnly",
    "MadeToOrder",
    "PreSale",
    "PreOrder",
    "BackOrder",
    "Reserved",
    "SoldOut",
    "OutOfStock",
    "Discontinued",
)
"""Members of ItemAvailability, the most available first."""

_PRINCIPAL = ("ratingValue", "value", "name")
"""Properties by which a structure states the value that it stands for."""
_MOST_STRUCTURES = 20
_SAME_FIT = 0.005
_WITHOUT_UNIT = 0.8
"""Fit at most of a property whose number has no unit where the field asks for one."""
_OPEN_TITLE = 7
"""Characters from which a part of a title may be the name of a thing."""


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value that a node states for a field."""

    value: Json
    fit: float  # of the field's name and the property's, 0 to 1
    path: str  # properties from the node to the value, joined by dots

    @property
    def prop(self) -> str:
        """The property that states it."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ScoredNode:
    """A node with what it states of the schema."""

    source: FoundNode
    score: float
    titled: bool  # its name is in the page's titles
    stated: Mapping[str, Sequence[StatedValue]]  # by field
    name: str  # folded


def stated_in(
    node: Node, field: Field, casting: Casting, types: Types = (), *, whole: bool = True
) -> list[StatedValue]:
    """The values that a node, and the structures that hang from it, state for a field; of a `whole` node the best."""
    types = types_of(node) or types
    values: list[StatedValue] = []
    for key, raw in node.items():
        if not key.startswith("@") and raw not in (None, "", [], {}):
            values += _by_property(known_property(key), raw, field, casting, types)
    values = _most_available(values)
    if not whole or not values:
        return values
    best = max(stated.fit for stated in values)
    return [
        stated
        for stated in values
        if stated.fit >= best - _SAME_FIT or (best > 0.9 and stated.fit > 0.9 and stated.path in ("name", "headline"))
    ]


def _by_property(name: str, raw: Json, field: Field, casting: Casting, types: Types) -> Iterator[StatedValue]:
    fitness, ranges = fit(field.requested_name, name, types), property_named(name).ranges
    textual = field.kind in ("list", "text")
    if fitness < 0.9 and ranges and ranges <= LITERALS and textual:
        return
    structures = [joined for value in values_of(raw) if isinstance(joined := casting.nodes.join(value), Mapping)]
    if fitness >= ENOUGH and not (structures and field.is_number and "Duration" not in ranges):
        value = casting.cast(raw, field, name)
        if value is not None:
            yield StatedValue(value, min(fitness, _WITHOUT_UNIT) if casting.lacks_unit(raw, field) else fitness, name)
    for place, structure in enumerate(structures[:_MOST_STRUCTURES]):
        yield from _by_structure(structure, name, fitness, field, casting, first=place == 0)


def _by_structure(
    node: Node, name: str, fitness: float, field: Field, casting: Casting, *, first: bool
) -> Iterator[StatedValue]:
    types = types_of(node) or tuple(sorted(property_named(name).ranges & STRUCTURES))
    if not STRUCTURES & set(types) or (not first and "Rating" in types):
        return
    if casting.asks_unit(node, field):
        value = casting.cast(node, field, name) if fitness > 0.6 else None
        if value is not None:
            yield StatedValue(value, min(0.95, fitness + 0.15), f"{name}.value")
        return
    for stated in stated_in(node, field, casting, types, whole=False):
        if fitness < ENOUGH and "Thing" in property_named(stated.path.split(".")[0]).domains:
            continue
        inner = stated.fit * 0.97
        if stated.prop in _PRINCIPAL and fitness > 0.6 and inner < fitness + 0.15:
            inner = min(0.95, fitness + 0.15)
        yield StatedValue(stated.value, inner, f"{name}.{stated.path}")
    principal = next((prop for prop in _PRINCIPAL if property_of(node, prop) is not None), None)
    if principal and fitness > 0.6 and (field.is_number or field.kind == "text"):
        value = casting.cast(property_of(node, principal), field, principal)
        if value is not None:
            yield StatedValue(value, min(0.95, fitness + 0.15), f"{name}.{principal}")


def _most_available(values: list[StatedValue]) -> list[StatedValue]:
    """Several offers are as available as the best of them."""
    best: dict[str, str] = {}
    for stated in values:
        if isinstance(stated.value, str) and stated.value in STOCK and "." in stated.path:
            best[stated.path] = min(best.get(stated.path, stated.value), stated.value, key=STOCK.index)
    return [StatedValue(best.get(stated.path, stated.value), stated.fit, stated.path) for stated in values]


def total_of_durations(node: Node, field: Field, casting: Casting) -> float | None:
    """A total time that the node does not state: the sum of the other times that it states."""
    if not field.is_number or "total" not in field.words:
        return None
    types, parts = types_of(node), []
    for key, raw in node.items():
        name = known_property(key)
        if not name.endswith("Time") or "Duration" not in property_named(name).ranges:
            continue
        value = casting.cast(raw, field, name)
        if value and (name == "totalTime" or fit(field.requested_name, name, types) >= 0.9):
            return None
        parts.append(value or 0)
    return sum(parts) or None


# --- the record's node --------------------------------------------------------------------------------


def scored_nodes(
    fields: Sequence[Field], casting: Casting, types: Types, nodes: Sequence[FoundNode]
) -> list[ScoredNode]:
    """The nodes that state some of the fields, the one that states most of them first.

    The page's titles speak for a node, and its type where it is one of `types`; a node that another holds counts half.
    """
    kinds = set(types)
    scored = []
    for node in nodes:
        stated = {field.name: values for field in fields if (values := stated_in(node.node, field, casting))}
        if not stated:
            continue
        name = name_of(node.node, casting)
        titled = bool(name) and any(_is_named(name, title) for title in casting.titles)
        score = sum(max(value.fit for value in values) for values in stated.values())
        score += 0.6 * titled + 0.3 * bool(all_supertypes(types_of(node.node)) & kinds)
        scored.append(ScoredNode(node, score / 2 if node.parent else score, titled, stated, name))
    return sorted(scored, key=lambda each: -each.score)


def name_of(node: Node, casting: Casting) -> str:
    """A node's name or headline, folded; "" without one."""
    stated = values_of(property_of(node, "name") or property_of(node, "headline"))
    text = casting.principal_text(stated[0]) if stated else None
    return folded(str(text)) if text is not None else ""


def _is_named(name: str, title: str) -> bool:
    if name == title:
        return True
    if len(name) > _OPEN_TITLE and (title.startswith(name) or (name in title and len(name) > 0.5 * len(title))):
        return True
    return len(title) > _OPEN_TITLE and title in name
