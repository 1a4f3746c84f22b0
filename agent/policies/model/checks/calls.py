"""The meaning of a job's action sets for a step: its action types, and the primitives that a CALL may name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from shoal.agent.actions.registry import DEFAULT_SETS, Primitive, primitives_of
from shoal.agent.actions.schema import action_schema
from shoal.agent.models.decisions.step import ACTION_TYPES, ON_ELEMENTS, CallOffer
from shoal.agent.models.decoding import undecorated
from shoal.agent.spec import JobSpec

_PRIMITIVES: Mapping[str, str] = {
    "CLICK": "click",
    "INPUT_TEXT": "fill",
    "UPLOAD_FILE": "upload_file",
    "SELECT_OPTION": "select_option",
    "WAIT": "noop",
    "SOLVE_CAPTCHA": "solve_captcha",
}
"""The action types that stand for one primitive; it is not offered to CALL a second time."""

_NOT_CALLED = frozenset({*_PRIMITIVES.values(), "download", "complete", "terminate", "enter_verification_code"})
"""Primitives that a reply asks for in another way."""

_POINTING = ("coord", "keyboard")


def call_offers(spec: JobSpec) -> tuple[CallOffer, ...]:
    """The primitives of the job's sets that have no action type of their own; with coordinates, those that point too.

    Raises:
        ActionInvalid: the job names a set that does not exist.
    """
    left_out = _NOT_CALLED if spec.allow_terminate else _NOT_CALLED | {"report_infeasible"}
    calls = (_offer(primitive) for primitive in _chosen(spec) if primitive.name not in left_out)
    return tuple(call for call in calls if spec.grounding != "coordinates" or not call.on_element)


def action_types(spec: JobSpec, *, calls: bool) -> tuple[str, ...]:
    """The action types of the job. A task can always be completed, and given up where the job allows it.

    Raises:
        ActionInvalid: the job names a set that does not exist.
    """
    names = {primitive.name for primitive in _chosen(spec)}
    left_out = {kind for kind, name in _PRIMITIVES.items() if name not in names}
    if spec.grounding == "coordinates":
        left_out |= set(ON_ELEMENTS)
    if not spec.allow_terminate:
        left_out.add("TERMINATE")
    if not calls:
        left_out.add("CALL")
    return tuple(kind for kind in ACTION_TYPES if kind not in left_out)


def _chosen(spec: JobSpec) -> tuple[Primitive, ...]:
    sets = spec.action_sets or DEFAULT_SETS
    chosen = primitives_of((*sets, *_POINTING) if spec.grounding == "coordinates" else sets)
    # A question without an answer ends the session: it is offered where the job names who answers.
    return tuple(primitive for primitive in chosen if primitive.group != "human" or spec.has_helper)


@cache
def _offer(primitive: Primitive) -> CallOffer:
    # Each decision tells the job's calls, and a schema made of a signature takes half a millisecond.
    return CallOffer(
        primitive.name, primitive.signature, primitive.text.split("\n", 1)[0], undecorated(action_schema(primitive))
    )
