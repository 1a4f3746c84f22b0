"""Which of a form's buttons sends it for the goal."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.errors import FormUnclear
from shoal.agent.policies.rules.forms.form import FormButton, FormPage, leads_on, sending_buttons
from shoal.agent.policies.rules.forms.form_words import OWN_EFFECT
from shoal.agent.policies.rules.forms.purpose import purposes_in
from shoal.agent.read.values.phrases import phrase, squash


def sending_button(page: FormPage, form: int, goal: str = "") -> FormButton | None:
    """The button that sends the form or leads on in it; None when it has none.

    Raises:
        FormUnclear: several may be meant.
    """
    fitting = sending_buttons(page, form)
    asked = purposes_in(goal)
    if asked & OWN_EFFECT:
        named = [button for button in fitting if purposes_in(button.label) & asked]
        fitting = named or [button for button in fitting if not purposes_in(button.label) & OWN_EFFECT]
    if not fitting:
        return None
    onward = next((button for button in fitting if leads_on(button)), None)
    if onward is not None:  # pages of a form come in order, and sending is last
        return onward
    return _select_by_goal(fitting, goal)


def _select_by_goal(fitting: Sequence[FormButton], goal: str) -> FormButton:
    """Of several buttons that send, the one that the goal names most, else the plainest: "Save" of "Save and close"."""
    goal_words = set(phrase(goal))
    shared = {button.bid: len(set(button.words) & goal_words) for button in fitting}
    most = max(shared.values())
    named = [button for button in fitting if shared[button.bid] == most]
    fewest = min(len(button.words) for button in named)
    plain = [button for button in named if len(button.words) == fewest]
    if len({squash(button.label) for button in plain}) > 1:
        labels = ", ".join(repr(button.label) for button in plain)
        raise FormUnclear(
            f"the form has several buttons that may send it: {labels}; say in `goal` which is meant, by its words",
            buttons=[button.label for button in plain],
        )
    return plain[0]
