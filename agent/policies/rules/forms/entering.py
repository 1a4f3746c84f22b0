"""How one detail gets into its field: by typing, choosing, ticking or uploading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shoal.agent.errors import FormIncomplete
from shoal.agent.policies.rules.forms.form import Entry
from shoal.agent.policies.rules.forms.trail import ENTER
from shoal.agent.policies.rules.values.numbers import decimal_of, number_tokens
from shoal.agent.policies.rules.values.values import read_boolean
from shoal.agent.policies.rules.values.words import phrase, squash
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action


def actions_for(one: Entry, counts: Mapping[str, int]) -> list[Action]:
    """What brings the detail into its field; nothing when it is there, was entered before, or cannot be yet."""
    first = one.fields[0]
    reason = f"{ENTER}{', '.join(one.keys)}"
    if first.disabled or any(counts.get(field.bid, 0) >= 2 for field in one.fields):
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
        if counts.get(first.bid) or first.value:
            return []
        return [Action("upload_file", {"bid": first.bid, "file": one.value}, reason)]
    text = as_text(one.value)
    if counts.get(first.bid) or same_text(first.value, text):
        return []
    return [Action("fill", {"bid": first.bid, "value": text}, reason)]


def _choose_boxes(one: Entry, reason: str) -> list[Action]:
    wanted = several(one.value)
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


def _choose_option(one: Entry, reason: str) -> list[Action]:
    """The options that the detail names; nothing while one is not there: it may come with another choice."""
    field = one.fields[0]
    places = [match_option(value, field.options) for value in several(one.value)]
    if None in places:
        return []
    chosen = [field.options[place] for place in places if place is not None]
    labels = [value or label for label, value, selected in chosen if not selected]
    return [Action("select_option", {"bid": field.bid, "options": labels}, reason)] if labels else []


def is_waiting(one: Entry) -> bool:
    """Whether the detail cannot be entered yet: its field is disabled, or the option that it names is not there."""
    field = one.fields[0]
    if field.disabled:
        return True
    return field.kind == "select" and None in [match_option(value, field.options) for value in several(one.value)]


def several(value: Json) -> Sequence[Json]:
    return value if isinstance(value, (list, tuple)) else [value]


def as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def same_text(shown: str, wanted: str) -> bool:
    return shown == wanted or (bool(shown) and re.sub(r"\W", "", shown) == re.sub(r"\W", "", wanted))


def match_option(value: Json, options: Sequence[tuple[str, str, bool]]) -> int | None:
    """Which option `value` means: the same text, the same number, yes or no, or the only one with its words."""
    said = squash(as_text(value))
    for place, (label, option, _) in enumerate(options):
        if said in (squash(label), squash(option)):
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
