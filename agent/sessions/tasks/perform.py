"""A step of a session: the actions of one decision, each done and told."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from shoal.agent.actions.sending import clicks, presses_enter
from shoal.agent.errors import (
    ActionInvalid,
    ActionRefused,
    ElementMissing,
    FormIncomplete,
    HelpMissing,
    SampleSendsNothing,
    SiteNotSentTo,
    SiteRefused,
    UnsureAction,
)
from shoal.agent.models.decisions.expectation import changed_page, holds, took_place
from shoal.agent.models.decisions.step import StepDecision, typed_by
from shoal.agent.redaction.redactor import revealed
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.sessions.field_places import ActedPlaces, acted_bid, acted_places
from shoal.agent.sessions.loops.sample import sends_form
from shoal.agent.sessions.once import page_of
from shoal.agent.sessions.tasks.unrepeatable import begin_mark, confirm_mark, is_heard, lift_mark, must_not_repeat
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.support.sites.prospect import Prospect, Unchosen
from shoal.agent.types import Action, ActionResult, Effect, Step

_FINAL_ACTIONS = frozenset({"complete", "terminate", "answer", "report_infeasible"})

_MOST_TOLD = 5
"""Fields that are told of a form that is not sent."""
_TOLD_CHARS = 60
"""Of a field's name, its text and one option so much is told."""
NOTHING_DONE = frozenset({HelpMissing.code, ActionInvalid.code, ActionRefused.code, SiteRefused.code})
"""Errors of actions that were not begun."""
_PUSHED_S, _PUSHING_S = 0.5, 1.5
"""Seconds that a page is to be quiet before an expected change counts as missing, and the longest wait for that:
servers push what an action brought about. A call of the model takes longer.
"""


async def take_step(
    attempt: Attempt, decision: StepDecision, steps: list[Step], started: float
) -> tuple[Step, Action | None]:
    """Acts on a decision that was begun at `started`; the action that ends the task, if one did."""
    url = attempt.page.url
    prompt = await attempt.evidence.keep_prompt(decision.prompt)
    shot = await attempt.evidence.photograph() if attempt.work.spec.artifacts.screenshots == "all" else None
    places = await acted_places(attempt.page, decision.actions) if shot is not None else ActedPlaces()
    if any(action.submits for action in decision.actions):
        await attempt.evidence.note_page(has_picture=shot is not None)
    begun = Step(len(steps), url, decision.thought, (), shot, prompt, before=decision.before, at=utc_now())
    attempt.learning_evidence.begin(begun.index, shot)
    done, final = await _act(attempt, decision.actions, steps, begun)
    results = [replace(result, box=places.boxes.get(acted_bid(result.action))) for result in done]
    await attempt.evidence.keep_downloads()
    errors = await attempt.evidence.page_errors()
    seconds = round(time.monotonic() - started, 4)
    return replace(begun, results=tuple(results), seconds=seconds, page_errors=errors, shows=places.shows), final


async def _act(
    attempt: Attempt, actions: tuple[Action, ...], steps: list[Step], begun: Step
) -> tuple[list[ActionResult], Action | None]:
    """Runs actions in order, until one fails, opens another page, or ends the task."""
    results: list[ActionResult] = []
    for action in actions:
        if action.name in _FINAL_ACTIONS:
            results.append(ActionResult(action, effect=Effect()))
            return results, action
        once = await must_not_repeat(attempt, action)
        if attempt.is_sample and sends_form(action, begun.before, once=once):
            raise SampleSendsNothing(f"a sample sends no form: it ended before {attempt.name_of(action)}")
        attempt.sent = attempt.sent or action.submits
        results.append(await perform(attempt, replace(action, submits=action.submits or once), once=once))
        if attempt.begun:
            await confirm_mark(attempt, (*steps, replace(begun, results=tuple(results))))
        if (last := results[-1]).error is not None or last.effect.url is not None or last.effect.new_tab:
            break  # what follows was decided for another page
    return results, None


async def turn_page(attempt: Attempt, action: Action) -> ActionResult:
    """Runs an action by which a policy collects a list.

    Where the caller says that nothing may be repeated, one that may send is marked like any other. Otherwise a list
    is collected anew after a crash: what brings its next items is taken for no sending.
    """
    once = attempt.work.spec.repeatable is False and await must_not_repeat(attempt, action)
    result = await perform(attempt, action, once=once)
    if attempt.begun:
        await confirm_mark(attempt, ())
    return result


async def perform(attempt: Attempt, action: Action, *, once: bool) -> ActionResult:
    """Runs one action; one that must not be repeated is marked in the store before.

    Raises:
        UnsureAction: an earlier attempt did such an action on this very page. Its browser is gone, and what the
            page shows now need not be what became of it.
    """
    whole = replace(action, args=_addressed(attempt, action, dict(action.args)))
    prospect = await _prospect(attempt, whole)
    if prospect is not None and (refused := attempt.sites.refusal(whole, prospect)) is not None:
        attempt.kept_off = refused
        return ActionResult(action, refused.info(), Effect())
    proving: Sequence[Unchosen] = ()
    if prospect is not None and await _may_send(attempt, whole, prospect):
        proving = prospect.unchosen
        reason = unsent([field for field in proving if not field.kept], attempt.state.hidden.redacted_text)
        held = attempt.hold_back(prospect, FormIncomplete(attempt.state.hidden.sentence(reason)) if reason else None)
        if held is not None:
            return ActionResult(action, held.info(), Effect())
    resolved = await revealed(action, attempt.page, attempt.deps.secrets.resolve)
    if once:
        name = attempt.name_of(action)
        if page_of(name) in attempt.lost_pages:
            raise UnsureAction(f"an earlier attempt did {attempt.confirmed[-1]}; {name} could repeat it")
        await begin_mark(attempt, action)
    for name, value in resolved.items():
        attempt.state.hidden.learn(action.args[name], value)
    attempt.state.pages.note_typed(typed_by(action))
    attempt.sites.note(resolved)
    noted = await attempt.learning_evidence.before(action)
    secret = any(value != action.args[name] for name, value in resolved.items())
    with attempt.attendance.filling(secret, in_frame=str(action.args.get("bid", ""))[:1].isalpha()):
        done = await attempt.page.act(replace(action, args=_addressed(attempt, action, resolved)), proving=proving)
    result = attempt.state.hidden.result(replace(done, action=replace(action, detail="")))
    if result.error is not None and result.error.code == SiteNotSentTo.code:
        attempt.kept_off = SiteNotSentTo(result.error.message)
    if prospect is not None and result.error is not None and result.error.code == FormIncomplete.code:
        attempt.hold_back(prospect, FormIncomplete(result.error.message))
    attempt.note_move(result)
    attempt.learning_evidence.after(result, noted)
    if result.error is not None and result.error.code in NOTHING_DONE:
        await lift_mark(attempt)
    if result.error is not None and result.error.code == HelpMissing.code:
        raise HelpMissing(result.error.message)  # the page will not go on by itself
    return result


def _addressed(attempt: Attempt, action: Action, args: dict[str, Json]) -> dict[str, Json]:
    """The arguments with an address as the page had it: who decides was shown a reference for a secret in it."""
    if action.name != "goto" or not isinstance(url := args.get("url"), str):
        return args
    return args | {"url": attempt.state.hidden.restored(url, attempt.deps.secrets.resolve)}


async def _prospect(attempt: Attempt, action: Action) -> Prospect | None:
    """Return what the action would reach; None where that need not be known."""
    if not attempt.sites.asks(action):
        return None
    try:
        return await attempt.page.prospect(action)
    except ElementMissing:
        return None  # the action fails before it does anything


async def _may_send(attempt: Attempt, action: Action, prospect: Prospect) -> bool:
    """Return whether the action may send what the fields hold, as far as can be told:
    whether it may be repeated or not.
    """
    if presses_enter(action):
        return True
    if not clicks(action) or not (prospect.sends or prospect.presses):
        return False
    return prospect.sends or action.submits or await is_heard(attempt, action)


def unsent(unchosen: Sequence[Unchosen], hide: Callable[[str], str]) -> str:
    """Why a form with these fields is not sent: what was typed is none of their options; "" where there are none.

    Args:
        hide: takes secrets out of a text. Half of one could not be told from other text, so no text is cut before.
    """
    if not unchosen:
        return ""

    def clipped_text(text: str) -> str:
        text = hide(text)
        return text if len(text) <= _TOLD_CHARS else f"{text[: _TOLD_CHARS - 1]}…"

    def reason_for(field: Unchosen) -> str:
        name, text = clipped_text(field.name), repr(clipped_text(field.text))
        options = ", ".join(map(clipped_text, field.options)) or "none"
        if field.holds is not None:
            return f"{name} let go of {text} and holds {clipped_text(field.holds)!r} (its options are: {options})"
        return f"{name} holds {text}, which is none of its options (there are: {options})"

    reasons = "; ".join(map(reason_for, unchosen[:_MOST_TOLD]))
    more = f", and {left} more fields" if (left := len(unchosen) - _MOST_TOLD) > 0 else ""
    return f"{reasons}{more}. Nothing was sent: choose one of the options, or empty the field"


async def came_true(attempt: Attempt, decision: StepDecision, step: Step) -> bool:
    """Return whether all actions worked and the page shows now what they were to bring about."""
    then_done = decision.then_done
    if then_done is None or len(step.results) < len(decision.actions) or any(r.error for r in step.results):
        return False
    if then_done.acted:
        return took_place(step.results)
    if then_done.beyond_view and not changed_page(step.results):
        return False
    if holds(then_done, await attempt.state.observe()):
        return True
    await attempt.page.settle(quiet_s=_PUSHED_S, budget_s=_PUSHING_S)
    return holds(then_done, await attempt.state.observe())
