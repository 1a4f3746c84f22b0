"""What elements of a page state that the caller names, such as the records of a given list: each read by itself."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.agent.policies.rules.facts.facts import Facts
from shoal.agent.policies.rules.fields.candidates import block_candidates
from shoal.agent.policies.rules.fields.fields import FieldReader, ReadRecord, read_record
from shoal.agent.policies.rules.fields.visible_text import VisibleText
from shoal.agent.read.schema import Property
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.types import Sureness


def read_blocks(
    facts: Facts, properties: Sequence[Property], locale: str, accept: Sureness = "likely"
) -> dict[int, ReadRecord]:
    """What the elements state that `facts_of` was told of, by their position.

    What all of them take from the same heading is the list's, and no record's.
    """
    hints = ValueHints(facts.lang or locale, facts.url)
    read = {place: _read(block, properties, hints, accept) for place, block in facts.blocks.items()}
    for prop in properties:
        given = [record for record in read.values() if prop.name in record.sources]
        said = {(repr(record.value[prop.name]), record.sources[prop.name].how) for record in given}
        if len(given) > 2 and [how for _, how in said] == ["heading"]:
            for misread in given:
                del misread.value[prop.name], misread.sources[prop.name]
    return read


def _read(block: Facts, properties: Sequence[Property], hints: ValueHints, accept: Sureness) -> ReadRecord:
    candidates = block_candidates(block)
    fields = FieldReader(candidates, hints, VisibleText(block.text, hints, candidates))
    return read_record(fields, properties, accept)
