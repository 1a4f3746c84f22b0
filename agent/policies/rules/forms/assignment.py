"""Which of the caller's details belongs into which field of a form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.policies.rules.forms.entering import match_option, several
from shoal.agent.policies.rules.forms.form import Entry, FormField, bare
from shoal.agent.read.values.conversion import read_boolean
from shoal.agent.read.values.phrases import Phrase, phrase
from shoal.agent.read.word_lists.form_vocabulary import CONFIRM_WORDS, FORM_NAMES
from shoal.agent.redaction.masking import is_reference
from shoal.agent.support.json_value import Json

_HINT = 0.3  # below this, names have nothing to do with each other
_CERTAIN = 0.8
_ENOUGH = 0.5  # least likeness of a detail's name and a field's


@dataclass(frozen=True, slots=True)
class Detail:
    """One of the caller's details."""

    key: str  # path in the data, joined by dots
    value: Json

    @property
    def names(self) -> tuple[Phrase, ...]:
        """Return what it may be called: its key, with its parent, and the synonyms of its key."""
        parts = self.key.split(".")
        own = bare(phrase(parts[-1]))
        with_parent = bare(phrase(" ".join(parts[-2:])))
        same = next((group for group in _SAME if own in group or with_parent in group), ())
        return tuple(dict.fromkeys([own, with_parent, *same]))


_SAME: tuple[tuple[Phrase, ...], ...] = tuple(tuple(bare(phrase(name)) for name in group) for group in FORM_NAMES)
_CONFIRM = frozenset(word for text in CONFIRM_WORDS for word in phrase(text))


def details_of(data: Mapping[str, Json], prefix: str = "") -> list[Detail]:
    """The data as a flat list; objects are opened, nulls left out."""
    details: list[Detail] = []
    for name, value in data.items():
        key = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(value, Mapping):
            details += details_of(value, key)
        elif value is not None:
            details.append(Detail(key, value))
    return details


def assign(fields: Sequence[FormField], details: Sequence[Detail]) -> list[Entry]:
    """Which detail goes where: the likeliest pairs first, each detail and each field once; in document order."""
    slots = slots_of(fields)
    pairs = sorted(
        ((_likeness(detail, slot), i, j) for i, detail in enumerate(details) for j, slot in enumerate(slots)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    used_details: set[int] = set()
    used_slots: dict[int, Entry] = {}
    for score, i, j in pairs:
        if score >= _ENOUGH and i not in used_details and j not in used_slots:
            used_details.add(i)
            used_slots[j] = Entry((details[i].key,), details[i].value, slots[j], score)
    rest = [detail for i, detail in enumerate(details) if i not in used_details]
    _assign_names(slots, rest, details, used_slots)
    _assign_repeats(slots, used_slots)
    return [used_slots[j] for j in sorted(used_slots)]


def slots_of(fields: Sequence[FormField]) -> list[tuple[FormField, ...]]:
    """Fields that take one detail together: the radio buttons, or the checkboxes, of one name."""
    slots: list[list[FormField]] = []
    groups: dict[tuple[str, str], list[FormField]] = {}
    for field in fields:
        if field.kind == "radio" or (field.kind == "checkbox" and field.group and field.name.endswith("[]")):
            key = (field.kind, field.name or field.group)
            if key in groups:
                groups[key].append(field)
                continue
            groups[key] = [field]
            slots.append(groups[key])
        else:
            slots.append([field])
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
        if _another(name, detail.names):
            continue
        for rank, detail_name in enumerate(detail.names):
            best = max(best, weight * (1.0 if rank < 2 else 0.93) * field_likeness(detail_name, name))
    return _with_value(best, detail.value, slot)


def _another(called: Phrase, names: Sequence[Phrase]) -> bool:
    """Return whether the field is known to ask for something else: a first name is no full name."""
    asked = [group for group in _SAME if any(name in group for name in names[:2])]
    return bool(asked) and any(called in group for group in _SAME) and not any(called in group for group in asked)


def _with_value(likeness: float, value: Json, slot: tuple[FormField, ...]) -> float:
    """The likeness by name, corrected by whether the field can take such a value at all."""
    first = slot[0]
    if likeness < _HINT:
        return 0.0
    if first.kind == "select" or first.kind == "radio" or len(slot) > 1:
        options = (
            first.options if first.kind == "select" else tuple((field.label, field.value, False) for field in slot)
        )
        known = [option for option in options if option[1]]
        if known and all(match_option(choice, known) is None for choice in several(value)):
            return likeness if likeness >= _CERTAIN else 0.0  # a name that fits fully is a choice that is missing
        return min(1.0, likeness + 0.2) if known else likeness
    if isinstance(value, bool) != (first.kind == "checkbox"):
        return likeness * (0.6 if isinstance(value, bool) else 0.9)
    text = str(value)
    if is_reference(value):
        return likeness  # what it stands for is not known before it is filled in
    fits = {
        "email": "@" in text,
        **dict.fromkeys(("date", "month", "week", "time", "datetime-local"), bool(re.search(r"\d", text))),
        "number": bool(re.fullmatch(r"-?\d+([.,]\d+)?", text)),
        "tel": bool(re.search(r"\d{3}", text)),
    }.get(first.type)
    if fits is None:
        return likeness
    return min(1.0, likeness + 0.1) if fits else likeness * 0.5


def field_likeness(detail_name: Phrase, called: Phrase) -> float:
    """Return how well a field called `called` takes a detail called `detail_name`: 1 is the same name."""
    if not detail_name or not called:
        return 0.0
    if detail_name == called:
        return 1.0
    asked, label_words = set(detail_name), set(called)
    if label_words & _CONFIRM and not asked & _CONFIRM:
        return 0.0  # filled in with the field that it repeats
    if asked <= label_words:
        return max(0.3, 0.92 - 0.1 * len(label_words - asked))
    if label_words <= asked:
        return 0.85 * len(label_words) / len(asked)
    common = asked & label_words
    return 0.8 * len(common) / len(asked | label_words)


def _checkbox_value(value: Json) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and read_boolean(value) is not None)


_FIRST, _LAST, _FULL = (
    next(group for group in _SAME if phrase(name) in group) for name in ("first name", "last name", "full name")
)


def _assign_names(
    slots: Sequence[tuple[FormField, ...]],
    rest: Sequence[Detail],
    details: Sequence[Detail],
    used: dict[int, Entry],
) -> None:
    """A full name of two words into its two fields; two names into the one field of a full name."""
    free = {j: slot[0] for j, slot in enumerate(slots) if j not in used and slot[0].kind == "text"}
    first = next((j for j, field in free.items() if set(field.names) & set(_FIRST)), None)
    last = next((j for j, field in free.items() if set(field.names) & set(_LAST)), None)
    full = next((detail for detail in rest if set(detail.names[:2]) & set(_FULL)), None)
    if full is not None and first is not None and last is not None and len(str(full.value).split()) == 2:
        for j, part in zip((first, last), str(full.value).split(), strict=True):
            used[j] = Entry((full.key,), part, slots[j], 0.7)
        return
    whole = next((j for j, field in free.items() if set(field.names) & set(_FULL)), None)
    parts = [next((detail for detail in rest if set(detail.names[:2]) & set(group)), None) for group in (_FIRST, _LAST)]
    given = [detail for detail in parts if detail is not None]
    if whole is not None and len(given) == 2 and not any(is_reference(detail.value) for detail in given):
        joined = " ".join(str(detail.value) for detail in given)
        used[whole] = Entry(tuple(detail.key for detail in given), joined, slots[whole], 0.7)


def _assign_repeats(slots: Sequence[tuple[FormField, ...]], used: dict[int, Entry]) -> None:
    """The same detail again where the form asks to repeat it."""
    for j, slot in enumerate(slots):
        if j in used or slot[0].kind != "text":
            continue
        for name in slot[0].names:
            plain = tuple(word for word in name if word not in _CONFIRM)
            if plain == name or not plain:
                continue
            twin = next((entry for entry in used.values() if plain in entry.fields[0].names), None)
            if twin is not None:
                used[j] = Entry(twin.keys, twin.value, slot, twin.score)
                break
