"""Actions of a person on a session's page: steps like any other, marked in the store where they may not be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.agent.actions.sending import sends
from shoal.agent.errors import ActionError
from shoal.agent.redaction.masking import HIDDEN
from shoal.agent.sessions.attended.attendance import Attendance, HandedBack
from shoal.agent.sessions.attended.human_help import Helper, Question
from shoal.agent.types import Action, ActionResult, Step

_TYPE = "keyboard_type"
TAKEN_OVER = "a person takes the page over"
"""The answer to a question when a person comes to do it by hand."""


def storable_result(result: ActionResult, earlier: Sequence[Step]) -> ActionResult:
    """Return what a person did, as it may be stored:
    what they typed may be a password or a code.

    Behind it the effects tell no texts: a field that shows what was typed is one of the things that appear.
    """
    typed = _types(result) or any(_types(earlier_result) for step in earlier for earlier_result in step.results)
    if not typed:
        return result
    action = result.action
    if action.name == _TYPE:
        action = replace(action, args=dict(action.args) | {"text": HIDDEN})
    effect = replace(result.effect, value=None, appeared=(), went=(), fields=(), invalid=())
    return replace(result, action=action, effect=effect, value=None)


def _types(result: ActionResult) -> bool:
    return result.action.name == _TYPE


def describe_end(end: HandedBack) -> str:
    """Return how a takeover ended, in words that the agent reads."""
    name = end.by or "a person"
    if end.away:
        return f"{name} had taken the page over and went away"
    words = f"{name} had taken the page over and handed it back"
    return f"{words}: {end.message}" if end.message else words


def of_the_end(end: HandedBack, index: int, url: str) -> Step:
    """The step that tells the agent how a takeover ended."""
    return Step(index, url, describe_end(end), ())


def may_send(action: Action) -> bool:
    """Return whether a person's action may send something, as far as the action itself can tell."""
    return sends(action) != "never"


@dataclass(frozen=True, slots=True)
class OrTakeover:
    """A `Helper` that ends its question when a person takes the page over: they do by hand what was asked for."""

    helper: Helper
    attendance: Attendance

    async def __call__(self, question: Question) -> str:
        """The answer, or `TAKEN_OVER`.

        Raises:
            HelpMissing: see `Helper`.
            ActionError: a code was asked for; the person who came enters it by hand.
        """
        asking = asyncio.ensure_future(self.helper(question))
        coming = asyncio.ensure_future(self.attendance.comes())
        try:
            await asyncio.wait({asking, coming}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            if question.kind == "code":
                raise ActionError(TAKEN_OVER)
            return TAKEN_OVER
        finally:
            asking.cancel()
            coming.cancel()
