"""An element tree made anew, node by node. Not recursive: a deep page does not exhaust the stack."""

from __future__ import annotations

from collections.abc import Callable

from shoal.agent.types import Element


def rebuilt(root: Element, change: Callable[[Element, tuple[Element, ...]], Element]) -> Element:
    """The tree in which each node is what `change` makes of it and of its new children."""
    done: list[Element] = []
    waiting: list[tuple[Element, bool]] = [(root, False)]
    while waiting:
        element, children_done = waiting.pop()
        count = len(element.children)
        if children_done or not count:
            children = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            done.append(change(element, children))
        else:
            waiting.append((element, True))
            waiting.extend((child, False) for child in reversed(element.children))
    return done[0]
