"""Filling in a form: which detail belongs into which field, what to do next, and whether the site took it.

The state of the work is the history of its steps: each action's reason names the detail that it enters (never its
value), so that nothing has to be remembered between two looks at the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.errors import FormIncomplete
from agent.policies.rules.form import FormButton, FormField, FormPage, bare, leads_on, sending_button
from agent.policies.rules.values import decimal_of, number_tokens, read_boolean
from agent.policies.rules.vocabulary import CONFIRM_WORDS, DISMISS, FORM_NAMES, THANKS
from agent.policies.rules.words import Phrase, phrase, squash
from agent.step import StepDecision
from agent.types import Action, Step

Json = Any

_ENTER = "enter "
_SEND = "send the form"
_ON = "go on to the form's next page"
_DISMISS = "close what covers the page"
_HINT = 0.3  # below this, names have nothing to do with each other
_CERTAIN = 0.8
_ENOUGH = 0.5  # least likeness of a detail's name and a field's
_MAX_SENDS = 12  # pages of one form
_MAX_DISMISSALS = 3
_MAX_LOOKS = 3  # looks at a page that neither confirms nor complains


@dataclass(frozen=True, slots=True)
class Detail:
    """One of the caller's details."""

    key: str  # path in the data, joined by dots
    value: Json

    @property
    def names(self) -> tuple[Phrase, ...]:
        """What it may be called: its key, with its parent, and the synonyms of its key."""
        parts = self.key.split(".")
        own = bare(phrase(parts[-1]))
        with_parent = bare(phrase(" ".join(parts[-2:])))
        same = next((group for group in _SAME if own in group or with_parent in group), ())
        return tuple(dict.fromkeys([own, with_parent, *same]))


_SAME: tuple[tuple[Phrase, ...], ...] = tuple(tuple(bare(phrase(name)) for name in group) for group in FORM_NAMES)
_CONFIRM = frozenset(word for text in CONFIRM_WORDS for word in phrase(text))


def details_of(data: Mapping[str, Json], prefix: str = "") -> list[Detail]:
    """The data as a flat list; objects are opened, nulls left out."""
    found: list[Detail] = []
    for name, value in data.items():
        key = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(value, Mapping):
            found += details_of(value, key)
        elif value is not None:
            found.append(Detail(key, value))
    return found


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
    dismissal = _dismissal(page, steps)
    if dismissal is not None:
        return StepDecision("something covers the page", (dismissal,))
    details = details_of(data)
    sent = _last_sending(steps)
    if sent is not None:
        verdict = _judge(page, steps, sent, details, error_codes, criterion, may_terminate)
        if verdict is not None:
            return verdict
    return _fill_or_send(page, details, steps, after_page=sent is not None)


# --- filling ------------------------------------------------------------------------------------------


def _fill_or_send(
    page: FormPage, details: Sequence[Detail], steps: Sequence[Step], *, after_page: bool
) -> StepDecision:
    form = choose_form(page, details)
    if form is None and not after_page:
        raise FormIncomplete("the page shows no form that any of the details fits", fields=[one.key for one in details])
    fields = [one for one in page.fields if one.form == form] if form is not None else []
    plan = assign(fields, details)
    entered = _entered_here(steps)
    actions = [action for one in plan for action in _actions(one, entered)]
    if actions:
        return StepDecision(f"{len(actions)} fields have to be filled in", tuple(actions))
    _refuse_gaps(fields, plan)
    button = sending_button(page, form if form is not None else _only_form(page))
    if button is None:
        raise FormIncomplete("the form has no button that clearly sends it")
    unused = sorted({one.key for one in details} - {key for one in plan for key in one.keys} - _entered(steps))
    onwards = leads_on(button)
    thought = "all that this page asks for is filled in"
    if unused and not onwards:
        thought += f"; the form has no place for: {', '.join(unused)}"
    return StepDecision(
        thought, (Action("click", {"bid": button.bid}, _ON if onwards else _SEND, submits=not onwards),)
    )


def _only_form(page: FormPage) -> int:
    """The form of a page that only has to be confirmed."""
    forms = {one.form for one in page.buttons if one.submit}
    return forms.pop() if len(forms) == 1 else -1


def choose_form(page: FormPage, details: Sequence[Detail]) -> int | None:
    """The form whose fields take most of the details; None when none takes any."""
    best: tuple[float, int] | None = None
    for form in dict.fromkeys(one.form for one in page.fields):
        fields = [one for one in page.fields if one.form == form]
        score = sum(one.score for one in assign(fields, details))
        if score > 0 and (best is None or score > best[0]):
            best = (score, form)
    return best[1] if best else None


@dataclass(frozen=True, slots=True)
class Assignment:
    """A detail and the field, or the group of buttons, that it belongs into."""

    keys: tuple[str, ...]
    value: Json
    fields: tuple[FormField, ...]
    score: float


def assign(fields: Sequence[FormField], details: Sequence[Detail]) -> list[Assignment]:
    """Which detail goes where: the likeliest pairs first, each detail and each field once; in document order."""
    slots = _slots(fields)
    pairs = sorted(
        ((_likeness(detail, slot), i, j) for i, detail in enumerate(details) for j, slot in enumerate(slots)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    used_details: set[int] = set()
    used_slots: dict[int, Assignment] = {}
    for score, i, j in pairs:
        if score >= _ENOUGH and i not in used_details and j not in used_slots:
            used_details.add(i)
            used_slots[j] = Assignment((details[i].key,), details[i].value, slots[j], score)
    rest = [one for i, one in enumerate(details) if i not in used_details]
    _assign_names(slots, rest, details, used_slots)
    _assign_repeats(slots, used_slots)
    return [used_slots[j] for j in sorted(used_slots)]


def _slots(fields: Sequence[FormField]) -> list[tuple[FormField, ...]]:
    """Fields that take one detail together: the radio buttons, or the checkboxes, of one name."""
    slots: list[list[FormField]] = []
    groups: dict[tuple[str, str], list[FormField]] = {}
    for one in fields:
        if one.kind == "radio" or (one.kind == "checkbox" and one.group and one.name.endswith("[]")):
            key = (one.kind, one.name or one.group)
            if key in groups:
                groups[key].append(one)
                continue
            groups[key] = [one]
            slots.append(groups[key])
        else:
            slots.append([one])
    merged = [tuple(slot) for slot in slots]
    return _merge_same_name(merged)


def _merge_same_name(slots: list[tuple[FormField, ...]]) -> list[tuple[FormField, ...]]:
    """Checkboxes that share a name are one question with several answers."""
    names = [slot[0].name for slot in slots if slot[0].kind == "checkbox" and slot[0].name]
    shared = {name for name in names if names.count(name) > 1}
    out: list[tuple[FormField, ...]] = []
    places: dict[str, int] = {}
    for slot in slots:
        name = slot[0].name
        if slot[0].kind == "checkbox" and name in shared:
            if name in places:
                out[places[name]] += slot
                continue
            places[name] = len(out)
        out.append(slot)
    return out


def _likeness(detail: Detail, slot: tuple[FormField, ...]) -> float:
    first = slot[0]
    if first.kind == "file" and not isinstance(detail.value, (str, list)):
        return 0.0
    if first.kind == "checkbox" and len(slot) == 1 and not _checkbox_value(detail.value):
        return 0.0
    if len(slot) > 1 or first.kind == "radio":
        called = tuple(words for text in (first.group, first.name) if (words := bare(phrase(text))))
    else:
        called = first.names + ((bare(phrase(first.group)) + first.names[0],) if first.group and first.names else ())
    best = 0.0
    for place, name in enumerate(called):
        weight = 1.0 - 0.02 * place
        for rank, wanted in enumerate(detail.names):
            best = max(best, weight * (1.0 if rank < 2 else 0.93) * field_likeness(wanted, name))
    return _with_value(best, detail.value, slot)


def _with_value(likeness: float, value: Json, slot: tuple[FormField, ...]) -> float:
    """The likeness by name, corrected by whether the field can take such a value at all."""
    first = slot[0]
    if likeness < _HINT:
        return 0.0
    if first.kind == "select" or first.kind == "radio" or len(slot) > 1:
        options = first.options if first.kind == "select" else tuple((one.label, one.value, False) for one in slot)
        known = [option for option in options if option[1]]
        if known and all(match_option(one, known) is None for one in _several(value)):
            return likeness if likeness >= _CERTAIN else 0.0  # a name that fits fully is a choice that is missing
        return min(1.0, likeness + 0.2) if known else likeness
    if isinstance(value, bool) != (first.kind == "checkbox"):
        return likeness * (0.6 if isinstance(value, bool) else 0.9)
    text = str(value)
    fits = {
        "email": "@" in text or text.startswith("secret:"),
        "date": bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", text)),
        "number": bool(re.fullmatch(r"-?\d+([.,]\d+)?", text)),
        "tel": bool(re.search(r"\d{3}", text)) or text.startswith("secret:"),
    }.get(first.type)
    if fits is None:
        return likeness
    return min(1.0, likeness + 0.1) if fits else likeness * 0.5


def _several(value: Json) -> Sequence[Json]:
    return value if isinstance(value, (list, tuple)) else [value]


def field_likeness(wanted: Phrase, called: Phrase) -> float:
    """How well a field called `called` takes a detail called `wanted`: 1 is the same name."""
    if not wanted or not called:
        return 0.0
    if wanted == called:
        return 1.0
    asked, said = set(wanted), set(called)
    if said & _CONFIRM and not asked & _CONFIRM:
        return 0.0  # filled in with the field that it repeats
    if asked <= said:
        return max(0.3, 0.92 - 0.1 * len(said - asked))
    if said <= asked:
        return 0.85 * len(said) / len(asked)
    common = asked & said
    return 0.8 * len(common) / len(asked | said)


def _checkbox_value(value: Json) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and read_boolean(value) is not None)


_FIRST, _LAST, _FULL = (
    next(group for group in _SAME if phrase(name) in group) for name in ("first name", "last name", "full name")
)


def _assign_names(
    slots: Sequence[tuple[FormField, ...]],
    rest: Sequence[Detail],
    details: Sequence[Detail],
    used: dict[int, Assignment],
) -> None:
    """A full name of two words into its two fields; two names into the one field of a full name."""
    free = {j: slot[0] for j, slot in enumerate(slots) if j not in used and slot[0].kind == "text"}
    first = next((j for j, one in free.items() if set(one.names) & set(_FIRST)), None)
    last = next((j for j, one in free.items() if set(one.names) & set(_LAST)), None)
    full = next((one for one in rest if set(one.names[:2]) & set(_FULL)), None)
    if full is not None and first is not None and last is not None and len(str(full.value).split()) == 2:
        for j, part in zip((first, last), str(full.value).split(), strict=True):
            used[j] = Assignment((full.key,), part, slots[j], 0.7)
        return
    whole = next((j for j, one in free.items() if set(one.names) & set(_FULL)), None)
    parts = [next((one for one in rest if set(one.names[:2]) & set(group)), None) for group in (_FIRST, _LAST)]
    given = [one for one in parts if one is not None]
    if whole is not None and len(given) == 2:
        joined = " ".join(str(one.value) for one in given)
        used[whole] = Assignment(tuple(one.key for one in given), joined, slots[whole], 0.7)


def _assign_repeats(slots: Sequence[tuple[FormField, ...]], used: dict[int, Assignment]) -> None:
    """The same detail again where the form asks to repeat it."""
    for j, slot in enumerate(slots):
        if j in used or slot[0].kind != "text":
            continue
        for name in slot[0].names:
            plain = tuple(word for word in name if word not in _CONFIRM)
            if plain == name or not plain:
                continue
            twin = next((one for one in used.values() if plain in one.fields[0].names), None)
            if twin is not None:
                used[j] = Assignment(twin.keys, twin.value, slot, twin.score)
                break


def _actions(one: Assignment, entered: Mapping[str, int]) -> list[Action]:
    """What brings the detail into its field; nothing when it is there, was entered before, or cannot be yet."""
    first = one.fields[0]
    reason = f"{_ENTER}{', '.join(one.keys)}"
    if first.disabled or entered.get(first.bid, 0) >= 2:
        return []
    if first.kind == "radio" or len(one.fields) > 1:
        return _choose_boxes(one, reason)
    if first.kind == "checkbox":
        wanted = one.value if isinstance(one.value, bool) else read_boolean(str(one.value))
        if wanted is None or wanted == first.checked:
            return []
        return [Action("check" if wanted else "uncheck", {"bid": first.bid}, reason)]
    if first.kind == "select":
        return _choose_option(one, reason)
    if first.kind == "file":
        if entered.get(first.bid) or first.value:
            return []
        return [Action("upload_file", {"bid": first.bid, "file": one.value}, reason)]
    text = _as_text(one.value)
    if entered.get(first.bid) or _same_text(first.value, text):
        return []
    return [Action("fill", {"bid": first.bid, "value": text}, reason)]


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _same_text(shown: str, wanted: str) -> bool:
    return shown == wanted or (bool(shown) and re.sub(r"\W", "", shown) == re.sub(r"\W", "", wanted))


def _choose_boxes(one: Assignment, reason: str) -> list[Action]:
    wanted = _several(one.value)
    choices = [(field.label, field.value, field.checked) for field in one.fields]
    actions = []
    for value in wanted:
        place = match_option(value, choices)
        if place is None:
            raise FormIncomplete(
                f"{one.fields[0].group or one.fields[0].name}: no choice fits {one.keys[0]}", fields=one.keys
            )
        if not one.fields[place].checked:
            actions.append(Action("check", {"bid": one.fields[place].bid}, reason))
    return actions


def _choose_option(one: Assignment, reason: str) -> list[Action]:
    """The options that the detail names. A select that has none yet waits for what it depends on."""
    field = one.fields[0]
    real = [option for option in field.options if option[1] or option[0]]
    if len([option for option in real if option[1]]) == 0:
        return []
    wanted = _several(one.value)
    labels = []
    for value in wanted:
        place = match_option(value, real)
        if place is None:
            if len(real) <= 1:
                return []
            raise FormIncomplete(f"{field.label or field.name}: no option fits {one.keys[0]}", fields=one.keys)
        if not real[place][2]:
            labels.append(real[place][1] or real[place][0])
    return [Action("select_option", {"bid": field.bid, "options": labels}, reason)] if labels else []


def match_option(value: Json, options: Sequence[tuple[str, str, bool]]) -> int | None:
    """Which option `value` means: the same text, the same number, yes or no, or the only one with its words."""
    said = squash(_as_text(value))
    for place, (label, option, _) in enumerate(options):
        if said in (squash(label), squash(option)):
            return place
    if isinstance(value, bool):
        hits = [
            i for i, (label, option, _) in enumerate(options) if value in (read_boolean(label), read_boolean(option))
        ]
        return hits[0] if len(hits) == 1 else None
    words = phrase(_as_text(value))
    same = [i for i, (label, option, _) in enumerate(options) if words in (phrase(label), phrase(option)) and words]
    if len(same) == 1:
        return same[0]
    if isinstance(value, (int, float)) or re.fullmatch(r"\d+", said):
        number = decimal_of(said)
        hits = [
            i for i, (label, _, _) in enumerate(options) if [decimal_of(t) for t in number_tokens(label)] == [number]
        ]
        return hits[0] if len(hits) == 1 else None
    hits = [i for i, (label, _, _) in enumerate(options) if words and set(words) <= set(phrase(label))]
    if len(hits) == 1:
        return hits[0]
    hits = [i for i, (label, _, _) in enumerate(options) if (own := set(phrase(label))) and own <= set(words)]
    return hits[0] if len(hits) == 1 else None


def _refuse_gaps(fields: Sequence[FormField], plan: Sequence[Assignment]) -> None:
    """Raises FormIncomplete naming the required fields that nothing fills."""
    filled = {field.bid for one in plan for field in one.fields}
    gaps = []
    for slot in _slots(fields):
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
    waiting = [
        one for one in plan if one.fields[0].kind == "select" and not any(s and v for _, v, s in one.fields[0].options)
    ]
    gaps += [one.fields[0].label for one in waiting if one.fields[0].required]
    if gaps:
        raise FormIncomplete(f"the form requires what the data does not give: {', '.join(gaps)}", fields=gaps)


# --- what the steps say -------------------------------------------------------------------------------


def _entered(steps: Sequence[Step]) -> set[str]:
    """The details that were entered on any page."""
    found: set[str] = set()
    for result in (result for step in steps for result in step.results):
        if result.error is None and result.action.reasoning.startswith(_ENTER):
            found |= set(result.action.reasoning[len(_ENTER) :].split(", "))
    return found


def _entered_here(steps: Sequence[Step]) -> dict[str, int]:
    """How often each field was acted on since the form's page was opened."""
    counts: dict[str, int] = {}
    for step in steps:
        for result in step.results:
            if result.action.reasoning in (_SEND, _ON):
                counts.clear()
            elif result.action.reasoning.startswith(_ENTER) and result.error is None:
                bid = str(result.action.args.get("bid", ""))
                counts[bid] = counts.get(bid, 0) + 1
    return counts


def _last_sending(steps: Sequence[Step]) -> int | None:
    """The index of the last step that sent the form or went on in it, when nothing was entered since."""
    for index in range(len(steps) - 1, -1, -1):
        reasons = [result.action.reasoning for result in steps[index].results if result.error is None]
        if any(reason in (_SEND, _ON) for reason in reasons):
            return index
        if any(reason.startswith(_ENTER) for reason in reasons):
            return None
    return None


# --- the answer ---------------------------------------------------------------------------------------


def _judge(
    page: FormPage,
    steps: Sequence[Step],
    sent: int,
    details: Sequence[Detail],
    error_codes: Mapping[str, str],
    criterion: str | None,
    may_terminate: bool,
) -> StepDecision | None:
    """What the page says to what was sent: done, refused, or None to go on filling in."""
    final = any(result.action.reasoning == _SEND for result in steps[sent].results)
    looks = len(steps) - sent - 1
    same_form = steps[sent].url == page.url and choose_form(page, details) is not None
    complaints = _complaints(page, same_form)
    if complaints:
        return _refusal(complaints, error_codes, may_terminate)
    if not final:
        if sum(_is_sending(step) for step in steps) > _MAX_SENDS:
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


def _is_sending(step: Step) -> bool:
    return any(result.action.reasoning in (_SEND, _ON) for result in step.results)


def _another_page(page: FormPage, details: Sequence[Detail], steps: Sequence[Step]) -> bool:
    """Whether the page asks for details that were not entered yet: what looked final was not the last page."""
    if sum(_is_sending(step) for step in steps) > _MAX_SENDS:
        return False
    left = [one for one in details if one.key not in _entered(steps)]
    form = choose_form(page, left) if left else None
    return form is not None and bool(assign([one for one in page.fields if one.form == form], left))


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
        FormIncomplete: no code of the caller's fits.
    """
    said = "; ".join(f"{one.field}: {one.text}" if one.field else one.text for one in complaints)
    codes = match_codes(complaints, error_codes)
    if codes and may_terminate:
        return StepDecision("the site refuses the form", (Action("terminate", {"reason": said, "errors": codes}),))
    raise FormIncomplete(f"the form was not accepted: {said}", fields=[one.field for one in complaints if one.field])


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
            if common >= 1 and score > best[0]:
                best = (score, code)
        if best[1]:
            scored[best[1]] = max(scored.get(best[1], 0.0), best[0])
    return sorted(scored, key=lambda code: -scored[code])


_COMMON = frozenset(phrase("the a an of to is are was be not no in on at for and or this that it its must please error invalid field value form your you we with has have been can cannot could if when site page says"))  # fmt: skip


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


_CRITERION_WORDS = frozenset(phrase("page shows show showing displayed display visible there appears appear message saying text confirmation contains number user sees see form sent shown"))  # fmt: skip


# --- what covers the page -----------------------------------------------------------------------------

_CLOSERS = tuple(frozenset(squash(text) for text in group) for group in DISMISS)


def closing_label(page: FormPage) -> str:
    """What the gentlest button is called that closes a banner over the page; "" when nothing is in the way."""
    if page.cover is None or page.cover.fields:
        return ""
    for group in _CLOSERS:
        for label in page.cover.buttons:
            said = squash(label)
            if said in group or any(said.startswith(one + " ") for one in group if len(one) > 4):
                return label
    return ""


def _dismissal(page: FormPage, steps: Sequence[Step]) -> Action | None:
    label = closing_label(page)
    tried = sum(result.action.reasoning == _DISMISS for step in steps for result in step.results)
    if not label or tried >= _MAX_DISMISSALS:
        return None
    button: FormButton | None = next((one for one in page.buttons if squash(one.label) == squash(label)), None)
    return Action("click", {"bid": button.bid}, _DISMISS) if button is not None else None
