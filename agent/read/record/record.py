"""One record of one page, for any JSON Schema: each field's value, where it comes from, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shoal.agent.browser import FetchedJson
from shoal.agent.page.page import Page
from shoal.agent.read.facts.facts import Facts, facts_of
from shoal.agent.read.field import Field
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.settling import settle
from shoal.agent.read.record.value_kinds import limit_sureness
from shoal.agent.read.record.weighing import weighed
from shoal.agent.read.record.witnesses import Testimony, gather
from shoal.agent.read.schema import Property
from shoal.agent.read.shown.choosing import MOST_CANDIDATES, SURENESS_ORDER, FieldAnswer
from shoal.agent.read.shown.places import name_stems
from shoal.agent.read.shown.reader import FieldReader, block_fields, page_fields
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.support.json_value import Json
from shoal.agent.sureness import Sureness
from shoal.agent.types import FieldCandidate, FieldSource


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record as one page or block states it."""

    value: dict[str, Json] = field(default_factory=dict)
    sources: dict[str, FieldSource] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # fields that are not given
    candidates: dict[str, tuple[FieldCandidate, ...]] = field(default_factory=dict)  # of missing fields


class PageReader:
    """Reads a page's own record.

    Args:
        locale: helps where the page does not say its language.
        places_alone: leaves out structured data, meta elements and the main text, which take long on a large page.
    """

    def __init__(
        self, page: Page, properties: Sequence[Property], locale: str = "", *, places_alone: bool = False
    ) -> None:
        self.facts: Facts = facts_of(page, name_stems(properties))
        self._properties, self._locale = properties, locale
        self._testimony = None if places_alone else gather(MainMatter(page), list(map(Field, properties)))

    def read(self, accept: Sureness = "likely", answers: Sequence[FetchedJson] = ()) -> ReadRecord:
        """The record, with what the page's scripts fetched as a further witness."""
        shown = page_fields(self.facts, self._locale, answers)
        return _RecordReading(shown, self._testimony).record(self._properties, accept)


def read_record(page: Page, properties: Sequence[Property], accept: Sureness = "likely") -> ReadRecord:
    """The record of a page that stands still."""
    return PageReader(page, properties).read(accept)


def read_blocks(
    facts: Facts, properties: Sequence[Property], locale: str, accept: Sureness = "likely"
) -> dict[int, ReadRecord]:
    """Return what the elements state that `facts_of` was told of, each by itself,
    by their position.

    What all of them take from the same heading is the list's, and no record's.
    """
    hints = ValueHints(facts.lang or locale, facts.url)
    read = {
        place: _RecordReading(block_fields(block, hints)).record(properties, accept)
        for place, block in facts.blocks.items()
    }
    for prop in properties:
        given = [record for record in read.values() if prop.name in record.sources]
        statements = {(repr(record.value[prop.name]), record.sources[prop.name].how) for record in given}
        if len(given) > 2 and [how for _, how in statements] == ["heading"]:
            for misread in given:
                del misread.value[prop.name], misread.sources[prop.name]
    return read


@dataclass(frozen=True, slots=True)
class _RecordReading:
    """One reading of a page or a block."""

    shown: FieldReader
    testimony: Testimony | None = None  # beside the shown places

    def record(self, properties: Sequence[Property], accept: Sureness) -> ReadRecord:
        """Each field with its source, or with the candidates that are less sure than `accept`.

        A field that may be null and was not found is null; it is reported as missing all the same.
        """
        self.shown.expect(properties)
        record, missing = ReadRecord(), []
        for prop in properties:
            answer = self._answer(prop, prop.name).filter_by_sureness(accept)
            if answer.source is not None:
                record.value[prop.name] = answer.value
                record.sources[prop.name] = answer.source
                continue
            missing.append(prop.name)
            if answer.candidates:
                record.candidates[prop.name] = answer.candidates
            if prop.nullable:
                record.value[prop.name] = None
        return replace(record, missing=tuple(missing))

    def _answer(self, prop: Property, name: str) -> FieldAnswer:
        """The answer for one field, whose witnesses are known by `name`."""
        asked = Field(prop)
        if asked.kind == "object":
            return self._object(prop, name)
        by_places, settled = self.shown.read(prop), None
        if self.testimony is not None:
            seen = by_places.value if by_places.source is not None and by_places.source.confirmed else None
            settled = settle(asked, name, self.testimony, seen)
        read_as = settled.claim.prop if settled is not None else prop.concept.name if prop.concept is not None else ""
        return limit_sureness(weighed(by_places, settled, asked), asked, read_as)

    def _object(self, prop: Property, name: str) -> FieldAnswer:
        answers = {part.name: self._answer(part, f"{name}.{part.name}") for part in prop.properties}
        parts = {part: (answer.value, answer.source) for part, answer in answers.items() if answer.source is not None}
        if not parts or any(part.required and part.name not in parts for part in prop.properties):
            candidates = [candidate for answer in answers.values() for candidate in answer.candidates]
            return FieldAnswer(candidates=tuple(candidates[:MOST_CANDIDATES]))
        sources = [source for _, source in parts.values()]
        least = max(sources, key=lambda source: SURENESS_ORDER.index(source.sureness))
        confirmed = all(source.confirmed for source in sources)
        source = replace(sources[0], confirmed=confirmed, sureness=least.sureness, why=least.why)
        return FieldAnswer({part: value for part, (value, _) in parts.items()}, source)
