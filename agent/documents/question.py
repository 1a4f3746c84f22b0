"""The questions that a page is asked at once: the places of fields, and, where a workflow reads it, facts that tell its
kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shoal.agent.read.by_place.elements.page_reading import PLACES_JS, parse_places_answer
from shoal.agent.read.by_place.page_json import documents_of, places_at
from shoal.agent.read.by_place.place import Place
from shoal.agent.read.by_place.places_page import JsonText, PlacedRecord
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_paths import JsonPathFault
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.script_answer import NoScriptAnswer, script_answer

_FACTS = ("title", "headings", "present", "visible", "busy")
"""Facts that guards go by. The text of a page is not among them: a document states none."""


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """One question that a document can answer as well as a page."""

    arg: Mapping[
        str, Any
    ]  # what a document is asked: that of `places_parameters`, with `selectors` where facts are asked, too
    paths: Mapping[str, str]  # into the page's JSON, by field
    rendered: bool = False  # the page itself is asked, and no document

    @classmethod
    def of(cls, script: str, arg: Json, extract: ExtractSpec) -> DocumentQuestion | None:
        """The question that a script asks; None where only a browser answers it."""
        if script != PLACES_JS or not isinstance(arg, Mapping):
            return None
        if "selectors" in arg:
            return cls(arg, arg["paths"], arg["rendered"])
        return cls(arg, {name: place.query for name, place in extract.fields.items() if place.kind == "json"})

    @property
    def asks_facts(self) -> bool:
        """Return whether it asks what page it is, too."""
        return "selectors" in self.arg

    def view(self, answer: Json) -> Mapping[str, Any]:
        """Return what the script said, as a document's view says it; empty where it said nothing."""
        try:
            return parse_places_answer(script_answer(answer), self.arg)
        except NoScriptAnswer:
            return {}

    def find_places(self, view: Mapping[str, Any]) -> dict[str, list[Place]]:
        """The places in a view, by field.

        Raises:
            JsonPathFault: a path takes too much work on this page.
        """
        record = PlacedRecord.of(view["records"][0])
        documents = documents_of([JsonText.of(entry) for entry in view.get("json", ())])
        in_json = {name: places_at(path, documents) for name, path in self.paths.items()}
        return {name: list(places) for name, places in record.places.items()} | in_json

    def stated(self, view: Mapping[str, Any]) -> Any:
        """All that a record is made of and held to in a view, and not where it stands. None: nothing."""
        if not view.get("records"):
            return None
        try:
            answered = self.find_places(view)
        except JsonPathFault:
            return None
        compared = {name: list(map(self._compared, places)) for name, places in answered.items()}
        facts = [view["facts"][name] for name in _FACTS] if self.asks_facts else []
        return view["url"], view["lang"], compared, facts

    def _compared(self, place: Place) -> Place:
        """The place without where it stands.

        A style that strikes it through is known to a browser alone, and counts only where a workflow reads it: a job's
        own field takes what is struck through as any other text.
        """
        wholly = place.plain is not None and not place.plain.strip() and not self.asks_facts
        return replace(place, where="", plain=None if wholly else place.plain)
