"""Which primitives each notation can express, found by writing calls of them and reading them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.agent.actions.dialects import browsergym, webaction, webvoyager
from shoal.agent.actions.dialects.notations import DIALECTS, Dialect, read_reply, write_reply
from shoal.agent.actions.registry import PRIMITIVES, Primitive
from shoal.agent.errors import ActionInvalid, ReplyUnparsable
from shoal.agent.models.decisions.step import WAIT_MS
from shoal.agent.types import Action, Element

_FURTHER: dict[str, tuple[str, ...]] = {
    "goto": (f"goto({webvoyager.SEARCH_HOME!r})",),
    "noop": tuple(f"noop({ms})" for ms in (WAIT_MS, webaction.WAIT_MS, webvoyager.WAIT_MS)),
    "press": ("press('88', 'Enter')",),
    "keyboard_press": ("keyboard_press('Enter')",),
    "scroll": (f"scroll(0, {webvoyager.SCROLL_PX})", f"scroll(0, -{webvoyager.SCROLL_PX})"),
    "fill": ("fill('237', 'example value')\npress('237', 'Enter')",),
    "terminate": ("terminate('The product is no longer sold.')",),
    "upload_file": ("upload_file('63', ['/path/to/image.jpg'])",),
}
"""Calls that notations have besides the examples: fixed waits, fixed scrolls, typing that ends with Enter."""


@dataclass(frozen=True, slots=True)
class Expressed:
    """The calls of one primitive that a notation can express."""

    calls: tuple[str, ...]  # those, of the tried ones, that come back as they were
    whole: bool  # all examples of the primitive do


def expressed(dialect: Dialect, primitive: Primitive) -> Expressed:
    """Return what of `primitive` can be said in `dialect`."""
    calls = dict.fromkeys((*primitive.examples, *_FURTHER.get(primitive.name, ())))
    worked = tuple(call for call in calls if _comes_back(dialect, browsergym.parse(call)))
    return Expressed(worked, set(primitive.examples) <= set(worked))


def _comes_back(dialect: Dialect, actions: Sequence[Action]) -> bool:
    page = _page_of(actions)
    try:
        return read_reply(dialect, write_reply(dialect, actions, page), page) == list(actions)
    except (ActionInvalid, ReplyUnparsable):
        return False


def _page_of(actions: Sequence[Action]) -> Element:
    """A page that has the elements which the actions name, each with a name of its own."""
    bids = {str(value): None for action in actions for name, value in action.args.items() if name.endswith("bid")}
    elements = [Element(bid, "button", role="button", name=f"Element {bid}", clickable=True) for bid in bids]
    return Element("", "body", children=tuple(elements))


def table() -> dict[str, dict[Dialect, Expressed]]:
    """Every primitive in every notation."""
    return {
        primitive.name: {dialect: expressed(dialect, primitive) for dialect in DIALECTS} for primitive in PRIMITIVES
    }
