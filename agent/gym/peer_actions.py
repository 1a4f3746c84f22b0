"""BrowserGym's action sets: which of an agent's calls are taken, and what those of its own do.

An environment of BrowserGym's gets `HighLevelActionSet.to_python_code` as its `action_mapping`, and runs the Python
that comes of it. Here the set decides in the same way what may be called. Actions that BrowserGym brings are then taken
by Shoal's own; functions that the set's owner added run as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.agent.errors import ReplyUnparsable

_TO_PYTHON = "to_python_code"
_FIND = "get_elem_by_bid"
"""By this function of BrowserGym's, which looks for an attribute of the page, an action finds its element."""


@dataclass(frozen=True, slots=True)
class PeerCall:
    """One call of a reply."""

    text: str  # "click('12')"
    own: bool  # of a function that the set's owner added


class PeerActions:
    """An action set of BrowserGym's."""

    def __init__(self, action_set: Any) -> None:
        self._set = action_set
        brought = action_set.to_python_code.__globals__
        self._own = {
            name
            for name in action_set.action_set
            if not inspect.isfunction(brought.get(name))
            or inspect.getsource(brought[name]) not in action_set.python_includes
        }

    @classmethod
    def behind(cls, mapping: Callable[[str], str] | None) -> PeerActions | None:
        """The action set whose `to_python_code` the mapping is; None for another function."""
        owner = getattr(mapping, "__self__", None)
        known = getattr(mapping, "__name__", "") == _TO_PYTHON and hasattr(owner, "python_includes")
        return cls(owner) if known else None

    def calls(self, reply: str) -> list[PeerCall]:
        """The calls of a reply.

        Raises:
            ReplyUnparsable: the set refuses it, for a call that is not among its actions or one too many.
        """
        try:
            code: str = self._set.to_python_code(reply)
        except Exception as error:  # its parser's errors are a class of a package that need not be here
            raise ReplyUnparsable(f"{type(error).__name__}: {error}", place="the reply") from error
        lines = code.removeprefix(self._set.python_includes).splitlines()
        return [PeerCall(line, line.partition("(")[0] in self._own) for line in lines if line.strip()]

    def run(self, call: PeerCall, given: Mapping[str, Any], find: Callable[..., Any]) -> None:
        """Runs a function that the set's owner added.

        Args:
            given: what its code may use by name, such as `page`.
            find: gives the locator of an element: called with the page and an id.
        """
        scope = dict(given)
        exec(self._set.python_includes, scope)
        scope[_FIND] = find
        exec(call.text, scope)
