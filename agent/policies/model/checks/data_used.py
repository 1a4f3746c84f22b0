"""A check that some of the job's data was entered, before its goal is called reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.agent.models.reply import ReplyDoubt
from shoal.agent.policies.policy import SessionState
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.types import Step

_LEAST_CHARS = 2
"""Shorter values stand in nearly every action and on nearly every page."""


def data_used(state: SessionState, steps: Sequence[Step] = ()) -> bool:
    """Return whether the job gives no data,
    or some value of them was part of an action.

    Args:
        steps: of the running mini goal.
    """
    given = _data_texts(state)
    used = _used(state, steps)
    return not given or any(text in used for text in given)


def _data_texts(state: SessionState) -> set[str]:
    return {text for text in map(_folded, _leaves(state.spec.data)) if len(text) >= _LEAST_CHARS}


def _used(state: SessionState, steps: Sequence[Step]) -> str:
    """Return what all actions so far said, and what they were done to."""
    done = [*(step for task in state.history for step in task.steps), *steps]
    results = [result for step in done for result in step.results]
    arguments = [str(argument) for result in results for argument in result.action.args.values()]
    return "\n".join(map(_folded, [*arguments, *(result.action.target for result in results)]))


def check_data_used(state: SessionState, page: PageText, steps: Sequence[Step], value: object) -> None:
    """Check that some value of the job's data was part of an action,
    or stands on the page that was seen.

    Args:
        steps: of the running mini goal.
        value: what the reply means, which is taken where the model says the same again.

    Raises:
        ReplyDoubt: the job gives data, and none of them was used.
    """
    shown = _folded(page.whole)
    if not data_used(state, steps) and not any(text in shown for text in _data_texts(state)):
        raise ReplyDoubt(
            "the job gives data, none of which was entered or stands on this page: is what the job wants really done?",
            value,
        )


def _leaves(data: Json) -> Iterator[str]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from _leaves(part)
    elif data is not None and not isinstance(data, bool):
        yield str(data)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
