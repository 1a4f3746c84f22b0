"""Gymnasium spaces of what an observation of a page is made of."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class Kind(gymnasium.Space[Any]):
    """All values of one Python type; nothing is sampled from it."""

    def __init__(self, *types: type) -> None:
        super().__init__()
        self.types = types

    def contains(self, x: Any) -> bool:
        return isinstance(x, self.types)

    def __repr__(self) -> str:
        return f"Kind({', '.join(kind.__name__ for kind in self.types)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and self.types == other.types

    def __hash__(self) -> int:
        return hash(self.types)


class Picture(gymnasium.Space[Any]):
    """Pictures of any size: arrays of height, width and red, green, blue from 0 to 255."""

    def __init__(self) -> None:
        super().__init__(dtype=np.uint8)

    def contains(self, x: Any) -> bool:
        return isinstance(x, np.ndarray) and x.dtype == np.uint8 and x.ndim == 3 and x.shape[2] == 3

    def __repr__(self) -> str:
        return "Picture()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture)

    def __hash__(self) -> int:
        return hash(Picture)


def observation_space() -> gymnasium.spaces.Dict:
    """The space of what `BrowserEnv` observes, with BrowserGym's keys, and `text` beside them."""
    spaces = gymnasium.spaces
    message = spaces.Dict({"role": Kind(str), "timestamp": Kind(float), "message": Kind(str)})
    return spaces.Dict(
        {
            "chat_messages": spaces.Sequence(message),
            "goal": Kind(str),
            "goal_object": spaces.Sequence(Kind(dict)),
            "open_pages_urls": spaces.Sequence(Kind(str)),
            "open_pages_titles": spaces.Sequence(Kind(str)),
            "active_page_index": spaces.Box(low=0, high=255, shape=(1,), dtype=np.int64),
            "url": Kind(str),
            "screenshot": Picture(),
            "dom_object": Kind(dict),
            "axtree_object": Kind(dict),
            "extra_element_properties": Kind(dict),
            "focused_element_bid": Kind(str),
            "last_action": Kind(str),
            "last_action_error": Kind(str),
            "elapsed_time": spaces.Box(low=0, high=np.inf, shape=(1,), dtype=np.float64),
            "text": Kind(str),
        }
    )
