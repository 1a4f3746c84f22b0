"""What an agent can do in a page: the primitives, their sets and schemas, the notations, and performing them."""

from __future__ import annotations

from agent.actions.perform import check, perform
from agent.actions.registry import ACTION_SETS, DEFAULT_SETS, PRIMITIVES, Primitive, primitive, primitives_of
from agent.actions.schema import action_schema, actions_schema, arguments, catalogue, describe

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
