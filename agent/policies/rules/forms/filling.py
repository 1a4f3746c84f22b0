"""Filling in a form: what to do next on the way to a sent form, without inventing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.agent.errors import FormIncomplete
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.rules.forms.answer import before_sending
from shoal.agent.policies.rules.forms.assignment import Detail, assign, details_of, slots_of
from shoal.agent.policies.rules.forms.buttons import sending_button
from shoal.agent.policies.rules.forms.choosing import choose_form, describe, field_names, refused_forms
from shoal.agent.policies.rules.forms.entering import actions_for, is_waiting
from shoal.agent.policies.rules.forms.form import Entry, FormButton, FormField, FormPage, leads_on
from shoal.agent.policies.rules.forms.outcome import FormRequest, judge
from shoal.agent.policies.rules.forms.purpose import form_purpose, is_password, names_of, purposes_in
from shoal.agent.policies.rules.forms.trail import ON, SEND, entered, entered_here, idle_looks, last_sending, was_sent
from shoal.agent.policies.rules.overlays import dismissal
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Step

_MAX_LOOKS = 2  # at a choice or a field that another one has to bring
_PASSWORD = names_of("password")


def decide_filling(
    page: FormPage,
    data: Mapping[str, Json],
    steps: Sequence[Step],
    *,
    goal: str = "",
    error_codes: Mapping[str, str],
    criterion: str | None,
    may_terminate: bool = True,
) -> StepDecision:
    """The next actions on the way to a sent form.

    Raises:
        FormIncomplete: no form, a required field without a detail, a detail without a field, or an answer that is no
            success.
        FormUnclear: several forms or buttons may be meant.
    """
    closing = dismissal(page, steps)
    if closing is not None:
        return StepDecision("something covers the page", (closing,))
    asked = FormRequest(details_of(data), goal, error_codes, criterion, may_terminate)
    sent = last_sending(steps)
    if sent is not None:
        verdict = judge(page, steps, sent, asked)
        if verdict is not None:
            return verdict
    return _fill_or_send(page, asked, steps, after_page=sent is not None)


def _fill_or_send(page: FormPage, asked: FormRequest, steps: Sequence[Step], *, after_page: bool) -> StepDecision:
    details = asked.details
    form = choose_form(page, details, asked.goal)
    if form is None and not after_page:
        if idle_looks(steps) < _MAX_LOOKS:
            return StepDecision("no form is there yet that takes the details", ())
        raise _no_form(page, asked)
    fields = page.fields_of(form) if form is not None else []
    plan = assign(fields, details)
    counts = entered_here(steps)
    actions = [action for entry in plan for action in actions_for(entry, counts, page.lang)]
    if actions:
        return StepDecision(
            "one field has to be filled in" if len(actions) == 1 else f"{len(actions)} fields have to be filled in",
            tuple(actions),
        )
    waiting = [entry for entry in plan if is_waiting(entry)]
    if waiting and idle_looks(steps) < _MAX_LOOKS:
        return StepDecision("a choice is not there yet", ())
    _refuse_gaps(fields, plan, waiting)
    place = form if form is not None else _only_form(page)
    button = sending_button(page, place, asked.goal)
    if button is None:
        raise FormIncomplete(
            f"the form has no button that clearly sends it: {describe(page, place)}; name its button in `goal`"
        )
    onwards = leads_on(button)
    if after_page and not onwards and was_sent(steps) and form is not None:
        raise FormIncomplete("the form was sent and is still there; it is not sent twice")
    left = [
        detail for detail in details if detail.key not in {key for entry in plan for key in entry.keys} | entered(steps)
    ]
    unused = _unplaced(page, place, button, left, asked.goal)
    if unused and idle_looks(steps) < _MAX_LOOKS:
        return StepDecision(f"no field is there yet for: {', '.join(unused)}", ())
    if unused:
        raise FormIncomplete(
            f"no field of the form takes: {', '.join(unused)}; its fields are: {field_names(page, place)}. Nothing was "
            "sent. Leave these keys out of `data`, or name them as the form does",
            fields=unused,
        )
    click = Action("click", {"bid": button.bid}, ON if onwards else SEND, submits=not onwards)
    return StepDecision(
        "all that this page asks for is filled in", (click,), before=before_sending(page, place, details, plan)
    )


def _no_form(page: FormPage, asked: FormRequest) -> FormIncomplete:
    """Why nothing is filled in, with the forms that there are."""
    keys = [detail.key for detail in asked.details]
    others = refused_forms(page, asked.details, asked.goal)
    if others:
        reason = (
            f"no form of the page is for the goal {asked.goal!r}" if asked.goal else "the forms are for something else"
        )
        hint = "name in `goal` what the form does, or start on the page of the right form"
        return FormIncomplete(f"{reason}: {others}; {hint}", fields=keys)
    forms = [describe(page, form) for form in dict.fromkeys(field.form for field in page.fields)]
    there = f"its forms are: {'; '.join(forms[:6])}" if forms else "it shows no field at all"
    return FormIncomplete(f"the page shows no form that takes any of: {', '.join(keys)}; {there}", fields=keys)


def _unplaced(page: FormPage, form: int, button: FormButton, left: Sequence[Detail], goal: str) -> list[str]:
    """The details that neither this page of the form nor, as far as can be told, a later one takes."""
    asked = [detail for detail in left if detail.value not in (False, "", [])]
    if leads_on(button):
        return []
    if form_purpose(page, form) == "login" or "login" in purposes_in(goal):
        if purposes_in(goal) - {"login"}:
            return []  # the rest is for the form behind the login
        if not any(map(is_password, page.fields_of(form))):
            # The next page asks for the password.
            asked = [detail for detail in asked if not set(detail.names) & _PASSWORD]
    return sorted(detail.key for detail in asked)


def _only_form(page: FormPage) -> int:
    """The form of a page that only has to be confirmed."""
    forms = {button.form for button in page.buttons if button.submit}
    return forms.pop() if len(forms) == 1 else -1


def _refuse_gaps(fields: Sequence[FormField], plan: Sequence[Entry], waiting: Sequence[Entry]) -> None:
    """Raises FormIncomplete naming the details without a choice, and the required fields that nothing fills."""
    if waiting:
        unmatched = "; ".join(map(_without_choice, waiting))
        raise FormIncomplete(
            f"the form offers no choice that fits: {unmatched}", fields=[entry.keys[0] for entry in waiting]
        )
    filled = {field.bid for entry in plan for field in entry.fields}
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
        raise FormIncomplete(
            f"the form requires what the data does not give: {', '.join(gaps)}; add it to `data`", fields=gaps
        )


def _without_choice(entry: Entry) -> str:
    name = entry.fields[0].label or entry.fields[0].name
    labels = [label for label, _, _ in entry.fields[0].options if label][:10]
    return f"{name} ({', '.join(entry.keys)})" + (f", it offers: {', '.join(labels)}" if labels else "")
