"""Entry of one detail into its field: by typing, choosing, ticking or uploading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.agent.errors import FormIncomplete
from shoal.agent.policies.rules.forms.form import Entry
from shoal.agent.policies.rules.forms.trail import ENTER
from shoal.agent.read.values.conversion import read_boolean
from shoal.agent.read.values.numbers import decimal_of, number_tokens
from shoal.agent.read.values.phrases import phrase, squash
from shoal.agent.read.values.typed_values import SPELLINGS, typed_value
from shoal.agent.redaction.masking import is_reference
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action


def actions_for(entry: Entry, counts: Mapping[str, int], lang: str = "") -> list[Action]:
    """Return what brings the detail into its field;
    nothing when it is there, was entered before, or cannot be yet.

    Args:
        lang: in whose spelling dates and numbers are given.

    Raises:
        FormIncomplete: no choice fits, or the field's type cannot express the detail.
    """
    first = entry.fields[0]
    reason = f"{ENTER}{', '.join(entry.keys)}"
    if first.disabled or any(counts.get(field.bid, 0) >= 2 for field in entry.fields):
        return []
    if first.kind == "radio" or len(entry.fields) > 1:
        return _choose_boxes(entry, reason)
    if first.kind == "checkbox":
        checked = entry.value if isinstance(entry.value, bool) else read_boolean(str(entry.value))
        if checked is None or checked == first.checked:
            return []
        return [Action("check" if checked else "uncheck", {"bid": first.bid}, reason)]
    if first.kind == "select":
        return _choose_option(entry, reason)
    if first.kind == "file":
        if counts.get(first.bid) or first.value:
            return []
        return [Action("upload_file", {"bid": first.bid, "file": entry.value}, reason)]
    if first.kind == "combobox":  # what it shows may be what was typed, and not what is sent
        texts = [as_text(value) for value in several(entry.value)]
        args = {"bid": first.bid, "options": texts if len(texts) > 1 else texts[0]}
        return [] if counts.get(first.bid) or not texts else [Action("select_option", args, reason, target=first.label)]
    text = _typed(entry, lang)
    if counts.get(first.bid) or same_text(first.value, text):
        return []
    return [Action("fill", {"bid": first.bid, "value": text}, reason)]


def _typed(entry: Entry, lang: str) -> str:
    """The detail as text, in the spelling that the type of its field takes."""
    first, text = entry.fields[0], as_text(entry.value)
    if is_reference(text):
        return text
    typed = typed_value(first.type, text, lang)
    if typed is None:
        raise FormIncomplete(
            f"{', '.join(entry.keys)} (the field {first.label or first.name!r}): {text!r} cannot be read as a value of "
            f"the type {first.type} without guessing; write it as {SPELLINGS[first.type]}, or say in `browser.locale` "
            "whose spelling it is",
            fields=entry.keys,
        )
    return typed


def _choose_boxes(entry: Entry, reason: str) -> list[Action]:
    values = several(entry.value)
    choices = [(field.label, field.value, field.checked) for field in entry.fields]
    actions = []
    for value in values:
        place = match_option(value, choices)
        if place is None:
            raise FormIncomplete(
                f"{entry.fields[0].group or entry.fields[0].name}: no choice fits {entry.keys[0]}", fields=entry.keys
            )
        if not entry.fields[place].checked:
            actions.append(Action("check", {"bid": entry.fields[place].bid}, reason))
    return actions


def _choose_option(entry: Entry, reason: str) -> list[Action]:
    """The options that the detail names; nothing while one is not there: it may come with another choice."""
    field = entry.fields[0]
    places = [match_option(value, field.options) for value in several(entry.value)]
    if None in places:
        return []
    chosen = [field.options[place] for place in places if place is not None]
    labels = [value or label for label, value, selected in chosen if not selected]
    return [Action("select_option", {"bid": field.bid, "options": labels}, reason)] if labels else []


def is_waiting(entry: Entry) -> bool:
    """Return whether the detail cannot be entered yet:
    its field is disabled, or the option that it names is not there.
    """
    field = entry.fields[0]
    if field.disabled:
        return True
    return field.kind == "select" and None in [match_option(value, field.options) for value in several(entry.value)]


def several(value: Json) -> Sequence[Json]:
    return value if isinstance(value, (list, tuple)) else [value]


def as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def same_text(shown: str, expected: str) -> bool:
    return shown == expected or (bool(shown) and re.sub(r"\W", "", shown) == re.sub(r"\W", "", expected))


def match_option(value: Json, options: Sequence[tuple[str, str, bool]]) -> int | None:
    """Which option `value` means: the same text, the same number, yes or no, or the only one with its words."""
    text = squash(as_text(value))
    for place, (label, option, _) in enumerate(options):
        if text in (squash(label), squash(option)):
            return place
    if isinstance(value, bool):
        hits = [
            i for i, (label, option, _) in enumerate(options) if value in (read_boolean(label), read_boolean(option))
        ]
        return hits[0] if len(hits) == 1 else None
    words = phrase(as_text(value))
    same = [i for i, (label, option, _) in enumerate(options) if words in (phrase(label), phrase(option)) and words]
    if len(same) == 1:
        return same[0]
    if isinstance(value, (int, float)) or re.fullmatch(r"\d+", text):
        number = decimal_of(text)
        hits = [
            i for i, (label, _, _) in enumerate(options) if [decimal_of(t) for t in number_tokens(label)] == [number]
        ]
        return hits[0] if len(hits) == 1 else None
    hits = [i for i, (label, _, _) in enumerate(options) if words and set(words) <= set(phrase(label))]
    if len(hits) == 1:
        return hits[0]
    hits = [i for i, (label, _, _) in enumerate(options) if (own := set(phrase(label))) and own <= set(words)]
    return hits[0] if len(hits) == 1 else None
