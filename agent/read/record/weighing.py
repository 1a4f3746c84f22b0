"""Weighing of a field's values: those of the shown places against structured data, meta elements and the main text.

Where both say the same, the value is as sure as the surer of them says. Where they differ, structured data of the
record win that the page bears out, and are not confirmed; else the value is doubted.
"""

from __future__ import annotations

from dataclasses import replace

from shoal.agent.read.field import Field
from shoal.agent.read.record.settling import Settled
from shoal.agent.read.shown.choosing import MOST_CANDIDATES, SURENESS_ORDER, FieldAnswer
from shoal.agent.read.values.days import may_be_one_moment
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import FieldCandidate, FieldSource, Reason

_LONG = 400
"""Characters from which a text is a main text."""


def weighed(by_places: FieldAnswer, settled: Settled | None, asked: Field) -> FieldAnswer:
    """One field's answer by the shown places, with what its other witnesses state."""
    if settled is None:
        return by_places
    value, source = settled.claim.value, settled.source
    if by_places.source is None:
        if source.sureness == "weak":
            return FieldAnswer(candidates=_distinct(*by_places.candidates, *settled.candidates))
        return FieldAnswer(value, source, by_places.candidates)
    if settled.claim.agrees(by_places.value):
        return _agreed(by_places, settled)
    if (
        asked.kind == "day"
        and by_places.source.sureness != "weak"
        and may_be_one_moment(str(by_places.value), str(value))
    ):
        return FieldAnswer(by_places.value, _doubted(by_places.source), _distinct(*settled.candidates))
    if not _outweighs(by_places.source, settled, asked):
        return _beside(by_places, settled)
    better = settled.of_record or by_places.source.sureness == "weak" or _is_beyond_places(asked, value)
    if source.sureness == "weak" or not better:
        return FieldAnswer(candidates=_distinct(_candidate(by_places), *settled.candidates))
    if settled.claim.is_title:
        return FieldAnswer(value, source, _distinct(_candidate(by_places)))
    return FieldAnswer(value, _doubted(source), _distinct(_candidate(by_places), *by_places.candidates))


def _agreed(by_places: FieldAnswer, settled: Settled) -> FieldAnswer:
    """As sure as the surer of both."""
    assert by_places.source is not None
    surer = min((settled.source, by_places.source), key=lambda each: SURENESS_ORDER.index(each.sureness))
    # Meta elements add the site's name to a title: the shown text is the value.
    good_place = by_places.source.sureness != "weak"
    by_place = surer is by_places.source or (settled.claim.is_title and not settled.of_record and good_place)
    if isinstance(by_places.value, list) and isinstance(settled.claim.value, list):
        by_place = len(by_places.value) > len(settled.claim.value)  # the others hold several entries in one
    return FieldAnswer(by_places.value if by_place else settled.claim.value, surer)


def _beside(by_places: FieldAnswer, settled: Settled) -> FieldAnswer:
    """Return what the shown places state, not confirmed where structured data of the record state something else."""
    if by_places.source is None or not settled.of_record or settled.source.sureness == "weak":
        return by_places
    sureness = by_places.source.sureness if by_places.source.sureness == "weak" else "likely"
    return FieldAnswer(
        by_places.value, _doubted(by_places.source, sureness), _distinct(*settled.candidates, *by_places.candidates)
    )


def _names_record(place_source: FieldSource, settled: Settled) -> bool:
    """True where another name of the record outweighs the place: that place is weak, or the page shows both names."""
    return place_source.sureness == "weak" or (settled.of_record and settled.claim.shown)


def _outweighs(place_source: FieldSource, settled: Settled, asked: Field) -> bool:
    """True where what the other witnesses state counts against what the shown places state.

    A number, or a yes, that people see counts for more than one in structured data, which may be stale; so does a day
    for more than one of a meta element. What those witnesses leave in doubt counts against lists, and where they
    contradict each other.
    """
    if settled.claim.is_title and not _names_record(place_source, settled):
        return False
    if settled.claim.in_address and not settled.claim.shown:  # people may see another code of the same thing
        return False
    stale = settled.sureness != "certain" and not settled.claim.shown
    seen_alone = asked.is_number or asked.kind == "boolean" or (asked.kind == "day" and not settled.of_record)
    if seen_alone and stale and place_source.confirmed:
        return False
    if settled.sureness == "weak":
        contradicted = settled.why is Reason.CONTRADICTED and place_source.sureness != "certain"
        return asked.kind == "list" or contradicted
    return True


def _is_beyond_places(asked: Field, value: Json) -> bool:
    """True for values that no single place states as well: lists, addresses, long texts."""
    return asked.kind in ("list", "address") or (isinstance(value, str) and len(value) > _LONG)


def _doubted(source: FieldSource, sureness: Sureness = "likely") -> FieldSource:
    """The source of a value that another witness contradicts."""
    return replace(source, confirmed=False, sureness=sureness, why=Reason.CONTRADICTED)


def _candidate(by_places: FieldAnswer) -> FieldCandidate:
    assert by_places.source is not None
    return FieldCandidate(by_places.value, by_places.source.how, by_places.source.where, "weak", Reason.CONTRADICTED)


def _distinct(*candidates: FieldCandidate) -> tuple[FieldCandidate, ...]:
    by_value = {repr(candidate.value): candidate for candidate in reversed(candidates)}
    return tuple(reversed(by_value.values()))[:MOST_CANDIDATES]
