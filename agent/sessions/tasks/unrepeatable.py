"""The mark of an action that must not be repeated: set in the store before it, confirmed after it."""

from __future__ import annotations

from dataclasses import replace

from shoal.agent.actions.sending import sends
from shoal.agent.errors import ElementMissing
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.types import Action, Checkpoint, Step


async def must_not_repeat(attempt: Attempt, action: Action) -> bool:
    """Return whether the action may send something, in a job whose actions must not run twice."""
    if attempt.work.spec.may_repeat or attempt.logging_in:
        return False
    if action.submits or (sending := sends(action)) == "always":
        return True
    if sending == "never":
        return False
    return await is_heard(attempt, action)


async def is_heard(attempt: Attempt, action: Action) -> bool:
    """Return whether the page may send something when it hears of the action: it is not proven that it does not."""
    try:
        return not await attempt.page.harmless(action)
    except ElementMissing:
        return False  # the action fails before it does anything


async def begin_mark(attempt: Attempt, action: Action) -> None:
    """Has the store know that this action begins, and must not be repeated."""
    name = attempt.name_of(action)
    await attempt.deps.journal.checkpoint(replace(await attempt.snapshot(), pending_action=name), durable=True)
    attempt.begun = name


async def lift_mark(attempt: Attempt) -> None:
    """Takes the mark back of an action that did nothing."""
    if attempt.begun:
        await attempt.deps.journal.checkpoint(attempt.saved or Checkpoint(), durable=True)
        attempt.begun = ""


async def confirm_mark(attempt: Attempt, steps: tuple[Step, ...]) -> None:
    """Notes in the store that the marked action took place. A next attempt goes on from here: it knows the steps
    of this task, so that it does not look for the form on the page that thanks for it."""
    attempt.confirmed = (*(mark for mark in attempt.confirmed if mark != attempt.begun), attempt.begun)
    done = replace(await attempt.snapshot(), steps=steps)
    await attempt.deps.journal.checkpoint(done, durable=True)
    attempt.saved = done
    attempt.begun = ""
