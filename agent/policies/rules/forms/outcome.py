"""The answer of a site to a form: thanks, a complaint, a further page, or nothing yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.agent.errors import FormIncomplete, FormRefused
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.rules.forms.answer import FormAnswer, answer_of, is_confirmation, is_refusal
from shoal.agent.policies.rules.forms.assignment import Detail, assign
from shoal.agent.policies.rules.forms.choosing import choose_form
from shoal.agent.policies.rules.forms.entering import actions_for
from shoal.agent.policies.rules.forms.form import FormField, FormNotice, FormPage
from shoal.agent.policies.rules.forms.trail import SEND, entered, is_sending
from shoal.agent.read.values.phrases import phrase, squash
from shoal.agent.read.word_lists.form_vocabulary import COMMON_WORDS, CRITERION_FILLER
from shoal.agent.types import Action, Step

_MAX_SENDS = 12  # pages of one form
_MAX_SAME = 3  # times that a page which does not go on is sent
_SHARE = 0.25  # of a code's words that a complaint has to hold
_MAX_LOOKS = 3  # looks at a page that neither confirms nor complains


@dataclass(frozen=True, slots=True)
class FormRequest:
    """The job's details and goal for a form."""

    details: Sequence[Detail]
    goal: str = ""
    error_codes: Mapping[str, str] = field(default_factory=dict)
    criterion: str | None = None  # what the page shows in the end
    may_terminate: bool = True


def judge(page: FormPage, steps: Sequence[Step], sent: int, asked: FormRequest) -> StepDecision | None:
    """Return what the page says to what was sent:
    done, refused, or None to go on filling in.

    Raises:
        FormRefused: the site says that it did not take the form.
        FormIncomplete: nothing tells what became of it.
    """
    final = any(result.action.reasoning == SEND for result in steps[sent].results)
    looks = len(steps) - sent - 1
    answer = answer_of(page, steps[sent].before, steps[sent].url)
    complaints = _complaints(answer)
    if complaints:
        return _refusal(complaints, asked.error_codes, asked.may_terminate)
    if not final:
        _refuse_circles(steps)
        return None
    if asked.criterion and not _holds(asked.criterion, page.text):
        if looks < _MAX_LOOKS:
            return StepDecision("the page does not show yet what it has to show in the end", ())
        raise _unknown(answer, f"but the page does not show: {asked.criterion}")
    if _another_page(page, asked, steps):
        return None
    reason = "the page shows what it has to show" if asked.criterion else _success(answer, asked.details, looks)
    if reason:
        _refuse_left(asked.details, steps)
        return StepDecision(f"the form was sent: {reason}", (Action("complete"),))
    if looks < _MAX_LOOKS:
        return StepDecision("the page neither confirms nor complains yet", ())
    raise _unknown(answer, "but the page neither confirms nor complains")


def _success(answer: FormAnswer, details: Sequence[Detail], looks: int) -> str:
    """By what the page tells that the form was taken; "" where nothing tells it."""
    page = answer.page
    if answer.is_confirmed():
        return "the page confirms it"
    if page.busy or not page.text.strip():
        return ""
    if answer.navigated and page.status >= 400:
        return ""
    if not answer.same_form and (answer.navigated or answer.before is None or looks > 0):
        return "the form is gone and the page complains of nothing"
    if answer.shows_entered(details):
        return "the page shows what was entered"
    if answer.navigated and answer.before is not None and answer.before.method == "get":
        return "the page with its answer is open"
    return ""


def _unknown(answer: FormAnswer, why: str) -> FormIncomplete:
    """The form was sent and nothing tells what became of it."""
    signs = [f"the form is {'still there' if answer.same_form else 'gone'}"]
    if answer.navigated and answer.page.status >= 400:
        signs.append(f"the site answered with HTTP {answer.page.status}")
    new = [message.text for message in answer.messages][:2]
    signs += [f"new on the page: {' / '.join(new)}"] if new else []
    hint = "say in `complete_criterion` what the page shows when the form was taken"
    return FormIncomplete(f"the form was sent, {why}; it may have been taken ({'; '.join(signs)}); {hint}")


def _refuse_circles(steps: Sequence[Step]) -> None:
    """Ends a form that does not go on, or never ends."""
    onwards = [step for step in steps if is_sending(step)]
    if len(onwards) > _MAX_SENDS:
        raise FormIncomplete(f"the form goes on and on: {_MAX_SENDS} of its pages were filled in")
    last = [step.before for step in onwards[-_MAX_SAME:]]
    if len(last) == _MAX_SAME and last[0] is not None and all(before == last[0] for before in last):
        raise FormIncomplete(
            f"the form does not go on: its button was pressed {_MAX_SAME} times and the page stayed as it was; "
            "look at the screenshot for what it asks"
        )


def _refuse_left(details: Sequence[Detail], steps: Sequence[Step]) -> None:
    """Ends with an error where details are left that no page took."""
    if all(step.before is None for step in steps):
        return  # an attempt of an earlier version: it is not known what stood in the fields
    left = sorted(
        {detail.key for detail in details if detail.value not in (False, "", [])} - entered(steps) - _right(steps)
    )
    if left:
        raise FormIncomplete(
            f"the form was sent and taken, but no field on any of its pages took: {', '.join(left)}; "
            "leave these keys out of `data`, or give the next form a job of its own",
            fields=left,
        )


def _right(steps: Sequence[Step]) -> set[str]:
    """The details that stood in their fields already when a form was sent."""
    return {key for step in steps if step.before is not None for key in step.before.placed}


def _another_page(page: FormPage, asked: FormRequest, steps: Sequence[Step]) -> bool:
    """Return whether the page asks for details that were not entered yet: what looked final was not the last page."""
    if sum(is_sending(step) for step in steps) > _MAX_SENDS:
        return False
    left = [detail for detail in asked.details if detail.key not in entered(steps) | _right(steps)]
    form = choose_form(page, left, asked.goal) if left else None
    if form is None:
        return False
    places = assign(page.fields_of(form), left)
    return any(actions_for(place, {}, page.lang) for place in places)


@dataclass(frozen=True, slots=True)
class Complaint:
    """One message that says what is wrong."""

    text: str
    field: str = ""  # label of the field concerned


def _complaints(answer: FormAnswer) -> list[Complaint]:
    """Return what the page says against what was sent, and the page before did not say."""
    complaints = [complaint for part in answer.fields if (complaint := _field_complaint(part, answer)) is not None]
    texts = {squash(complaint.text) for complaint in complaints}
    for message in answer.messages:
        if _is_complaint(message, answer) and not any(squash(message.text) in text for text in texts):
            complaints.append(Complaint(message.text))
            texts.add(squash(message.text))
    if complaints or not answer.navigated:
        return complaints
    heading = answer.page.heading
    if answer.page.status in _REFUSING:
        return [Complaint(f"{heading} (HTTP {answer.page.status})".strip())]
    if heading and not answer.same_form and answer.is_new(heading) and is_refusal(heading):
        return [Complaint(heading)]
    return []


_REFUSING = frozenset({400, 401, 403, 409, 413, 415, 422, 429})
"""HTTP statuses by which a site says that it did not do what it was asked for."""


def _field_complaint(part: FormField, answer: FormAnswer) -> Complaint | None:
    """Return what is said beside a field; the browser's own checks count only while nothing was sent."""
    name = part.label or part.name
    if part.error and answer.is_new(part.error):
        return Complaint(part.error, name)
    if part.invalid:
        return Complaint(f"{name} is marked as invalid", name)
    if part.native_error and not answer.navigated:
        return Complaint(part.native_error, name)
    return None


def _is_complaint(message: FormNotice, answer: FormAnswer) -> bool:
    """Return whether a new message says that the form was not taken.

    While the form is there, what is marked as an error is one. On another page much else may be marked so: a button
    that deletes, a badge, a row of a table. There its words have to say it.
    """
    if message.kind in ("success", "status") and not is_refusal(message.text):
        return False
    if not answer.same_form:
        loud = message.kind in ("error", "alert") and not message.aside
        return loud and is_refusal(message.text) and not is_confirmation(message.text)
    if message.kind == "error":
        return not message.aside or is_refusal(message.text)
    if message.kind == "alert":
        return not is_confirmation(message.text)
    return is_refusal(message.text) and not is_confirmation(message.text) and not message.aside


def _refusal(complaints: Sequence[Complaint], error_codes: Mapping[str, str], may_terminate: bool) -> StepDecision:
    """Ends the task with the caller's codes that the complaints mean; the same values are never sent twice.

    Raises:
        FormRefused: no code of the caller's fits.
    """
    reason = "; ".join(
        f"{complaint.field}: {complaint.text}" if complaint.field else complaint.text for complaint in complaints
    )
    codes = match_codes(complaints, error_codes)
    if codes and may_terminate:
        return StepDecision("the site refuses the form", (Action("terminate", {"reason": reason, "errors": codes}),))
    raise FormRefused(
        f"the form was not accepted: {reason}", fields=[complaint.field for complaint in complaints if complaint.field]
    )


def match_codes(complaints: Sequence[Complaint], error_codes: Mapping[str, str]) -> list[str]:
    """The caller's codes that the complaints mean, by the words of their meanings; best first, none twice."""
    scored: dict[str, float] = {}
    for complaint in complaints:
        words = set(phrase(complaint.text)) - _COMMON
        field = set(phrase(complaint.field)) - _COMMON
        best: tuple[float, str] = (0.0, "")
        for code, meaning in error_codes.items():
            meant = set(phrase(meaning)) | set(phrase(code))
            meant -= _COMMON
            common = len(meant & words) + 0.8 * len(meant & (field - words))
            score = common / (len(meant) ** 0.5 or 1.0)
            if common >= 1 and common >= _SHARE * len(meant) and score > best[0]:
                best = (score, code)
        if best[1]:
            scored[best[1]] = max(scored.get(best[1], 0.0), best[0])
    return sorted(scored, key=lambda code: -scored[code])


_COMMON = frozenset(phrase(" ".join(COMMON_WORDS)))


def _holds(criterion: str, text: str) -> bool:
    """Return whether the page shows what the criterion says: what it quotes, else most of its words."""
    quoted = re.findall(r"[\"“”'‘’«»]([^\"“”'‘’«»]{3,})[\"“”'‘’«»]", criterion)
    shown = squash(text)
    if quoted:
        return all(squash(quote) in shown for quote in quoted)
    words = set(phrase(criterion)) - _COMMON - _CRITERION_WORDS
    there = set(phrase(text))
    return bool(words) and len(words & there) >= 0.5 * len(words)


_CRITERION_WORDS = frozenset(phrase(" ".join(CRITERION_FILLER)))
