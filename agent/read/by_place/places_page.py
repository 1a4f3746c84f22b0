"""The page's contents at the places that a job gives, as `places.js` sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shoal.agent.read.by_place.place import Place
from shoal.agent.support.json_value import Json

PLACES_JS = (Path(__file__).parent / "places.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record's element, and the places of its fields in it."""

    where: str  # selector of the element; "" for the page as a whole
    places: Mapping[str, tuple[Place, ...]]  # by field
    may_be_heading: bool  # a row of a table that may hold headers or the title of a section

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The record that the script sent."""
        places = {name: tuple(map(Place.of, several)) for name, several in said["f"].items()}
        return cls(str(said["s"]), places, bool(said["x"]))


@dataclass(frozen=True, slots=True)
class JsonText:
    """A text of the page that should be JSON."""

    kind: str  # json-ld, script, state (assigned to a variable), fetched or document
    text: str
    where: str  # selector of its script, or the address of what was fetched; "" for a page that is JSON itself

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The text that the script sent."""
        return cls(str(said["k"]), str(said["t"]), str(said["s"]))


@dataclass(frozen=True, slots=True)
class PlacesPage:
    """One look at a page."""

    url: str
    lang: str
    loaded: bool
    busy: bool
    scripted: bool
    invalid: tuple[str, ...]  # names of the places whose selector is no CSS
    awaited: bool  # whether what the job waits for is there
    cut: bool  # the page has more records than were read
    records: tuple[PlacedRecord, ...]
    near: Mapping[str, tuple[str, ...]]  # by place that is not there: what is similar to it
    tables: int  # tables with the asked columns
    json: tuple[JsonText, ...]
    json_cut: bool  # a part of its JSON is too large to be read
    text: str  # of a page with a list

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The page that the script sent."""
        return cls(
            url=str(said["url"]),
            lang=str(said["lang"]),
            loaded=said["ready"] == "complete",
            busy=bool(said["busy"]),
            scripted=bool(said["scripts"]),
            invalid=tuple(said["invalid"]),
            awaited=bool(said["awaited"]),
            cut=bool(said["cut"]),
            records=tuple(map(PlacedRecord.of, said["records"])),
            near={name: tuple(map(str, texts)) for name, texts in said["near"].items()},
            tables=int(said.get("tables", 0)),
            json=tuple(map(JsonText.of, said["json"])),
            json_cut=bool(said["jsonCut"]),
            text=str(said["text"]),
        )

    @property
    def loading(self) -> bool:
        """Return whether the page itself says that it is not complete yet."""
        return self.busy or not self.loaded
