"""One record of one page, for any JSON Schema: each field's value with its witnesses and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shoal.agent.page.page import Page
from shoal.agent.read.field import Field
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.nodes import FoundNode
from shoal.agent.read.record.settling import Claim, Settled, settle
from shoal.agent.read.record.witnesses import gather
from shoal.agent.read.schema import Property
from shoal.agent.read.vocabulary import Types
from shoal.agent.types import FieldCandidate, FieldSource, Reason

_MOST_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What a page states of a schema's fields."""

    settled: dict[str, Settled] = field(default_factory=dict)  # by field; a field that no place states is not in it
    types: Types = ()  # schema.org types of the record
    nodes: tuple[FoundNode, ...] = ()  # its structured data

    def source_of(self, name: str) -> FieldSource:
        """Where the value of a field comes from."""
        settled = self.settled[name]
        first = settled.claim.witnesses[0]
        shown = settled.claim.shown and settled.sureness != "weak"
        return FieldSource(first.syntax or first.kind, first.where, shown, settled.sureness, settled.why)

    def candidates_of(self, name: str) -> tuple[FieldCandidate, ...]:
        """The value of a field that is doubted, and those that speak against it."""
        settled = self.settled[name]
        claims = (settled.claim, *settled.rivals)[:_MOST_CANDIDATES]
        return tuple(_candidate(claim, settled.why) for claim in claims)


def _candidate(claim: Claim, why: Reason) -> FieldCandidate:
    first = claim.witnesses[0]
    return FieldCandidate(claim.value, first.syntax or first.kind, first.where, "weak", why)


def read_record(page: Page, properties: Sequence[Property]) -> PageRecord:
    """Read the page's own record. Fields that ask for objects, or lists of them, are left out."""
    view = MainMatter(page)
    fields = [asked for prop in properties if (asked := Field(prop)).kind != "object"]
    if not fields:
        return PageRecord()
    testimony = gather(view, fields)
    settled = {asked.name: claim for asked in fields if (claim := settle(asked, testimony)) is not None}
    return PageRecord(settled, testimony.types, tuple(testimony.nodes))
