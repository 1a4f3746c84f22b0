"""Many records of one page: the group of repeated blocks that fits the schema best, each read relative to its block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from shoal.agent.grounding.claims import says_empty, stated_count, texts_of
from shoal.agent.grounding.part_claims import failure_told
from shoal.agent.policies.policy import Extraction
from shoal.agent.policies.rules.facts.facts import BlockGroup, Facts
from shoal.agent.policies.rules.fields.candidates import block_candidates
from shoal.agent.policies.rules.fields.fields import FieldReader, ReadRecord, read_record
from shoal.agent.policies.rules.fields.schema import Property
from shoal.agent.policies.rules.fields.visible_text import VisibleText
from shoal.agent.policies.rules.values.values import ValueHints
from shoal.agent.policies.rules.values.words import phrase
from shoal.agent.types import Record, Sureness

_TRIED = 4  # blocks of a group that are read to judge it
_REGIONS = {"": 1.0, "aside": 0.5, "nav": 0.2, "header": 0.2, "footer": 0.2, "dialog": 0.1}


def read_records(
    facts: Facts, properties: Sequence[Property], locale: str, stamp: str, accept: Sureness = "likely"
) -> Extraction:
    """The records of the best fitting group of repeated blocks; none when no group has what the schema requires.

    A block that states less than half of the fields is no record.
    """
    reading = ValueHints(facts.lang or locale, facts.url)
    best: tuple[float, BlockGroup] | None = None
    for group in facts.groups:
        score = _fit(group, properties, reading, accept)
        if score > 0 and (best is None or score > best[0]):
            best = (score, group)
    text = facts.text + "\n" + facts.beside
    total = stated_count(text)
    if best is None:
        return _nothing(properties, total, empty=says_empty(text))
    chapters = _chapters(facts, best[1])
    records: list[Record] = []
    lacking: Counter[str] = Counter()
    for read in _all_read([block for group in chapters for block in group.blocks], properties, reading, accept):
        if _is_record(read, properties):
            records.append(Record(read.value, read.sources, facts.url, stamp, read.candidates))
            lacking.update(read.missing)
    cut = any(group.size > len(group.blocks) for group in chapters)
    failed = failure_told(text, texts_of(records))
    why = f"the page says {failed!r}" if failed else ""
    if not why and (left_out := _left_out(facts, best[1], chapters, records, properties, reading, accept)):
        entries = f"{left_out} entr{'y' if left_out == 1 else 'ies'}"
        why = f"the page shows another list of such records, with {entries}; `extract.records` says which are meant"
    complete = not cut and not why and (total is None or total <= len(records))
    return Extraction(tuple(records), complete, why=why, missing=tuple(lacking), shown=total)


def read_blocks(
    facts: Facts, properties: Sequence[Property], locale: str, accept: Sureness = "likely"
) -> dict[int, ReadRecord]:
    """What the blocks state that `read_facts` was told of, by their position."""
    reading = ValueHints(facts.lang or locale, facts.url)
    placed = {block.position: block for group in facts.groups for block in group.blocks if block.position is not None}
    read = _all_read(list(placed.values()), properties, reading, accept)
    return dict(zip(placed, read, strict=True))


def read_block(
    facts: Facts,
    properties: Sequence[Property],
    locale: str,
    stamp: str,
    accept: Sureness,
    is_meant: Callable[[str], bool],
) -> Extraction | None:
    """The record of the one block whose text `is_meant`; None where the page has no such block, or several."""
    reading = ValueHints(facts.lang or locale, facts.url)
    groups = [(group, [block for block in group.blocks if is_meant(block.text)]) for group in facts.groups]
    meant = [(group, blocks[0]) for group, blocks in groups if len(blocks) == 1]
    if not meant or any(len(blocks) > 1 for _, blocks in groups):
        return None
    _, block = max(meant, key=lambda pair: _fit(pair[0], properties, reading, accept))
    read = read_record(_reader(block, reading), properties, accept)
    if not read.sources and not read.candidates:
        return Extraction((), missing=read.missing)
    return Extraction((Record(read.value, read.sources, facts.url, stamp, read.candidates),), missing=read.missing)


def _nothing(properties: Sequence[Property], total: int | None, *, empty: bool) -> Extraction:
    """What is said of a page on which no list has the fields of the schema."""
    names = tuple(prop.name for prop in properties)
    why = "" if empty else f"the page shows no list whose entries state {', '.join(names)}"
    return Extraction((), complete=empty or total == 0, empty=empty or total == 0, why=why, missing=names, shown=total)


def _chapters(facts: Facts, best: BlockGroup) -> list[BlockGroup]:
    """The page's lists that are one list with the best one: tables with its columns, and other parts of a list of its
    path, without a heading between them, as columns of cards."""

    def is_chapter(group: BlockGroup) -> bool:
        if group is best or (best.columns and group.columns == best.columns):
            return True
        return bool(best.path) and (group.path, group.heading) == (best.path, best.heading)

    return [group for group in facts.groups if is_chapter(group)]


def _left_out(
    facts: Facts,
    best: BlockGroup,
    chapters: Sequence[BlockGroup],
    records: Sequence[Record],
    properties: Sequence[Property],
    reading: ValueHints,
    accept: Sureness,
) -> int:
    """How many records another list of such blocks holds that the page's own content shows; 0 without such a list.

    A list that repeats records, and one about something else, as related items, is none. Neither is one under another
    heading, where a field's name is a word of the heading over the records: options, and then commands.
    """
    known = {repr(record.value) for record in records}
    words = frozenset(word for prop in properties for said in prop.phrases for word in said)
    is_named = not words.isdisjoint(phrase(best.heading[1]))
    for group in facts.groups:
        if is_named and words.isdisjoint(phrase(group.heading[1])):
            continue
        if group.kind != best.kind or group.region != best.region or group.of_others or group in chapters:
            continue
        if _stated(group, properties, reading, accept) < _stated(best, properties, reading, accept):
            continue
        read = _all_read(group.blocks, properties, reading, accept)
        own = [record for record in read if _is_record(record, properties)]
        if any(repr(record.value) not in known for record in own):
            return len(own)
    return 0


def _all_read(
    blocks: Sequence[Facts], properties: Sequence[Property], reading: ValueHints, accept: Sureness
) -> list[ReadRecord]:
    """The group's blocks as records, without what all of them take from the same words: the heading of the list."""
    read = [read_record(_reader(block, reading), properties, accept) for block in blocks]
    for prop in properties:
        given = [record for record in read if prop.name in record.sources]
        values = {repr(record.value[prop.name]) for record in given}
        if len(given) > 2 and len(values) == 1 and {record.sources[prop.name].how for record in given} == {"heading"}:
            for misread in given:
                del misread.value[prop.name], misread.sources[prop.name]
    return read


def _reader(block: Facts, reading: ValueHints) -> FieldReader:
    candidates = block_candidates(block)
    return FieldReader(candidates, reading, VisibleText(block.text, reading, candidates))


def _is_record(read: ReadRecord, properties: Sequence[Property]) -> bool:
    """A block that states at least half of the fields; headers, fillers and advertisements state less."""
    return bool(read.sources) and len(read.sources) * 2 >= len(properties)


def _fit(group: BlockGroup, properties: Sequence[Property], reading: ValueHints, accept: Sureness) -> float:
    """How well a group's blocks hold what the schema asks for; more blocks count a little."""
    share = _stated(group, properties, reading, accept)
    if share < 0.4:
        return 0.0
    return share * _REGIONS.get(group.region, 1.0) * (1.0 + 0.02 * min(20, group.size))


def _stated(group: BlockGroup, properties: Sequence[Property], reading: ValueHints, accept: Sureness) -> float:
    """The share of the fields that the group's first blocks state, less where they lack a required one."""
    blocks = group.blocks[:_TRIED]
    if not blocks:
        return 0.0
    filled = 0.0
    for block in blocks:
        read = read_record(_reader(block, reading), properties, accept)
        filled += len(read.sources) / len(properties) if properties else 0.0
        lacking = sum(prop.required and prop.name in read.missing for prop in properties)
        filled -= 0.25 * lacking / max(1, len(properties))
    return filled / len(blocks)
