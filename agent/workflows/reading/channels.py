"""The joint reading of a field's channels: a value that independent channels agree on, or the reason for a miss."""

from __future__ import annotations

import json
from collections.abc import Sequence

from shoal.agent.read.by_place.place import Place, StatedByPlaces, stated
from shoal.agent.read.schema import Property
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.values.placeholders import is_placeholder
from shoal.agent.spec import FieldPlace, Reader
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldSource, Reason
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.branch import Channel, ChannelFamily, FieldNode
from shoal.agent.workflows.reading.absence import states_absence
from shoal.agent.workflows.reading.page_view import PageView, place_key
from shoal.agent.workflows.reading.shapes import fits_shape, is_struck_out, raw_text, same_but_for_notation, shape_at
from shoal.agent.workflows.verdict import ChannelRead, FieldRead

POSITIONAL: frozenset[ChannelFamily] = frozenset({"css", "structure"})
"""Families that say where a value stands, and not what it is. A page that is rearranged moves all of them at once."""

_Read = dict[tuple[tuple[Place, ...], Reader | None, bool], StatedByPlaces]
"""Values that were read of one field, by their places and how these are read."""

_FOR_MACHINES: frozenset[ChannelFamily] = frozenset({"json_ld", "json", "microdata", "meta"})


def read_field(field: FieldNode, prop: Property, view: PageView, reading: ValueHints) -> FieldRead:
    """The value of `field` on the page of `view`.

    It is given when channels of as many families as `weakest` says agree, none says anything else, and, where the field
    was learned with a channel that names it, one of those is among them. Null is given where no channel says anything,
    and the page says by a sign that was learned that it lacks the value.
    """
    read: _Read = {}
    answers = tuple(_read_channel(channel, field, prop, view, reading, read) for channel in field.channels)
    return _agreed(field, answers, view)


def _agreed(field: FieldNode, answers: tuple[ChannelRead, ...], view: PageView) -> FieldRead:
    if (
        field.may_be_null
        and field.without is not None
        and _say_nothing(field, answers)
        and states_absence(field.without, view)
    ):
        return FieldRead(channels=answers)
    fault = _fault(field, answers)
    if fault is not None:
        return FieldRead(miss=fault, channels=answers)
    agreed = [answer for answer in answers if answer.statement.value is not None]
    if not agreed and field.may_be_null and field.absent in view.visible:
        return FieldRead(channels=answers)
    families = tuple(dict.fromkeys(answer.channel.family for answer in agreed))
    if agreed and field.known and value_key(agreed[0].statement.value) not in map(value_key, field.known):
        reason = (
            f"{agreed[0].statement.value!r} was on none of the pages that were learned from, which all said the same"
        )
        miss = Divergence(DivergenceReason.DRIFT, field.name, reason, {field.name: families})
        return FieldRead(miss=miss, channels=answers)
    lost = _lost(field, families)
    if lost is not None:
        miss = Divergence(DivergenceReason.ONE_WITNESS, field.name, lost, {field.name: _silent(answers)})
        return FieldRead(miss=miss, channels=answers)
    best = next(filter(_is_seen, agreed), agreed[0])
    place = best.statement.place
    assert place is not None, "what has a value has a place"
    if field.proof and not any(_is_shown(answer, view) for answer in agreed):
        reason = f"the page does not show {raw_text(place)!r}"
        miss = Divergence(DivergenceReason.NOT_SHOWN, field.name, reason, {field.name: families})
        return FieldRead(miss=miss, channels=answers)
    source = FieldSource("workflow", place.where, True, "likely" if field.weak else "certain", Reason.AGREED)
    return FieldRead(best.statement.value, source, raw_text(place), families, channels=answers)


def _say_nothing(field: FieldNode, answers: Sequence[ChannelRead]) -> bool:
    """Return whether nothing stands at the places,
    or a text that says that there is no value.

    Of a field that is known by a name, too, the position does not count: where its row is not, another row stands.
    """
    named = bool(field.families - POSITIONAL)
    asked = [answer for answer in answers if not (named and answer.channel.family == "structure")]
    return all(
        answer.statement.value is None and answer.statement.ambiguous is None and _is_no_value(answer)
        for answer in asked
    )


def _is_no_value(answer: ChannelRead) -> bool:
    place = answer.statement.place
    return place is None or place.empty or (place.kind != "json" and is_placeholder(raw_text(place)))


def _stated(
    places: tuple[Place, ...], by: FieldPlace, prop: Property, reading: ValueHints, read: _Read
) -> StatedByPlaces:
    """Return what `places` state. Most channels of a field lead to one element, which is read once for all of them."""
    if any(place.kind == "json" for place in places):  # its values cannot be looked up by
        return stated(places, by, prop, reading)
    key = places, by.reader, by.all
    if key not in read:
        read[key] = stated(places, by, prop, reading)
    return read[key]


def _read_channel(
    channel: Channel, field: FieldNode, prop: Property, view: PageView, reading: ValueHints, read: _Read
) -> ChannelRead:
    statement = _stated(view.places.get(place_key(channel.place), ()), channel.place, prop, reading, read)
    if statement.value is None or statement.place is None:
        return ChannelRead(channel, statement)
    if isinstance(statement.value, str) and not (prop.enum or field.is_label) and is_placeholder(statement.value):
        return ChannelRead(
            channel,
            StatedByPlaces(place=statement.place, fault=f"says {statement.place.quoted_text}, which is no value"),
        )
    shape = shape_at(statement.place, prop)
    unheld = not channel.shapes and not is_struck_out(statement.place, prop)
    if unheld or fits_shape(shape, channel.shapes):
        return ChannelRead(channel, statement)
    mild = prop.types == {"boolean"} or same_but_for_notation(shape, channel.shapes)
    return ChannelRead(channel, statement, shape or "none", mild)


def _fault(field: FieldNode, answers: Sequence[ChannelRead]) -> Divergence | None:
    """Why what the channels say cannot all be so; None where nothing speaks against it."""
    for answer in answers:
        if answer.statement.fault:
            return _miss(DivergenceReason.UNREADABLE, field, answer, answer.statement.fault)
        if answer.misshapen and not (answer.mild and _borne_out(answer, answers)):
            known = " or ".join(answer.channel.shapes) or "another"
            detail = f"{answer.channel.family} has the shape {answer.misshapen!r}, and {known} was learned"
            return _miss(DivergenceReason.SHAPE, field, answer, detail)
    values: dict[str, ChannelRead] = {}
    for answer in answers:
        if answer.statement.value is not None:
            values.setdefault(value_key(answer.statement.value), answer)
    if len(values) > 1:
        detail = "; ".join(
            f"{answered.channel.family} says {answered.statement.value!r}" for answered in values.values()
        )
        families = tuple(answered.channel.family for answered in values.values())
        return Divergence(DivergenceReason.CONTRADICTION, field.name, detail, {field.name: families})
    several = next((unclear for unclear in answers if unclear.statement.ambiguous is not None), None)
    if several is not None:
        return _miss(
            DivergenceReason.AMBIGUOUS, field, several, f"{several.channel.family}: {several.statement.ambiguous}"
        )
    return None


def _borne_out(answer: ChannelRead, answers: Sequence[ChannelRead]) -> bool:
    """Return whether data for machines, in its own notation as learned, says the same."""
    key = value_key(answer.statement.value)
    return any(
        other.channel.family in _FOR_MACHINES
        and not other.misshapen
        and other.statement.value is not None
        and value_key(other.statement.value) == key
        for other in answers
    )


def _miss(reason: DivergenceReason, field: FieldNode, answer: ChannelRead, detail: str) -> Divergence:
    return Divergence(reason, field.name, detail, {field.name: (answer.channel.family,)})


def _lost(field: FieldNode, families: Sequence[ChannelFamily]) -> str | None:
    """Which witness is missing, in words; None where there are enough."""
    if len(families) < field.weakest:
        return (
            f"{len(families)} of {len(field.families)} ways to read it found something, {field.weakest} have to agree"
        )
    named = field.families - POSITIONAL
    if named and not named & set(families):
        return f"only its position is left, and it was learned by {', '.join(sorted(named))} too"
    return None


def _silent(answers: Sequence[ChannelRead]) -> tuple[ChannelFamily, ...]:
    return tuple(dict.fromkeys(answer.channel.family for answer in answers if answer.statement.value is None))


def _is_shown(answer: ChannelRead, view: PageView) -> bool:
    """Return whether the visible page states what a channel says."""
    return _is_seen(answer) or (answer.statement.place is not None and states(view, raw_text(answer.statement.place)))


def _is_seen(answer: ChannelRead) -> bool:
    """Return whether what a channel says stands on the page for everybody to see."""
    place = answer.statement.place
    return place is not None and place.visible and place.kind not in ("json", "data", "attribute")


def states(view: PageView, raw: str) -> bool:
    """Return whether the page shows `raw`, not as a part of another word or number."""
    return holds_text(view.text, raw)


def holds_text(text: str, raw: str) -> bool:
    """Return whether `raw` stands in `text`, not as a part of another word or number."""
    phrase = " ".join(raw.split()).lower()
    text = " ".join(text.split()).lower()
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(phrase) : at + len(phrase) + 2]
        inside = _joins(before, phrase[0]) or (bool(after) and _joins(after[0], phrase[-1]))
        decimal = len(after) == 2 and after[0] in ".," and after[1].isdigit() and phrase[-1].isdigit()
        if not inside and not decimal:
            return True
        at = text.find(phrase, at + 1)
    return False


def is_same_text(value: Json, text: str) -> bool:
    """Return whether a value is `text` but for spaces and signs."""
    return isinstance(value, str) and bool(text) and squash(value) == squash(text)


def _joins(sign: str, other: str) -> bool:
    return sign.isalnum() and other.isalnum()


def value_key(value: Json) -> str:
    """The same for values that are the same but for spaces and signs."""
    if isinstance(value, str):
        return f"text {squash(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"number {float(value)!r}"
    return json.dumps(value, sort_keys=True, default=str)
