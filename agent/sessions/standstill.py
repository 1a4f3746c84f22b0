"""When a session stops trying what does not work."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.errors import NothingWorks
from shoal.agent.types import Step

_MOST_FAILED = 8
"""Steps in a row. A model sees that an action failed, and may find another way first. Rules look for none, and leave
such a page earlier: `agent/policies/rules/forms/trail.py`."""


def refuse_repetition(steps: Sequence[Step]) -> None:
    """Ends what leads nowhere, long before the limit of steps: the page may be broken in this browser alone.

    Raises:
        NothingWorks: each of the last steps ended with the same action on the same page, and with the same error.
    """
    last = steps[-_MOST_FAILED:]
    if len(last) < _MOST_FAILED or not all(step.results and step.results[-1].error for step in last):
        return
    ends = [(step.url, step.results[-1]) for step in last]
    url, end = ends[0]
    if end.error is not None and all(
        (other, result.action.name, result.action.args, result.error and result.error.code)
        == (url, end.action.name, end.action.args, end.error.code)
        for other, result in ends
    ):
        raise NothingWorks(f"{end.action.name} failed {_MOST_FAILED} times in a row on {url}: {end.error.message}")
