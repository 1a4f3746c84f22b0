"""Filling in a form: what to do next on the way to a sent form, without inventing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.agent.decisions.step import StepDecision
from shoal.agent.errors import FormIncomplete
from shoal.agent.policies.rules.forms.assignment import Detail, assign, choose_form, details_of, slots_of
from shoal.agent.policies.rules.forms.entering import actions_for, is_waiting
from shoal.agent.policies.rules.forms.form import Entry, FormField, FormPage, leads_on, sending_button
from shoal.agent.policies.rules.forms.outcome import judge
from shoal.agent.policies.rules.forms.trail import ON, SEND, entered, entered_here, idle_looks, last_sending, was_sent
from shoal.agent.policies.rules.overlays import dismissal
from shoal.agent.types import Action, Step

Json = Any

_MAX_LOOKS = 2  # at a choice that another one has to bring


def decide_filling(
    page: FormPage,
    data: Mapping[str, Json],
    steps: Sequence[Step],
    *,
    error_codes: Mapping[str, str],
    criterion: str | None,
    may_terminate: bool = True,
) -> StepDecision:
    """The next actions on the way to a sent form.

    Raises:
        FormIncomplete: no form, a required field without a detail, or an answer that is no success.
    """
    closing = dismissal(page, steps)
    if closing is not None:
        return StepDecision("something covers the page", (closing,))
    details = details_of(data)
    sent = last_sending(steps)
    if sent is not None:
        verdict = judge(page, steps, sent, details, error_codes, criterion, may_terminate)
        if verdict is not None:
            return verdict
    return _fill_or_send(page, details, steps, after_page=sent is not None)


def _fill_or_send(
    page: FormPage, details: Sequence[Detail], steps: Sequence[Step], *, after_page: bool
) -> StepDecision:
    form = choose_form(page, details)
    if form is None and not after_page:
        raise FormIncomplete("the page shows no form that any of the details fits", fields=[one.key for one in details])
    fields = [one for one in page.fields if one.form == form] if form is not None else []
    plan = assign(fields, details)
    counts = entered_here(steps)
    actions = [action for one in plan for action in actions_for(one, counts)]
    if actions:
        return StepDecision(f"{len(actions)} fields have to be filled in", tuple(actions))
    waiting = [one for one in plan if is_waiting(one)]
    if waiting and idle_looks(steps) < _MAX_LOOKS:
        return StepDecision("a choice is not there yet", ())
    _refuse_gaps(fields, plan, waiting)
    button = sending_button(page, form if form is not None else _only_form(page))
    if button is None:
        raise FormIncomplete("the form has no button that clearly sends it")
    unused = sorted({one.key for one in details} - {key for one in plan for key in one.keys} - entered(steps))
    onwards = leads_on(button)
    if after_page and not onwards and was_sent(steps) and form is not None:
        raise FormIncomplete("the form was sent and is still there; it is not sent twice")
    thought = "all that this page asks for is filled in"
    if unused and not onwards:
        thought += f"; the form has no place for: {', '.join(unused)}"
    return StepDecision(thought, (Action("click", {"bid": button.bid}, ON if onwards else SEND, submits=not onwards),))


def _only_form(page: FormPage) -> int:
    """The form of a page that only has to be confirmed."""
    forms = {one.form for one in page.buttons if one.submit}
    return forms.pop() if len(forms) == 1 else -1


def _refuse_gaps(fields: Sequence[FormField], plan: Sequence[Entry], waiting: Sequence[Entry]) -> None:
    """Raises FormIncomplete naming the details without a choice, and the required fields that nothing fills."""
    if waiting:
        said = ", ".join(f"{one.fields[0].label or one.fields[0].name} ({', '.join(one.keys)})" for one in waiting)
        raise FormIncomplete(f"the form offers no choice that fits: {said}", fields=[one.keys[0] for one in waiting])
    filled = {field.bid for one in plan for field in one.fields}
    gaps = []
    for slot in slots_of(fields):
        first = slot[0]
        if not any(field.required for field in slot) or first.bid in filled or first.disabled:
            continue
        if first.kind in ("radio", "checkbox"):
            empty = not any(field.checked for field in slot)
        elif first.kind == "select":
            empty = not any(selected and value for _, value, selected in first.options)
        else:
            empty = not first.value
        if empty:
            gaps.append(first.group if first.kind == "radio" and first.group else first.label or first.name)
    if gaps:
        raise FormIncomplete(f"the form requires what the data does not give: {', '.join(gaps)}", fields=gaps)
