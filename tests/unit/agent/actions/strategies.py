"""Random actions, valid by the primitives' own signatures."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from shoal.agent.actions import PRIMITIVES
from shoal.agent.actions.registry import Primitive, parameters
from shoal.agent.types import Action

bids = st.from_regex(r"[a-zA-Z]{0,2}[1-9][0-9]{0,3}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
pixels = st.one_of(st.integers(-3000, 3000), st.floats(-3000, 3000, allow_nan=False))
files = st.one_of(texts, st.lists(texts, max_size=3))
option = st.one_of(texts, st.integers(-3, 500))

_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bid": bids,
    "from_bid": bids,
    "to_bid": bids,
    "button": st.sampled_from(["left", "middle", "right"]),
    "modifiers": st.lists(st.sampled_from(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]), max_size=3),
    "enable_autocomplete_menu": st.booleans(),
    "key_comb": texts.filter(bool),
    "key": texts.filter(bool),
    "options": st.one_of(option, st.lists(option, max_size=3)),
    "file": files,
    "place": st.sampled_from(["on", "before", "after"]),
    "direction": st.sampled_from(["up", "down", "left", "right"]),
    **{name: pixels for name in ("x", "y", "dx", "dy", "from_x", "from_y", "to_x", "to_y")},
    "index": st.integers(0, 50),
    "times": st.integers(1, 20),
    "wait_ms": st.integers(0, 60_000),
    "timeout": st.floats(0.1, 60),
    "errors": st.lists(texts, max_size=3),
}


@st.composite
def calls(draw: st.DrawFn, of: tuple[Primitive, ...] = PRIMITIVES) -> Action:
    """One call of a primitive, with some of the arguments that may be left out left out."""
    one = draw(st.sampled_from(of))
    args = {}
    for parameter in parameters(one.function):
        optional = parameter.default is not parameter.empty
        if optional and draw(st.booleans()):
            continue
        args[parameter.name] = draw(_VALUES.get(parameter.name, texts))
    return Action(one.name, args)
