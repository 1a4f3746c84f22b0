"""One look at a page: what it is, and what stands at the places that branches read. Judged elsewhere, and purely."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.agent.browser import Context
from shoal.agent.page.page import Page
from shoal.agent.read.by_place.elements.page_reading import (
    PLACES_JS,
    parse_places_answer,
    places_on,
    places_parameters,
)
from shoal.agent.read.by_place.page_json import Document, documents_of, places_at
from shoal.agent.read.by_place.place import Place
from shoal.agent.read.by_place.places_page import PlacesPage
from shoal.agent.read.values.placeholders import is_placeholder
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json
from shoal.agent.support.once_each import once_each
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.reading.shapes import shape_of
from shoal.agent.workflows.script_answer import script_answer

_SHORT = 24
"""Characters of a text that may be a value; a longer one is prose."""
_MOST_PLACES = 10_000
_MOST_ASKED = 64
NO_VALUE = "none"
"""The wording of a text that stands where a value is missing."""


@dataclass(frozen=True, slots=True)
class PageView:
    """The view of a page that every guard and every channel is judged by. Any tier makes one of these, and the same
    judge reads it.
    """

    url: str
    status: int = 200  # HTTP status of the document; 0 where it is not known
    lang: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()  # texts of h1 and h2 that can be seen
    text: str = ""  # what the page shows
    present: frozenset[str] = frozenset()  # of the selectors that were asked about: those that find something
    visible: frozenset[str] = frozenset()  # of these: those that find something that can be seen
    busy: bool = False  # it says that it still loads
    ready: bool = True  # the document is complete
    scripts: bool = False  # scripts may still change it
    document: bool = False  # it is from a document alone, which no browser has opened
    places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)  # by `place_key`
    texts: tuple[str, ...] | None = (
        None  # those that can be seen, as `hashed_text` has them; None: not asked, or not told
    )
    answer: Document | None = None  # of the page's own request, which is read in the page's stead


@once_each(_MOST_PLACES)
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


def needs_texts(branches: Iterable[Branch]) -> bool:
    """Return whether `branches` go by all texts of a page: by those they tell that it lacks a value."""
    return any(field.without is not None for branch in branches for field in branch.fields)


def view_parameters(
    places: Sequence[FieldPlace],
    selectors: Sequence[str] = (),
    *,
    rendered: bool = False,
    texts: bool = False,
) -> dict[str, Any]:
    """Return the parameters of `PLACES_JS` for a page, or for a document in its stead.

    Args:
        places: that are read.
        selectors: whose presence is asked for.
        rendered: a browser has to open it, where so far only its document was read.
        texts: all texts are told that can be seen. Only a browser tells them.
    """
    fields, paths = _spelled(places)
    asked = {"fields": fields, "records": None, "many": False, "near": False, "json": bool(paths)}
    guards = {"selectors": list(selectors), "texts": texts}
    return places_parameters({**asked, **guards, "paths": paths, "rendered": rendered})


@once_each(_MOST_ASKED)
def _spelled(places: Sequence[FieldPlace]) -> tuple[dict[str, Json], dict[str, str]]:
    """Places in the page and paths into its JSON, as a page is asked for them; nothing changes these."""
    fields: dict[str, Json] = {
        place_key(place): {"kind": place.kind, "query": place.query, "attribute": place.attribute}
        for place in places
        if place.kind != "json"
    }
    return fields, {place_key(place): place.query for place in places if place.kind == "json"}


async def view_of(page: Context, places: Sequence[FieldPlace], asked: dict[str, Any]) -> PageView:
    """The page that is open now, in one question.

    Args:
        asked: by `view_parameters` of these places.

    Raises:
        NoScriptAnswer: the page answered something else.
    """
    answer = script_answer(await page.read(PLACES_JS, asked))
    in_thread = "xml" in answer  # a document's own words are no work
    read = await asyncio.to_thread(parse_places_answer, answer, asked) if in_thread else answer
    return view_from(read, places)


def view_on(
    page: Page, places: Sequence[FieldPlace], numbers: Mapping[str, Sequence[int]], *, texts: bool = False
) -> PageView:
    """The view of a page that was taken before its places were known.

    Args:
        numbers: of the elements of the places that are selectors, by `place_key`.
        texts: as in `view_parameters`.
    """
    asked = view_parameters(places, texts=texts)
    matches = {f"fields.{name}": several for name, several in numbers.items()}
    return view_from(places_on(replace(page, matches=matches), asked), places)


def view_from(read: Mapping[str, Json], places: Sequence[FieldPlace]) -> PageView:
    """The view of what was told of the places, and of the facts that tell the page's kind.

    Raises:
        NoScriptAnswer: there are no such facts in it.
    """
    facts = script_answer(read.get("facts"))
    looked = PlacesPage.of(read)
    documents = documents_of(looked.json)
    places_by_key = looked.records[0].places if looked.records else {}
    texts, answer = facts.get("texts"), facts.get("answer")
    return PageView(
        url=looked.url,
        status=int(str(facts["status"])),
        lang=looked.lang,
        title=str(facts["title"]),
        headings=tuple(map(str, facts["headings"])),
        text=str(facts["text"]),
        present=frozenset(map(str, facts["present"])),
        visible=frozenset(map(str, facts["visible"])),
        busy=bool(facts["busy"]),
        ready=looked.loaded,
        scripts=looked.scripted,
        document=bool(facts.get("document")),
        places={
            place_key(place): _in_json(place, documents)
            if place.kind == "json"
            else places_by_key.get(place_key(place), ())
            for place in places
        },
        texts=None if texts is None else tuple(hashed_text(str(place), str(text)) for place, text in texts),
        answer=Document(str(answer["url"]), answer["value"]) if isinstance(answer, Mapping) else None,
    )


def hashed_text(place: str, text: str) -> str:
    """Return where a text stands and its wording, as hashes, and what kind of text it is, each after a space."""
    return f"{_short_hash(place)} {wording_of(text)} {_kind_of(text)}"


def wording_of(text: str) -> str:
    """The hash of a text; `none` for one that stands where a value is missing."""
    return NO_VALUE if is_placeholder(text) else _short_hash(" ".join(text.split()).rstrip(" :：*"))


def _kind_of(text: str) -> str:
    """`long`, `short`, or of a short text with digits the hash of its shape."""
    if len(text) > _SHORT:
        return "long"
    has_digit = any(sign.isdigit() for sign in text)
    return _short_hash(shape_of(text, words=False)) if has_digit else "short"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _in_json(place: FieldPlace, documents: Sequence[Document]) -> tuple[Place, ...]:
    """Return what the path leads to. A path that takes too much work on this page leads nowhere on it."""
    try:
        return tuple(places_at(place.query, documents))
    except JsonPathFault:
        return ()
