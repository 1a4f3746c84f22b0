"""Many records of one page: the group of repeated blocks that fits the schema best, each read relative to its block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from shoal.agent.grounding.claims import stated_count, texts_of
from shoal.agent.grounding.part_claims import failure_told
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.facts.facts import BlockGroup, Facts
from shoal.agent.policies.rules.fields.candidates import block_candidates
from shoal.agent.policies.rules.fields.fields import FieldReader, ReadRecord, read_record
from shoal.agent.policies.rules.fields.visible_text import VisibleText
from shoal.agent.read.schema import Property
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.read.values.phrases import phrase
from shoal.agent.types import Record, Sureness

_TRIED = 4  # blocks of a group that are read to judge it
_REGIONS = {"": 1.0, "aside": 0.5, "nav": 0.2, "header": 0.2, "footer": 0.2, "dialog": 0.1}


def read_records(
    facts: Facts, properties: Sequence[Property], locale: str, stamp: str, accept: Sureness = "likely"
) -> Extraction:
    """The records of the best fitting group of repeated blocks; none when no group has what the schema requires.

    A block that states less than half of the fields is no record.
    """
    reader = _BlockReader(properties, ValueHints(facts.lang or locale, facts.url), accept)
    text = facts.text + "\n" + facts.beside
    total = stated_count(text)
    best = max(facts.groups, key=reader.fit, default=None)
    if best is None or not reader.fit(best):
        return _nothing(properties, total)
    parts = _parts(facts, best)
    records: list[Record] = []
    lacking: Counter[str] = Counter()
    for read in reader.records([block for group in parts for block in group.blocks]):
        records.append(Record(read.value, read.sources, facts.url, stamp, read.candidates))
        lacking.update(read.missing)
    if not records:
        return _nothing(properties, total)
    cut = any(group.size > len(group.blocks) for group in parts)
    is_all = total is not None and total <= len(records)
    why = ""
    if failed := failure_told(text, texts_of(records)):
        why = f"the page says {failed!r}"
    elif not is_all and (left_out := reader.left_out(facts, best, parts, records)):
        entries = f"{left_out} entr{'y' if left_out == 1 else 'ies'}"
        why = f"the page shows another list of such records, with {entries}; `extract.records` says which are meant"
    complete = not cut and not why and (total is None or is_all)
    return Extraction(tuple(records), complete, why=why, missing=tuple(lacking), shown=total)


def read_blocks(
    facts: Facts, properties: Sequence[Property], locale: str, accept: Sureness = "likely"
) -> dict[int, ReadRecord]:
    """What the blocks state that `read_facts` was told of, by their position."""
    reader = _BlockReader(properties, ValueHints(facts.lang or locale, facts.url), accept)
    placed = {block.position: block for group in facts.groups for block in group.blocks if block.position is not None}
    return dict(zip(placed, reader.all_read(list(placed.values())), strict=True))


def read_block(
    facts: Facts,
    properties: Sequence[Property],
    locale: str,
    stamp: str,
    accept: Sureness,
    is_meant: Callable[[str], bool],
) -> Extraction | None:
    """The record of the one block whose text `is_meant`; None where the page has no such block, or several."""
    reader = _BlockReader(properties, ValueHints(facts.lang or locale, facts.url), accept)
    groups = [(group, [block for block in group.blocks if is_meant(block.text)]) for group in facts.groups]
    meant = [(group, blocks[0]) for group, blocks in groups if len(blocks) == 1]
    if not meant or any(len(blocks) > 1 for _, blocks in groups):
        return None
    _, block = max(meant, key=lambda pair: reader.fit(pair[0]))
    read = reader.read(block)
    if not read.sources and not read.candidates:
        return Extraction((), missing=read.missing)
    return Extraction((Record(read.value, read.sources, facts.url, stamp, read.candidates),), missing=read.missing)


def _nothing(properties: Sequence[Property], total: int | None) -> Extraction:
    """What is said of a page on which no list has the fields of the schema."""
    names = tuple(prop.name for prop in properties)
    why = f"the page shows no list whose entries state {', '.join(names)}"
    return Extraction((), complete=False, why=why, missing=names, shown=total)


def _parts(facts: Facts, best: BlockGroup) -> list[BlockGroup]:
    """The page's lists that are one list with the best one: tables with its columns, and lists of its path without a
    heading between them, as columns of cards."""

    def is_part(group: BlockGroup) -> bool:
        if group is best or (best.columns and group.columns == best.columns):
            return True
        return bool(best.path) and (group.path, group.heading) == (best.path, best.heading)

    return [group for group in facts.groups if is_part(group)]


class _BlockReader:
    """Reads blocks of one page by the properties of a schema."""

    def __init__(self, properties: Sequence[Property], hints: ValueHints, accept: Sureness) -> None:
        self._properties = properties
        self._hints = hints
        self._accept: Sureness = accept
        self._shares: dict[BlockGroup, float] = {}

    def read(self, block: Facts) -> ReadRecord:
        """What one block states."""
        candidates = block_candidates(block)
        fields = FieldReader(candidates, self._hints, VisibleText(block.text, self._hints, candidates))
        return read_record(fields, self._properties, self._accept)

    def all_read(self, blocks: Sequence[Facts]) -> list[ReadRecord]:
        """What each block states, without what all of them take from the same words: the heading of the list."""
        read = [self.read(block) for block in blocks]
        for prop in self._properties:
            given = [record for record in read if prop.name in record.sources]
            said = {(repr(record.value[prop.name]), record.sources[prop.name].how) for record in given}
            if len(given) > 2 and [how for _, how in said] == ["heading"]:
                for misread in given:
                    del misread.value[prop.name], misread.sources[prop.name]
        return read

    def records(self, blocks: Sequence[Facts]) -> list[ReadRecord]:
        """Of those blocks that state at least half of the fields; headers, fillers and advertisements state less."""
        return [
            read for read in self.all_read(blocks) if read.sources and len(read.sources) * 2 >= len(self._properties)
        ]

    def fit(self, group: BlockGroup) -> float:
        """How well a group's blocks hold what the schema asks for; 0: not well enough. More blocks count a little."""
        share = self._stated(group)
        if share < 0.4:
            return 0.0
        return share * _REGIONS.get(group.region, 1.0) * (1.0 + 0.02 * min(20, group.size))

    def _stated(self, group: BlockGroup) -> float:
        """The share of the fields that the group's first blocks state, less where they lack a required one."""
        if group not in self._shares:
            self._shares[group] = self._read_share(group)
        return self._shares[group]

    def _read_share(self, group: BlockGroup) -> float:
        blocks = group.blocks[:_TRIED]
        if not blocks or not self._properties:
            return 0.0
        filled = 0.0
        for read in map(self.read, blocks):
            lacking = sum(prop.required and prop.name in read.missing for prop in self._properties)
            filled += (len(read.sources) - 0.25 * lacking) / len(self._properties)
        return filled / len(blocks)

    def left_out(self, facts: Facts, best: BlockGroup, parts: Sequence[BlockGroup], records: Sequence[Record]) -> int:
        """How many records another list of such blocks holds that the page's own content shows; 0 without such a list.

        A list that repeats records, and one about something else, as related items, is none: values in a block that is
        named so count for less. Neither is one under
        another heading, where a field's name is a word of the heading over the records: options, and then commands.
        """
        known = {repr(record.value) for record in records}
        words = frozenset(word for prop in self._properties for said in prop.phrases for word in said)
        is_named = not words.isdisjoint(phrase(best.heading[1]))
        least = self._stated(best)
        for group in facts.groups:
            if group.kind != best.kind or group in parts:
                continue
            if is_named and words.isdisjoint(phrase(group.heading[1])):
                continue
            if self._stated(group) < least:
                continue
            own = self.records(group.blocks)
            if any(repr(read.value) not in known for read in own):
                return len(own)
        return 0
