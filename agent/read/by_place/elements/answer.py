"""The answer about the places of a page, made the same way of a page that a browser shows and of its raw document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from shoal.agent.read.by_place.elements.elements import Elements
from shoal.agent.read.by_place.elements.page_facts import facts_of
from shoal.agent.read.by_place.elements.places import PlaceData
from shoal.agent.read.by_place.elements.script_json import json_scripts
from shoal.agent.support.json_value import Json

_MOST_JSON = 4_000_000


def record_of(
    places: Mapping[str, list[PlaceData]], where: str = "", *, may_be_heading: bool = False
) -> dict[str, Any]:
    """One record of an answer: its places by field, and the selector of its element, "" for the whole page."""
    return {"s": where, "f": places, "x": int(may_be_heading)}


def answer_of(
    elements: Elements,
    arg: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    url: str,
    status: int,
    *,
    has_scripts: bool,
    source: str | None = None,
) -> dict[str, Json]:
    """Return what `PlacesPage.of` takes, without what a browser alone adds.

    Args:
        elements: of the page or document.
        arg: what is asked, as `places_parameters` has it.
        records: as `record_of` gives them.
        url: address of the page.
        status: of the HTTP answer.
        has_scripts: some of its scripts run.
        source: the text of a page that is JSON itself.

    Raises:
        BeyondDocument: only a browser can tell.
    """
    answer: dict[str, Json] = {
        "url": url,
        "lang": elements.attribute(elements.root, "lang") or "",
        "scripts": has_scripts,
        "records": list[Json](records),
    }
    if arg.get("json"):
        answer["json"], answer["jsonCut"] = _json(elements, source)
    if "selectors" in arg:
        answer["facts"] = facts_of(elements, status, arg["selectors"])
    return answer


def _json(elements: Elements, source: str | None) -> tuple[list[Json], bool]:
    """The texts that should be JSON, and whether some were left out because they are too large."""
    left, entries, cut = _MOST_JSON, list[Json](), False
    of_page = [("document", source, "")] if source is not None else []
    for kind, text, where in chain(of_page, json_scripts(elements)):
        if len(text) > left:
            cut = True
            continue
        left -= len(text)
        entries.append({"k": kind, "t": text, "s": where})
    return entries, cut
