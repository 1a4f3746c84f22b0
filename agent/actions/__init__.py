"""The actions of an agent in a page: the primitives, their sets and schemas, the notations, and performing them."""

from __future__ import annotations

from shoal.agent.actions.perform import check, perform
from shoal.agent.actions.registry import ACTION_SETS, DEFAULT_SETS, PRIMITIVES, Primitive, primitive, primitives_of
from shoal.agent.actions.schema import action_schema, actions_schema, arguments, catalogue, describe

__all__ = [
    "ACTION_SETS",
    "DEFAULT_SETS",
    "PRIMITIVES",
    "Primitive",
    "action_schema",
    "actions_schema",
    "arguments",
    "catalogue",
    "check",
    "describe",
    "perform",
    "primitive",
    "primitives_of",
]
