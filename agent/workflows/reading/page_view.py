"""One look at a page: what it is, and what stands at the places that branches read. Judged elsewhere, and purely."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.extraction.page_json import Document, documents_of, places_at
from shoal.agent.extraction.place import Place
from shoal.agent.extraction.places_page import PLACES_JS, PlacesPage
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.told import told_by

FACTS_JS = (Path(__file__).parent / "facts.js").read_text(encoding="utf-8")
VIEW_JS = f"(arg) => JSON.stringify({{places: ({PLACES_JS})(arg.places), facts: ({FACTS_JS})(arg.facts)}})"


@dataclass(frozen=True, slots=True)
class PageView:
    """What every guard and every channel is judged by. Any tier makes one of these, and the same judge reads it."""

    url: str
    status: int = 200  # HTTP status of the document; 0 where it is not known
    lang: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()  # texts of h1 and h2 that can be seen
    text: str = ""  # what the page shows
    present: frozenset[str] = frozenset()  # of the selectors that were asked about: those that find something
    visible: frozenset[str] = frozenset()  # of these: those that find something that can be seen
    landmarks: tuple[str, ...] = ()
    shape: str = ""  # hash of the document's outline
    busy: bool = False  # it says that it still loads
    ready: bool = True  # the document is complete
    scripts: bool = False  # scripts may still change it
    document: bool = False  # it is from a document alone, which no browser has opened
    places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)  # by `place_key`


def place_key(place: FieldPlace) -> str:
    """The key of a place in `PageView.places`. The reader is no part of it: it changes no place."""
    return f"{place.kind} {place.query} {place.attribute or ''} {'all' if place.all else ''}".strip()


def selectors_of(branches: Iterable[Branch]) -> tuple[str, ...]:
    """The selectors whose presence the guards of `branches` ask for."""
    asked: dict[str, None] = {}
    for branch in branches:
        asked |= dict.fromkeys((*branch.signature.required, *branch.signature.forbidden))
        asked |= dict.fromkeys(field.absent for field in branch.fields if field.absent)
    return tuple(asked)


def places_of(branches: Iterable[Branch]) -> tuple[FieldPlace, ...]:
    """The places that `branches` read, each once."""
    channels = (channel for branch in branches for field in branch.fields for channel in field.channels)
    return tuple({place_key(channel.place): channel.place for channel in channels}.values())


async def view_of(
    page: Context,
    places: Sequence[FieldPlace],
    selectors: Sequence[str] = (),
    *,
    status: int = 200,
    rendered: bool = False,
) -> PageView:
    """The page that is open now, in one question.

    Args:
        rendered: a browser has to open it, where so far only its document was read.

    Raises:
        NothingTold: the page answered something else.
    """
    in_page = {place_key(place): place for place in places if place.kind != "json"}
    asked = {
        "places": {
            "fields": {
                key: {"kind": place.kind, "query": place.query, "attribute": place.attribute}
                for key, place in in_page.items()
            },
            "records": None,
            "many": False,
            "near": False,
            "json": len(in_page) < len(places),
        },
        "facts": {"selectors": list(selectors)},
        "paths": {place_key(place): place.query for place in places if place.kind == "json"},
        "rendered": rendered,
    }
    answer = await page.read(VIEW_JS, asked)
    told = told_by(answer)
    return view_from(told_by(told.get("places")), told_by(told.get("facts")), places, status=status)


def view_from(
    told: Mapping[str, Json], facts: Mapping[str, Json], places: Sequence[FieldPlace], *, status: int = 200
) -> PageView:
    """The view that `places.js` and `facts.js` tell of."""
    looked = PlacesPage.of(told)
    documents = documents_of(looked.json)
    places_by_key = looked.records[0].places if looked.records else {}
    outline = str(facts["outline"])
    return PageView(
        url=str(facts["url"]),
        status=status,
        lang=str(facts["lang"]),
        title=str(facts["title"]),
        headings=tuple(map(str, facts["headings"])),
        text=str(facts["text"]),
        present=frozenset(map(str, facts["present"])),
        visible=frozenset(map(str, facts["visible"])),
        landmarks=tuple(map(str, facts["landmarks"])),
        shape=hashlib.sha256(outline.encode()).hexdigest()[:16],
        busy=bool(facts["busy"]),
        ready=facts["ready"] == "complete",
        scripts=looked.scripted,
        document=bool(facts.get("document")),
        places={
            place_key(place): _in_json(place, documents)
            if place.kind == "json"
            else places_by_key.get(place_key(place), ())
            for place in places
        },
    )


def _in_json(place: FieldPlace, documents: Sequence[Document]) -> tuple[Place, ...]:
    """What the path leads to. A path that takes too much work on this page leads nowhere on it."""
    try:
        return tuple(places_at(place.query, documents))
    except JsonPathFault:
        return ()
