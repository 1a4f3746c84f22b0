"""What is kept of a page when its record was found: each place that states a value, as the one extractor reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from shoal.agent.browser import Context
from shoal.agent.extraction.page_json import documents_of
from shoal.agent.extraction.place import stated
from shoal.agent.extraction.places_page import PLACES_JS, PlacesPage
from shoal.agent.policies.rules.fields.schema import Property, properties_of
from shoal.agent.policies.rules.values.currencies import read_currency
from shoal.agent.policies.rules.values.values import Reading
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.format.part import Part
from shoal.agent.workflows.learning.proposals import Proposal, propose
from shoal.agent.workflows.reading.channels import states, value_key
from shoal.agent.workflows.reading.page_guards import item_signs
from shoal.agent.workflows.reading.page_view import PageView, place_key, view_of
from shoal.agent.workflows.reading.shapes import raw_text, shape_at
from shoal.agent.workflows.told import told_by


class SampleChannel(Part):
    """One place of a page that gave a field's value."""

    family: ChannelFamily = Field(description="what it goes by")
    place: FieldPlace = Field(description="where it is")
    raw: str = Field("", description="the text that stood there")
    shape: str = Field("", description="the text's shape")
    shown: bool = Field(False, description="the place can be seen")
    proven: bool = Field(False, description="the page shows the value, here or elsewhere")

    @property
    def key(self) -> str:
        """The same for the same place on another page."""
        return Proposal(self.family, self.place).key


class PageSample(Part):
    """One page whose record is known, with what it takes to find such a record again."""

    url: str = Field(description="address of the page")
    status: int = Field(200, description="HTTP status of its document; 0: unknown")
    record: dict[str, Json] = Field(description="what was found, valid against the job's schema")
    signs: tuple[Literal["link", "label", "value"], ...] = Field((), description="what says that it is the item's")
    label: str = Field("", description="what the list calls the item")
    channels: dict[str, tuple[SampleChannel, ...]] = Field(description="by field")
    parts: tuple[str, ...] = Field((), description="selectors of its parts")
    password: bool = Field(False, description="it asks for a password")
    lang: str = Field("", description="its language")
    currency: tuple[str, ...] = Field((), description="currencies of its numbers")
    landmarks: tuple[str, ...] = Field((), description="roles of its landmarks")
    shape: str = Field("", description="hash of its outline")
    scripts: bool = Field(False, description="scripts may have made it")
    snapshot: str = Field("", description="artifact id of the page as it was")
    session: int | None = Field(None, description="id of the session that read it")


async def sample_page(
    page: Context,
    record: Mapping[str, Json],
    schema: Mapping[str, Json] | None,
    item: LoopItem | None,
    *,
    status: int = 200,
    locale: str = "",
    exact: bool = False,
) -> PageSample:
    """What the open page teaches about `record`, which somebody read from it.

    Args:
        exact: only places that state the very value teach something. Otherwise spaces, capitals and signs of texts make
            no difference.

    Raises:
        BrowserError: the page could not be asked.
        NothingTold: it is no document.
    """
    properties = {prop.name: prop for prop in properties_of(schema or {})}
    asked = await page.read(PLACES_JS, {"fields": {}, "records": None, "many": False, "near": False, "json": True})
    texts = PlacesPage.of(told_by(asked)).json
    documents = [(text.kind, document.value) for text in texts for document in documents_of([text])]
    values = {name: value for name, value in record.items() if value is not None}
    offered = await propose(page, values, documents)
    places = {place_key(proposal.place): proposal.place for field in offered.fields.values() for proposal in field}
    view = await view_of(page, tuple(places.values()), status=status)
    reading = Reading(view.lang or locale, view.url)
    channels = {
        name: tuple(_channels(proposals, values[name], _property(name, properties), view, reading, exact=exact))
        for name, proposals in offered.fields.items()
    }
    return PageSample(
        url=view.url,
        status=status,
        record=dict(record),
        signs=item_signs(view, item) if item is not None else (),
        label=item.label if item is not None else "",
        channels=channels,
        parts=offered.parts,
        password=offered.password,
        lang=view.lang,
        currency=_currencies(channels, properties, view.lang),
        landmarks=view.landmarks,
        shape=view.shape,
        scripts=view.scripts,
    )


def _property(name: str, properties: Mapping[str, Property]) -> Property:
    return properties.get(name) or Property(name, frozenset(), False, False, (), ())


def _channels(
    proposals: tuple[Proposal, ...], value: Json, prop: Property, view: PageView, reading: Reading, *, exact: bool
) -> list[SampleChannel]:
    """Those of the proposals by which the extractor reads `value`."""
    kept = []
    for proposal in proposals:
        said = stated(view.places[place_key(proposal.place)], proposal.place, prop, reading)
        if said.value is None or said.place is None or value_key(said.value) != value_key(value):
            continue
        if exact and said.value != value:
            continue
        raw = raw_text(said.place)
        seen = said.place.visible and said.place.kind not in ("json", "data", "attribute")
        kept.append(
            SampleChannel(
                family=proposal.family,
                place=proposal.place,
                raw=raw[:500],
                shape=shape_at(said.place, prop),
                shown=seen,
                proven=seen or states(view, raw),
            )
        )
    return kept


def _currencies(
    channels: Mapping[str, tuple[SampleChannel, ...]], properties: Mapping[str, Property], lang: str
) -> tuple[str, ...]:
    currencies: dict[str, None] = {}
    for name, several in channels.items():
        prop = properties.get(name)
        if prop is None or not prop.types & {"number", "integer"}:
            continue
        currencies |= {money: None for channel in several if (money := read_currency(channel.raw, lang)) is not None}
    return tuple(currencies)
