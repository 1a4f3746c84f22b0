"""One page read by a version's branches: a record that everything bears out, or misses. Pure: the view decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.agent.read.by_place.page_json import Document
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.support.json_value import Json
from shoal.agent.support.once_each import once_each
from shoal.agent.support.schemas.engine import SchemaUnusable, compiled, faults
from shoal.agent.types import FieldSource, LoopItem, Record
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.format.branch import Branch, ChannelFamily
from shoal.agent.workflows.reading.channels import is_same_text, read_field
from shoal.agent.workflows.reading.own_answer import answer_misses, places_in
from shoal.agent.workflows.reading.page_guards import PASSWORD, page_misses
from shoal.agent.workflows.reading.page_view import PageView, place_key
from shoal.agent.workflows.verdict import FieldRead, PageRead

_MOST_SCHEMAS = 64
_validator = once_each(_MOST_SCHEMAS)(compiled)


@once_each(_MOST_SCHEMAS)
def _properties(schema: Mapping[str, Json]) -> Mapping[str, Property]:
    """The properties of a schema by name."""
    return {prop.name: prop for prop in properties_of(schema)}


def read_page(
    view: PageView,
    branches: Sequence[Branch],
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    *,
    locale: str = "",
    at: str = "",
) -> PageRead:
    """The record of the page, by the one branch whose signature it has.

    Args:
        schema: of one record; the record has to be valid against it.
        locale: of the browser, for a page that says no language.
        at: when the page was got, ISO 8601.
    """
    if view.answer is not None:
        return _read_answer(view, view.answer, branches, item, schema, locale, at)
    refused: list[Divergence] = []
    known: list[tuple[Branch, PageRead]] = []
    for branch in branches:
        misses = tuple(page_misses(view, branch.signature, item))
        if misses:
            refused += misses
        else:
            known.append((branch, _read(view, branch, item, schema, locale, at)))
    read = [page_read for _, page_read in known if page_read.record is not None]
    values = {repr(page_read.record.value) for page_read in read if page_read.record is not None}
    if len(values) > 1:
        names = ", ".join(page_read.branch for page_read in read)
        miss = Divergence(DivergenceReason.CONTRADICTION, "branches", f"{names} read the page differently")
        return PageRead(None, misses=(miss,))
    if read:
        return read[0]
    all_misses = [miss for _, page_read in known for miss in page_read.misses]
    if not known:
        return PageRead(None, misses=tuple(refused))
    branch, first = known[0]
    return PageRead(None, branch.id, tuple(all_misses), fields=first.fields)


def _read_answer(
    view: PageView,
    answer: Document,
    branches: Sequence[Branch],
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    locale: str,
    at: str,
) -> PageRead:
    """The record of what the page itself requests. The page's document says no more than that the page is there.

    Where pages are of several kinds, an answer does not say of which kind its page is.
    """
    branch = branches[0]
    request = branch.request
    if len(branches) != 1 or request is None or item is None or "link" not in branch.signature.item:
        reason = "only pages of one kind, each the item's own, are read by what they request"
        return PageRead(None, misses=(Divergence(DivergenceReason.UNSUPPORTED, "request", reason),))
    document = branch.signature.model_copy(update={"required": (), "forbidden": (PASSWORD,), "item": ("link",)})
    misses = (*page_misses(replace(view, busy=False), document, item), *answer_misses(answer, request, view.url, item))
    if misses:
        return PageRead(None, branch.id, misses)
    places = {
        place_key(channel.place): places_in(channel.place.query, answer)
        for field in request.fields
        for channel in field.channels
    }
    fields = branch.model_copy(update={"fields": request.fields})
    return _read(replace(view, places=places), fields, item, schema, locale, at)


def _read(
    view: PageView,
    branch: Branch,
    item: LoopItem | None,
    schema: Mapping[str, Json] | None,
    locale: str,
    at: str,
) -> PageRead:
    properties = _properties(schema) if schema is not None else {}
    reading = ValueHints(view.lang or locale, view.url)
    read: dict[str, FieldRead] = {}
    for field in branch.fields:
        prop = properties.get(field.name) or Property(field.name, frozenset(), False, False, (), ())
        read[field.name] = read_field(field, prop, view, reading)
    misses = [field_read.miss for field_read in read.values() if field_read.miss is not None]
    misses += _foreign_money(branch, read, properties, view)
    misses += _another_item(branch, read, item)
    hits: dict[str, tuple[ChannelFamily, ...]] = {name: field_read.hits for name, field_read in read.items()}
    if misses:
        return PageRead(None, branch.id, tuple(misses), hits, fields=read)
    value = {
        name: field_read.value
        for name, field_read in read.items()
        if field_read.value is not None or name not in properties or properties[name].nullable
    }
    invalid = _invalid(value, schema)
    if invalid is not None:
        return PageRead(None, branch.id, (invalid,), hits, fields=read)
    sources: dict[str, FieldSource] = {
        name: field_read.source for name, field_read in read.items() if field_read.source is not None
    }
    return PageRead(
        Record(value, sources, view.url, at),
        branch.id,
        hits=hits,
        raw={name: field_read.raw for name, field_read in read.items()},
        fields=read,
    )


def _another_item(branch: Branch, read: Mapping[str, FieldRead], item: LoopItem | None) -> list[Divergence]:
    """A name that is not the item's: the page shows another one, as pages of what is gone like to do."""
    if item is None:
        return []
    return [
        Divergence(DivergenceReason.NOT_THE_ITEM, field.name, f"{read[field.name].value!r} is not {item.label!r}")
        for field in branch.fields
        if field.is_label and read[field.name].miss is None and not is_same_text(read[field.name].value, item.label)
    ]


def _foreign_money(
    branch: Branch, read: Mapping[str, FieldRead], properties: Mapping[str, Property], view: PageView
) -> list[Divergence]:
    """A number that is now in another currency than on the pages that were learned from."""
    known = branch.signature.currency
    misses: list[Divergence] = []
    for name, field_read in read.items():
        prop = properties.get(name)
        if not known or prop is None or not prop.types & {"number", "integer"} or not field_read.raw:
            continue
        currency = read_currency(field_read.raw, view.lang)
        if currency is not None and currency not in known:
            reason = f"{field_read.raw!r} is in {currency}, and {' or '.join(known)} was learned"
            misses.append(Divergence(DivergenceReason.SHAPE, name, reason, {name: field_read.hits}))
    return misses


def _invalid(value: Json, schema: Mapping[str, Json] | None) -> Divergence | None:
    if schema is None:
        return None
    try:
        wrong = faults(_validator(schema), value, 1)
    except SchemaUnusable as unusable:
        return Divergence(DivergenceReason.SCHEMA, "schema", str(unusable))
    if not wrong:
        return None
    return Divergence(DivergenceReason.SCHEMA, ".".join(map(str, wrong[0].path)) or "record", wrong[0].message)
