"""What the reader of the page's tree says of its record, joined with what the rules say of the page's facts.

Both read one page. Where they agree, a value is as sure as the surer of them says. Where they differ, structured data
that the tree's reader bears out win, and are not confirmed; else the value is doubted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.agent.policies.rules.fields.choosing import MOST_CANDIDATES, SURENESS_ORDER, FieldAnswer
from shoal.agent.read.field import Field
from shoal.agent.read.record.record import PageRecord
from shoal.agent.read.record.settling import Settled
from shoal.agent.read.record.witnesses import same
from shoal.agent.read.schema import Property
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldCandidate, FieldSource, Reason

_STRUCTURED = frozenset({"json-ld", "microdata", "rdfa", "meta"})
_LONG = 400
"""Characters from which a text is a main text."""
_BEYOND_RULES = frozenset({"node", "twin", "sum", "node-other", "meta", "main", "strict"})
"""Witnesses that the rules do not read as well. What only places of the shown page state, the rules read; so are titles
that no structured data state."""


# --- one record ---------------------------------------------------------------------------------------


def joined(told: FieldAnswer, record: PageRecord, prop: Property) -> FieldAnswer:
    """One field's answer of the rules with what the tree states."""
    settled = record.settled.get(prop.name)
    if settled is None or not settled.claim.kinds & _BEYOND_RULES:
        return told
    value, source, candidates = settled.claim.value, record.source_of(prop.name), record.candidates_of(prop.name)
    if settled.claim.is_title and not settled.of_record:
        return told
    if told.source is None:
        if source.sureness == "weak":
            return FieldAnswer(candidates=_distinct(*told.candidates, *candidates))
        return FieldAnswer(value, source, told.candidates)
    if same(told.value, value):
        return _agreed(told, settled, source, candidates)
    if settled.claim.is_title and told.source.sureness != "weak":
        return told
    if not _outweighs(told.source, settled, Field(prop)):
        return told
    better = settled.of_record or told.source.sureness == "weak" or _by_tree(prop, value)
    if source.sureness == "weak" or not better:
        return FieldAnswer(candidates=_distinct(_candidate(told), *candidates))
    return FieldAnswer(value, _doubted(source), _distinct(_candidate(told), *told.candidates))


def _agreed(
    told: FieldAnswer, settled: Settled, source: FieldSource, candidates: Sequence[FieldCandidate]
) -> FieldAnswer:
    """As sure as the surer of both, and no surer than this kind of value may be."""
    assert told.source is not None
    if settled.why is Reason.CONTRADICTED and told.source.how in _STRUCTURED and told.source.sureness != "certain":
        return FieldAnswer(candidates=tuple(candidates))
    surer = min((told.source, source), key=lambda each: SURENESS_ORDER.index(each.sureness))
    if SURENESS_ORDER.index(surer.sureness) < SURENESS_ORDER.index(settled.most):
        surer = replace(surer, sureness=settled.most)
    return FieldAnswer(told.value if surer is told.source else settled.claim.value, surer)


def _outweighs(told: FieldSource, settled: Settled, asked: Field) -> bool:
    """True where what the tree states counts against what the rules read.

    A number that people see counts for more than one in structured data, which may be stale. What the tree itself
    doubts counts against lists, and where other places contradict it.
    """
    stale = settled.sureness != "certain" and not settled.claim.shown
    if asked.is_number and stale and told.how not in _STRUCTURED and told.sureness != "weak":
        return False
    if settled.sureness == "weak":
        contradicted = settled.why is Reason.CONTRADICTED and told.sureness != "certain"
        return asked.kind == "list" or contradicted
    return True


def _by_tree(prop: Property, value: Json) -> bool:
    """True for values that the tree's readers read better than the rules: lists, addresses, long texts."""
    return Field(prop).kind in ("list", "address") or (isinstance(value, str) and len(value) > _LONG)


def _doubted(source: FieldSource) -> FieldSource:
    """The source of a value that another reading of the page contradicts."""
    return FieldSource(source.how, source.where, False, "likely", Reason.CONTRADICTED)


def _candidate(told: FieldAnswer) -> FieldCandidate:
    assert told.source is not None
    return FieldCandidate(told.value, told.source.how, told.source.where, "weak", Reason.CONTRADICTED)


def _distinct(*candidates: FieldCandidate) -> tuple[FieldCandidate, ...]:
    by_value = {repr(candidate.value): candidate for candidate in reversed(candidates)}
    return tuple(reversed(by_value.values()))[:MOST_CANDIDATES]
