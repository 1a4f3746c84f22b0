"""Gymnasium spaces of what an observation of a page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np


class TypeSpace(gymnasium.Space[Any]):
    """All values of one Python type; nothing is sampled from it."""

    def __init__(self, *types: type) -> None:
        super().__init__()
        self.types = types

    def contains(self, x: Any) -> bool:
        return isinstance(x, self.types)

    def __repr__(self) -> str:
        return f"TypeSpace({', '.join(kind.__name__ for kind in self.types)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeSpace) and self.types == other.types

    def __hash__(self) -> int:
        return hash(self.types)


class CallSpace(TypeSpace):
    """Texts of calls; what is sampled is one that the documentation of an action gives."""

    def __init__(self, examples: Sequence[str]) -> None:
        super().__init__(str)
        self._examples = tuple(examples)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return self._examples[int(self.np_random.integers(len(self._examples)))]


class PictureSpace(gymnasium.Space[Any]):
    """Pictures of any size: arrays of height, width and red, green, blue from 0 to 255."""

    def __init__(self) -> None:
        super().__init__(dtype=np.uint8)

    def contains(self, x: Any) -> bool:
        return isinstance(x, np.ndarray) and x.dtype == np.uint8 and x.ndim == 3 and x.shape[2] == 3

    def __repr__(self) -> str:
        return "Picture()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PictureSpace)

    def __hash__(self) -> int:
        return hash(PictureSpace)


def observation_space() -> gymnasium.spaces.Dict:
    """The space of what `BrowserEnv` observes, with BrowserGym's keys, and `text` beside them."""
    spaces = gymnasium.spaces
    message = spaces.Dict({"role": TypeSpace(str), "timestamp": TypeSpace(float), "message": TypeSpace(str)})
    return spaces.Dict(
        {
            "chat_messages": spaces.Sequence(message),
            "goal": TypeSpace(str),
            "goal_object": spaces.Sequence(TypeSpace(dict)),
            "open_pages_urls": spaces.Sequence(TypeSpace(str)),
            "open_pages_titles": spaces.Sequence(TypeSpace(str)),
            "active_page_index": spaces.Box(low=0, high=255, shape=(1,), dtype=np.int64),
            "url": TypeSpace(str),
            "screenshot": PictureSpace(),
            "dom_object": TypeSpace(dict),
            "axtree_object": TypeSpace(dict),
            "extra_element_properties": TypeSpace(dict),
            "focused_element_bid": TypeSpace(str),
            "last_action": TypeSpace(str),
            "last_action_error": TypeSpace(str),
            "elapsed_time": spaces.Box(low=0, high=np.inf, shape=(1,), dtype=np.float64),
            "text": TypeSpace(str),
        }
    )
