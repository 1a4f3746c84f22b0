"""The contents of a page at the places that a job gives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from shoal.agent.browser import PageDocument
from shoal.agent.errors import BrowserError
from shoal.agent.read.by_place.elements.page_reading import PLACES_JS, parse_places_answer, places_parameters
from shoal.agent.read.by_place.place import Place
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record's element, and the places of its fields in it."""

    where: str  # selector of the element; "" for the page as a whole
    places: Mapping[str, tuple[Place, ...]]  # by field
    may_be_heading: bool  # a row of a table that may hold headers or the title of a section

    @classmethod
    def of(cls, entry: Mapping[str, Json]) -> Self:
        """The record that was told."""
        places = {name: tuple(map(Place.of, several)) for name, several in entry["f"].items()}
        return cls(str(entry["s"]), places, bool(entry["x"]))


@dataclass(frozen=True, slots=True)
class JsonText:
    """A text of the page that should be JSON."""

    kind: str  # json-ld, script, state (assigned to a variable), fetched or document
    text: str
    where: str  # selector of its script, or the address of what was fetched; "" for a page that is JSON itself

    @classmethod
    def of(cls, entry: Mapping[str, Json]) -> Self:
        """The text that was told."""
        return cls(str(entry["k"]), str(entry["t"]), str(entry["s"]))


@dataclass(frozen=True, slots=True)
class PlacesPage:
    """One look at a page."""

    url: str
    lang: str
    loaded: bool
    busy: bool
    scripted: bool
    invalid: tuple[str, ...]  # names of the places whose selector is no CSS
    cut: bool  # the page has more records than were read
    records: tuple[PlacedRecord, ...]
    near: Mapping[str, tuple[str, ...]]  # by place that is not there: what is similar to it
    tables: int  # tables with the asked columns
    json: tuple[JsonText, ...]
    json_cut: bool  # a part of its JSON is too large to be read
    text: str  # of a page with a list

    @classmethod
    def of(cls, answer: Mapping[str, Json]) -> Self:
        """The page of an answer. What the answer leaves out is empty."""
        return cls(
            url=str(answer["url"]),
            lang=str(answer["lang"]),
            loaded=answer.get("ready", "complete") == "complete",
            busy=bool(answer.get("busy")),
            scripted=bool(answer["scripts"]),
            invalid=tuple(answer.get("invalid", ())),
            cut=bool(answer.get("cut")),
            records=tuple(map(PlacedRecord.of, answer["records"])),
            near={name: tuple(map(str, texts)) for name, texts in answer.get("near", {}).items()},
            tables=int(answer.get("tables", 0)),
            json=tuple(map(JsonText.of, answer.get("json", ()))),
            json_cut=bool(answer.get("jsonCut")),
            text=str(answer.get("text", "")),
        )

    @property
    def loading(self) -> bool:
        """Return whether the page itself says that it is not complete yet."""
        return self.busy or not self.loaded


async def read_places(page: PageDocument, arg: Mapping[str, Json]) -> PlacesPage:
    """Return what stands at the places of `arg`, which is as in `places_parameters`.

    Raises:
        BrowserError: the page could not be asked.
    """
    answer = await page.read(PLACES_JS, places_parameters(arg))
    parsed = readable_json(answer) if isinstance(answer, str) else answer
    if not isinstance(parsed, Mapping):
        raise BrowserError("the page answered no places")
    return PlacesPage.of(await asyncio.to_thread(parse_places_answer, parsed, arg))
