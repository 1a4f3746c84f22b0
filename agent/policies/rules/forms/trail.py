"""The state of a form's work, from the steps so far.

Each action's reason names the detail that it enters, never its value; so nothing has to be remembered.
"""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.errors import ActionInvalid, ActionRefused, FormIncomplete, NothingWorks
from shoal.agent.types import Action, ActionResult, Step

ENTER = "enter "
SEND = "send the form"
ON = "go on to the form's next page"
_MOST_FAILED = 5
"""Steps in a row. What a page takes only later, such as a field that is covered for a moment, it takes by then."""
_MOST_CHOICES = 2
"""Tries at a choice. A list that lacks it twice has it no more."""


def entered(steps: Sequence[Step]) -> set[str]:
    """The details that were entered on any page."""
    keys: set[str] = set()
    for result in (result for step in steps for result in step.results):
        if result.error is None and result.action.reasoning.startswith(ENTER):
            keys |= set(result.action.reasoning[len(ENTER) :].split(", "))
    return keys


def entered_here(steps: Sequence[Step]) -> dict[str, int]:
    """Return how often each field was acted on since the form's page was opened."""
    counts: dict[str, int] = {}
    for step in steps:
        for result in step.results:
            if result.action.reasoning in (SEND, ON):
                counts.clear()
            elif result.action.reasoning.startswith(ENTER) and result.error is None:
                bid = str(result.action.args.get("bid", ""))
                counts[bid] = counts.get(bid, 0) + 1
    return counts


def last_sending(steps: Sequence[Step]) -> int | None:
    """The index of the last step that sent the form or went on in it, when nothing was entered since."""
    for index in range(len(steps) - 1, -1, -1):
        reasons = [result.action.reasoning for result in steps[index].results if result.error is None]
        if any(reason in (SEND, ON) for reason in reasons):
            return index
        if any(reason.startswith(ENTER) for reason in reasons):
            return None
    return None


def is_sending(step: Step) -> bool:
    return any(result.action.reasoning in (SEND, ON) for result in step.results)


def was_sent(steps: Sequence[Step]) -> bool:
    """Return whether the form was sent for good since the last detail was entered."""
    last = last_sending(steps)
    return last is not None and any(result.action.reasoning == SEND for result in steps[last].results)


def idle_looks(steps: Sequence[Step]) -> int:
    """Return how many times the page was looked at in a row without anything done."""
    count = 0
    for step in reversed(steps):
        if step.results:
            break
        count += 1
    return count


def _final(steps: Sequence[Step]) -> ActionResult | None:
    """The action that enters a detail and was refused for good in the last step."""
    for result in steps[-1].results if steps else ():
        if result.error is None or not result.action.reasoning.startswith(ENTER):
            continue
        if result.error.code in (ActionInvalid.code, ActionRefused.code):
            return result
        if result.action.name == "select_option" and _failed(steps, result.action) >= _MOST_CHOICES:
            return result
    return None


def _failed(steps: Sequence[Step], action: Action) -> int:
    """Return how often the action was tried and failed."""
    results = [result for step in steps for result in step.results]
    return sum(result.error is not None and result.action == action for result in results)


def refuse_standstill(steps: Sequence[Step]) -> None:
    """Ends what leads nowhere, long before the limit of steps: the page may be broken in this browser alone.

    Raises:
        FormIncomplete: an action was refused for what it was given, which is the same at the next try.
        NothingWorks: in each of the last steps something was tried, and nothing of it worked.
    """
    final = _final(steps)
    if final is not None and final.error is not None:
        keys = final.action.reasoning.removeprefix(ENTER)
        place = f" (the field {final.action.target!r})" if final.action.target else ""
        message = f"{keys}{place}: {final.error.message}. It is not tried again, and nothing was sent"
        raise FormIncomplete(message, fields=keys.split(", "))
    last = steps[-_MOST_FAILED:]
    errors = [result.error for step in last for result in step.results]
    if len(last) == _MOST_FAILED and all(step.results for step in last) and errors[-1] and all(errors):
        raise NothingWorks(f"nothing worked in {_MOST_FAILED} steps on {last[-1].url}; at last: {errors[-1].message}")
