"""What a site answers to a form: thanks, a complaint, a further page, or nothing yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.decisions.step import StepDecision
from shoal.agent.errors import FormIncomplete, FormRefused
from shoal.agent.policies.rules.forms.assignment import Detail, assign, choose_form
from shoal.agent.policies.rules.forms.entering import actions_for
from shoal.agent.policies.rules.forms.form import FormPage
from shoal.agent.policies.rules.forms.trail import SEND, entered, is_sending
from shoal.agent.policies.rules.values.vocabulary import COMMON_WORDS, CRITERION_FILLER, THANKS
from shoal.agent.policies.rules.values.words import phrase, squash
from shoal.agent.types import Action, Step

_MAX_SENDS = 12  # pages of one form
_SHARE = 0.25  # of a code's words that a complaint has to hold
_MAX_LOOKS = 3  # looks at a page that neither confirms nor complains


def judge(
    page: FormPage,
    steps: Sequence[Step],
    sent: int,
    details: Sequence[Detail],
    error_codes: Mapping[str, str],
    criterion: str | None,
    may_terminate: bool,
) -> StepDecision | None:
    """What the page says to what was sent: done, refused, or None to go on filling in."""
    final = any(result.action.reasoning == SEND for result in steps[sent].results)
    looks = len(steps) - sent - 1
    same_form = steps[sent].url == page.url and choose_form(page, details) is not None
    complaints = _complaints(page, same_form)
    if complaints:
        return _refusal(complaints, error_codes, may_terminate)
    if not final:
        if sum(is_sending(step) for step in steps) > _MAX_SENDS:
            raise FormIncomplete("the form goes on and on")
        return None
    thanked = _thanks(page)
    if criterion and not _holds(criterion, page.text):
        if looks < _MAX_LOOKS:
            return StepDecision("the page does not show yet what it has to show in the end", ())
        raise FormIncomplete(f"the form was sent, but the page does not show: {criterion}")
    if _another_page(page, details, steps):
        return None
    if not same_form or thanked or criterion:
        return StepDecision("the form was sent and the page complains of nothing", (Action("complete"),))
    if looks < _MAX_LOOKS:
        return StepDecision("the page neither confirms nor complains yet", ())
    raise FormIncomplete("the form was sent, but the page neither confirms nor complains; it may have been taken")


def _another_page(page: FormPage, details: Sequence[Detail], steps: Sequence[Step]) -> bool:
    """Whether the page asks for details that were not entered yet: what looked final was not the last page."""
    if sum(is_sending(step) for step in steps) > _MAX_SENDS:
        return False
    left = [one for one in details if one.key not in entered(steps)]
    form = choose_form(page, left) if left else None
    if form is None:
        return False
    places = assign([one for one in page.fields if one.form == form], left)
    return any(actions_for(one, {}) for one in places)


@dataclass(frozen=True, slots=True)
class Complaint:
    """One message that says what is wrong."""

    text: str
    field: str = ""  # label of the field concerned


def _complaints(page: FormPage, same_form: bool) -> list[Complaint]:
    """What the page says against what was sent; the browser's own checks count only while the form is still there."""
    found = []
    for one in page.fields:
        if one.error:
            found.append(Complaint(one.error, one.label or one.name))
        elif one.invalid:
            found.append(Complaint(f"{one.label or one.name} is marked as invalid", one.label or one.name))
        elif same_form and one.native_error:
            found.append(Complaint(one.native_error, one.label or one.name))
    told = {squash(one.text) for one in found}
    for message in page.messages:
        bad = message.kind == "error" or (message.kind == "alert" and not _says_thanks(message.text))
        if bad and squash(message.text) not in told:
            found.append(Complaint(message.text))
    return found


def _refusal(complaints: Sequence[Complaint], error_codes: Mapping[str, str], may_terminate: bool) -> StepDecision:
    """Ends the task with the caller's codes that the complaints mean; the same values are never sent twice.

    Raises:
        FormRefused: no code of the caller's fits.
    """
    said = "; ".join(f"{one.field}: {one.text}" if one.field else one.text for one in complaints)
    codes = match_codes(complaints, error_codes)
    if codes and may_terminate:
        return StepDecision("the site refuses the form", (Action("terminate", {"reason": said, "errors": codes}),))
    raise FormRefused(f"the form was not accepted: {said}", fields=[one.field for one in complaints if one.field])


def match_codes(complaints: Sequence[Complaint], error_codes: Mapping[str, str]) -> list[str]:
    """The caller's codes that the complaints mean, by the words of their meanings; best first, none twice."""
    scored: dict[str, float] = {}
    for complaint in complaints:
        said = set(phrase(complaint.text)) - _COMMON
        field = set(phrase(complaint.field)) - _COMMON
        best: tuple[float, str] = (0.0, "")
        for code, meaning in error_codes.items():
            meant = set(phrase(meaning)) | set(phrase(code))
            meant -= _COMMON
            common = len(meant & said) + 0.8 * len(meant & (field - said))
            score = common / (len(meant) ** 0.5 or 1.0)
            if common >= 1 and common >= _SHARE * len(meant) and score > best[0]:
                best = (score, code)
        if best[1]:
            scored[best[1]] = max(scored.get(best[1], 0.0), best[0])
    return sorted(scored, key=lambda code: -scored[code])


_COMMON = frozenset(phrase(" ".join(COMMON_WORDS)))


def _thanks(page: FormPage) -> bool:
    return any(one.kind == "success" or _says_thanks(one.text) for one in page.messages) or _says_thanks(
        f"{page.heading} {page.text[:3000]}"
    )


_THANKS = tuple(squash(text) for text in THANKS)


def _says_thanks(text: str) -> bool:
    said = f" {' '.join(re.sub(r'[^a-z0-9 ]+', ' ', squash(text)).split())} "
    return any(f" {one} " in said for one in _THANKS)


def _holds(criterion: str, text: str) -> bool:
    """Whether the page shows what the criterion says: what it quotes, else most of its words."""
    quoted = re.findall(r"[\"“”'‘’«»]([^\"“”'‘’«»]{3,})[\"“”'‘’«»]", criterion)
    shown = squash(text)
    if quoted:
        return all(squash(one) in shown for one in quoted)
    words = set(phrase(criterion)) - _COMMON - _CRITERION_WORDS
    there = set(phrase(text))
    return bool(words) and len(words & there) >= 0.5 * len(words)


_CRITERION_WORDS = frozenset(phrase(" ".join(CRITERION_FILLER)))
