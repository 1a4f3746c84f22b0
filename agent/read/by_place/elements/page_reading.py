"""The words of a page at the places of a job, read from its tree in one go."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.agent.page.from_browser import SCRIPT
from shoal.agent.page.page import Page
from shoal.agent.page.recorded import page_of_answer
from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.answer import answer_of, record_of
from shoal.agent.read.by_place.elements.elements import Node
from shoal.agent.read.by_place.elements.nearest import LOOSER, Nearest, looser
from shoal.agent.read.by_place.elements.page_elements import GUARD, PageElements
from shoal.agent.read.by_place.elements.page_facts import texts_of
from shoal.agent.read.by_place.elements.places import PlaceData, Places, fields_of
from shoal.agent.support.json_value import Json

PLACES_JS = f"(arg) => ({SCRIPT})(arg.tree)"
_MOST_RECORDS = 5_000
_MOST_TEXT = 200_000
_ROWS = 'tr,[role="row"]'
_RUNS = re.compile(r"javascript|module", re.IGNORECASE)


def places_parameters(arg: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `PLACES_JS`: `arg`, and with it what the page's tree is to find.

    Args:
        arg: `fields` (`kind`, `query` and `attribute` by name), `records` (CSS or None), `many`, `near` (False: what is
            similar to a place that is not there is not looked for) and `json` (whether the page's JSON is told). With
            `selectors` the facts of the page are told, too, by `texts` with all texts that it draws.
    """
    find = {f"fields.{name}": query for name, kind, query, _ in fields_of(arg) if kind == "select"}
    names = list(find)
    records = arg.get("records")
    if records:
        find["records"] = records
    if arg.get("near") is not False:
        find |= {LOOSER + key: looser(query) for key, query in find.items() if ">" in query}
    find |= {GUARD + selector: selector for selector in arg.get("selectors", ())}
    options: dict[str, Any] = {"boxes": False, "find": find}
    if records or arg.get("many"):
        options["within"] = {"scopes": records or _ROWS, "names": names, "most": _MOST_RECORDS}
    return {**arg, "tree": options}


def parse_places_answer(answer: Mapping[str, Any], arg: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the places of `arg` say, for `PlacesPage.of`, by a page's tree or in a document's own words."""
    return places_on(page_of_answer(answer), arg) if "xml" in answer else answer


def places_on(page: Page, arg: Mapping[str, Any]) -> dict[str, Json]:
    """Return what the places of `arg` say on a page that was taken with what `places_parameters` asks."""
    return _PageReading(page, arg).answer()


class _PageReading:
    """One reading of one page."""

    def __init__(self, page: Page, arg: Mapping[str, Any]) -> None:
        self._page = page
        self._elements = PageElements(page)
        self._places = Places(self._elements)
        self._fields = fields_of(arg)
        self._arg = arg
        self._near = arg.get("near") is not False

    def answer(self) -> dict[str, Json]:
        """All that the page answers; a selector that is no CSS finds nothing."""
        page, arg = self._page, self._arg
        invalid = [key for key, numbers in page.matches.items() if numbers is None and not key.startswith(LOOSER)]
        kinds = [script.get("type") or "" for script in page.root.iter("script")]
        scopes, tables = self._scopes()
        records = [self._record(scope) for scope in scopes[:_MOST_RECORDS]]
        has_scripts = any(not kind or _RUNS.search(kind) is not None for kind in kinds)
        answer = answer_of(
            self._elements, arg, records, page.url, page.status, has_scripts=has_scripts, source=self._source()
        ) | {
            "ready": "complete" if page.window is None or page.window.loaded else "interactive",
            "busy": any(el.get("aria-busy") == "true" for el in page.elements),
            "invalid": list[Json](invalid),
            "cut": int(len(scopes) > _MOST_RECORDS) * _MOST_RECORDS,
            "tables": tables,
            "near": self._nearest(records) if self._near else {},
        }
        if arg.get("many"):
            answer["text"] = self._text()
        if "facts" in answer:
            answer["facts"] |= {"text": self._text()}
            if arg.get("texts") and (drawn := texts_of(self._elements)) is not None:
                answer["facts"]["texts"] = [list[Json](pair) for pair in drawn]
        return answer

    def _text(self) -> str:
        return self._page.text(self._elements.element(self._elements.body))[:_MOST_TEXT]

    def _source(self) -> str | None:
        """The text of a page that is JSON itself."""
        if not re.search("[/+]json", self._page.content_type):
            return None
        source = self._page.root.find(".//pre[@data-document-source]")
        return str((self._elements.element(self._elements.body) if source is None else source).text_content())

    def _scopes(self) -> tuple[Sequence[Node | None], int]:
        """The elements of the records, None for the whole page, and how many tables have the asked columns."""
        if self._arg.get("records"):
            return [self._elements.numbered(number) for number in self._page.matches["records"] or ()], 0
        if not self._arg.get("many") or not self._fields:
            return [None], 0
        tables = self._places.tables
        asked = [js.fold(query) for _, kind, query, _ in self._fields if kind == "column"]
        several = [tables.data_rows(table, asked) for table in tables.tables_in(self._elements.root)]
        with_rows = [rows for rows in several if rows]
        return with_rows[0] if len(with_rows) == 1 else [], len(with_rows)

    def _record(self, scope: Node | None) -> dict[str, Any]:
        places: dict[str, list[PlaceData]] = {
            name: self._places.of(name, kind, query, attribute, scope) for name, kind, query, attribute in self._fields
        }
        if scope is None:
            return record_of(places)
        heading = self._places.tables.may_be_heading(scope)
        return record_of(places, self._elements.selector(scope), may_be_heading=heading)

    def _nearest(self, records: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
        """By place that is not there: what is similar to it."""
        nearest = Nearest(self._elements, self._places)
        near: dict[str, Json] = {
            name: list[Json](nearest.of(name, self._arg["fields"][name]))
            for name, *_ in self._fields
            if not any(record["f"][name] for record in records)
        }
        if (query := self._arg.get("records")) and not records:
            near["records"] = list[Json](nearest.selector(query, "record", "records"))
        return near
