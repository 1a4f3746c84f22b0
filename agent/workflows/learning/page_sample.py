"""The sample of a page that is kept when its record was found: each place that states a value, as the one extractor
reads it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from shoal.agent.browser import Context, FetchedJson
from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.read.by_place.elements.page_facts import landmarks_of, outline_of
from shoal.agent.read.by_place.elements.page_reading import places_on
from shoal.agent.read.by_place.page_json import Document, documents_of
from shoal.agent.read.by_place.place import stated
from shoal.agent.read.by_place.places_page import PlacesPage
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import ChannelFamily
from shoal.agent.workflows.format.page_parts import page_parts
from shoal.agent.workflows.format.part import WorkflowPart
from shoal.agent.workflows.learning.leaves import PageLeaves
from shoal.agent.workflows.learning.proposals import (
    Proposal,
    holds_look,
    json_text,
    looks_of,
    proposed,
)
from shoal.agent.workflows.reading.channels import states, value_key
from shoal.agent.workflows.reading.own_answer import (
    NoAnswer,
    answer_of,
    contains_label,
    identifier,
    is_repeatable,
    named_leaves,
    places_in,
)
from shoal.agent.workflows.reading.page_guards import item_signs
from shoal.agent.workflows.reading.page_view import PageView, place_key, view_on
from shoal.agent.workflows.reading.shapes import raw_text, shape_at
from shoal.agent.workflows.script_answer import NoScriptAnswer, script_answer

_MOST_SNAPSHOT = 4_000_000
"""Characters of a document that is kept."""
_MOST_REQUESTS = 10
"""Of one page."""
_MOST_PLACES = 8
"""Of one value in one answer."""
_JSON_ALONE: Mapping[str, Json] = {"fields": {}, "records": None, "many": False, "near": False, "json": True}
_LOOK_JS = f"""(arg) => {{
  const html = document.documentElement.outerHTML;
  return {{...({SCRIPT})({{}}), html: html.length <= arg.most ? html : ''}};
}}"""


class SampleChannel(WorkflowPart):
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


class SampleRequest(WorkflowPart):
    """One answer that the page itself requested, and that can be requested again."""

    url: str = Field(description="address of the request, of the page's own origin")
    headers: dict[str, str] = Field(default_factory=dict, description="by which the page said what it accepts")
    channels: dict[str, tuple[SampleChannel, ...]] = Field(description="the paths that gave a field's value, by field")
    stated: dict[str, str] = Field(default_factory=dict, description="what parts of the page's address stand there")
    says_label: bool = Field(False, description="it has what the list calls the item")


class PageSample(WorkflowPart):
    """One page whose record is known, with what it takes to find such a record again."""

    url: str = Field(description="address of the page")
    status: int = Field(200, description="HTTP status of its document; 0: unknown")
    record: dict[str, Json] = Field(description="what was found, valid against the job's schema")
    signs: tuple[Literal["link", "label", "value"], ...] = Field((), description="what says that it is the item's")
    label: str = Field("", description="what the list calls the item")
    channels: dict[str, tuple[SampleChannel, ...]] = Field(description="by field")
    requests: tuple[SampleRequest, ...] = Field((), description="what its scripts requested from its own site")
    parts: tuple[str, ...] = Field((), description="selectors of its parts")
    password: bool = Field(False, description="it asks for a password")
    lang: str = Field("", description="its language")
    currency: tuple[str, ...] = Field((), description="currencies of its numbers")
    landmarks: tuple[str, ...] = Field((), description="roles of its landmarks")
    shape: str = Field("", description="hash of its outline")
    texts: tuple[str, ...] = Field((), description="the texts that can be seen, hashed, where a field may be null")
    scripts: bool = Field(False, description="scripts may have made it")
    snapshot: str = Field("", description="artifact id of the page as it was")
    session: int | None = Field(None, description="id of the session that read it")


@dataclass(frozen=True, slots=True)
class PageLook:
    """One look at a page of which a record was read."""

    html: str  # the document as it is now; "" for one that is too long to be kept
    page: Page


async def look_at(page: Context) -> PageLook:
    """All that is kept of the open page, in one call.

    Raises:
        BrowserError: the page could not be asked.
        NoScriptAnswer: it is no document.
    """
    answer = script_answer(await page.read(_LOOK_JS, {"most": _MOST_SNAPSHOT}))
    if "xml" not in answer:
        raise NoScriptAnswer("the page told nothing of what stands on it")
    return PageLook(str(answer["html"]), await asyncio.to_thread(page_of_answer, answer))


async def sample_page(
    page: Context,
    record: Mapping[str, Json],
    schema: Mapping[str, Json] | None,
    item: LoopItem | None,
    *,
    look: PageLook | None = None,
    fetched: Sequence[FetchedJson] = (),
    locale: str = "",
    exact: bool = False,
) -> PageSample:
    """Return what the open page teaches about `record`,
    which somebody read from it.

    Args:
        look: the page as it is; None: it is looked at here.
        fetched: the JSON that its scripts fetched.
        exact: only places that state the very value teach something. Otherwise spaces, capitals and signs of texts make
            no difference.

    Raises:
        BrowserError: the page could not be asked.
        NoScriptAnswer: it is no document.
    """
    look = look or await look_at(page)
    return await asyncio.to_thread(_sampled, look, record, schema, item, fetched, locale, exact)


def _sampled(
    look: PageLook,
    record: Mapping[str, Json],
    schema: Mapping[str, Json] | None,
    item: LoopItem | None,
    fetched: Sequence[FetchedJson],
    locale: str,
    exact: bool,
) -> PageSample:
    properties = {prop.name: prop for prop in properties_of(schema or {})}
    leaves = PageLeaves(look.page)
    texts = PlacesPage.of(places_on(look.page, _JSON_ALONE)).json
    documents = [(text.kind, document.value) for text in texts for document in documents_of([text])]
    values = {name: value for name, value in record.items() if value is not None}
    offered = proposed(leaves, values, documents)
    proposals = {place_key(proposal.place): proposal for field in offered.values() for proposal in field}
    optional = not properties or any(prop.nullable or not prop.required for prop in properties.values())
    numbers = {name: proposal.numbers for name, proposal in proposals.items()}
    places = [proposal.place for proposal in proposals.values()]
    view = view_on(look.page, places, numbers, texts=optional)
    reading = ValueHints(view.lang or locale, view.url)
    channels = {
        name: tuple(_channels(proposals, values[name], _property(name, properties), view, reading, exact=exact))
        for name, proposals in offered.items()
    }
    return PageSample(
        url=view.url,
        status=view.status,
        record=dict(record),
        signs=item_signs(view, item) if item is not None else (),
        label=item.label if item is not None else "",
        channels=channels,
        requests=tuple(_requests(fetched, values, properties, view, item, reading, exact=exact)),
        parts=leaves.parts(),
        password=leaves.asks_password(),
        lang=view.lang,
        currency=_currencies(channels, properties, view.lang),
        landmarks=tuple(landmarks_of(leaves.elements)),
        shape=hashlib.sha256(outline_of(leaves.elements).encode()).hexdigest()[:16],
        texts=view.texts or (),
        scripts=view.scripts,
    )


def _property(name: str, properties: Mapping[str, Property]) -> Property:
    return properties.get(name) or Property(name, frozenset(), False, False, (), ())


def _channels(
    proposals: tuple[Proposal, ...], value: Json, prop: Property, view: PageView, reading: ValueHints, *, exact: bool
) -> list[SampleChannel]:
    """Those of the proposals by which the extractor reads `value`."""
    kept = []
    for proposal in proposals:
        statement = stated(view.places[place_key(proposal.place)], proposal.place, prop, reading)
        if statement.value is None or statement.place is None or value_key(statement.value) != value_key(value):
            continue
        if exact and statement.value != value:
            continue
        raw = raw_text(statement.place)
        seen = statement.place.visible and statement.place.kind not in ("json", "data", "attribute")
        kept.append(
            SampleChannel(
                family=proposal.family,
                place=proposal.place,
                raw=raw[:500],
                shape=shape_at(statement.place, prop),
                shown=seen,
                proven=seen or states(view, raw),
            )
        )
    return kept


def _requests(
    fetched: Sequence[FetchedJson],
    values: Mapping[str, Json],
    properties: Mapping[str, Property],
    view: PageView,
    item: LoopItem | None,
    reading: ValueHints,
    *,
    exact: bool,
) -> Iterator[SampleRequest]:
    """Yield what is kept of the answers that can be requested again, each once.
    Of their texts only these places are kept.
    """
    answers = {answer.url: answer for answer in fetched if is_repeatable(view.url, answer)}
    parts = set(page_parts(view.url).values())
    for answer in list(answers.values())[:_MOST_REQUESTS]:
        try:
            document = answer_of(answer.url, answer.text)
        except NoAnswer:
            continue
        leaves = named_leaves(document)
        stated = {path: text for path, value in leaves.items() if (text := identifier(value)) in parts}
        channels = {
            name: _in_answer(document, leaves, value, _property(name, properties), view, reading, exact=exact)
            for name, value in values.items()
        }
        yield SampleRequest(
            url=answer.url,
            headers=dict(answer.headers or {}),
            channels=channels,
            stated=dict(list(stated.items())[:_MOST_PLACES]),
            says_label=item is not None and contains_label(document, item.label),
        )


def _in_answer(
    document: Document,
    leaves: Mapping[str, Json],
    value: Json,
    prop: Property,
    view: PageView,
    reading: ValueHints,
    *,
    exact: bool,
) -> tuple[SampleChannel, ...]:
    """The places of an answer that give a field's value."""
    looks = looks_of(value)
    paths = [path for path, leaf in leaves.items() if holds_look(json_text(leaf), looks)]
    offered = tuple(Proposal("json", FieldPlace.model_validate({"json": path})) for path in paths)
    answered = replace(view, places={place_key(p.place): places_in(p.place.query, document) for p in offered})
    return tuple(_channels(offered, value, prop, answered, reading, exact=exact)[:_MOST_PLACES])


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
