"""Overlays of a page, and closing them: gently, and only when they are in the way."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.policies.rules.forms.form import FormPage
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.word_lists.page_words import DISMISS
from shoal.agent.types import Action, Step

DISMISSAL = "close what covers the page"
_MAX_DISMISSALS = 3

_CLOSERS = tuple(frozenset(squash(text) for text in group) for group in DISMISS)


def closing_label(page: FormPage) -> str:
    """Return what the gentlest button is called that closes a banner over the page; "" when nothing is in the way."""
    if page.overlay is None or page.overlay.fields:
        return ""
    for group in _CLOSERS:
        for label in page.overlay.buttons:
            text = squash(label)
            if text in group or any(text.startswith(closer + " ") for closer in group if len(closer) > 4):
                return label
    return ""


def dismissal(page: FormPage, steps: Sequence[Step]) -> Action | None:
    label = closing_label(page)
    tried = sum(result.action.reasoning == DISMISSAL for step in steps for result in step.results)
    if not label or tried >= _MAX_DISMISSALS:
        return None
    button = next((candidate for candidate in page.buttons if squash(candidate.label) == squash(label)), None)
    return Action("click", {"bid": button.bid}, DISMISSAL) if button is not None else None
