"""Parts of a page that are nearest to a place that is not there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice

from lxml.html import HtmlElement

from shoal.agent.read.by_place.elements import text as js
from shoal.agent.read.by_place.elements.elements import SILENT
from shoal.agent.read.by_place.elements.page_elements import PageElements
from shoal.agent.read.by_place.elements.places import Places

LOOSER = "looser "
"""Before the name of a selector that is asked for without its `>`: scripts like to put an element around another."""
_SHORT = 80
_NEAREST = 3
_MOST_ELEMENTS = 20_000
_MOST_LABELS = 3_000
_MOST_TABLES = 50
_LONGEST_NAME = 60
_NAMES = ("name", "itemprop", "data-testid", "data-field")
_LABELS = ("label", "th", "dt", "legend", "b", "strong", "h2", "h3", "h4", "td")
_OF_NAME = re.compile(r"^[.#]|^\[[\w-]+=\"|\"\]$", re.ASCII)
_COLON = re.compile(f"[:：][{js.SPACE}]*$")


def looser(query: str) -> str:
    """A selector without its `>`."""
    return re.sub(r"\s{0,9}>\s{0,9}", " ", query)


class Nearest:
    """Finds what is similar on one page."""

    def __init__(self, elements: PageElements, places: Places) -> None:
        self._elements = elements
        self._places = places

    def of(self, name: str, field: Mapping[str, str]) -> list[str]:
        """Return what is similar to the place of a field."""
        match field["kind"]:
            case "select":
                return self.selector(field["query"], name, f"fields.{name}")
            case "label":
                return self._label(field["query"])
            case _:
                return self._column(field["query"])

    def selector(self, query: str, name: str, key: str) -> list[str]:
        """By its last part, and where that says only a tag, by the parts before it."""
        steps = [step for step in re.split(r"[\s>+~]+", query) if step]
        last = next((step for step in reversed(steps) if re.search(r"[.#[]", step)), steps[-1] if steps else query)
        hit = re.match(r"[a-z][\w-]*", last, re.IGNORECASE | re.ASCII)
        tag = hit[0].lower() if hit is not None else ""
        stated = re.findall(r"\[([\w-]+)[~|^$*]?=?[\"']?([^\"'\]]*)", last, re.ASCII)
        asked = [*re.findall(r"[.#]([\w-]+)", last, re.ASCII), *(part for pair in stated for part in pair if part)]
        similar: list[tuple[float, str]] = []
        body = self._elements.element(self._elements.body)
        for el in islice(body.iterdescendants(), _MOST_ELEMENTS):
            if isinstance(el.tag, str) and el.tag not in SILENT:
                similar += self._similar(el, tag, asked or [name], name)
        labelled = self._places.labelled(js.fold(name), self._elements.root) if js.fold(name) else []
        similar += [(0.75, f"{place['s']} ({_quoted(str(place['t']))})") for place in labelled]
        if count := len(self._elements.page.matches.get(LOOSER + key) or ()):
            similar.append((2, f"{looser(query)} ({count} element{'s' if count > 1 else ''})"))
        return _top(similar, 0.45)

    def _similar(self, el: HtmlElement, tag: str, asked: list[str], name: str) -> list[tuple[float, str]]:
        own = [f"#{el.get('id')}"] if el.get("id") else []
        own += [f".{each}" for each in (el.get("class") or "").split()]
        own += [f'[{key}="{el.get(key)}"]' for key in _NAMES if el.get(key) is not None]
        best, by = max(
            ((likeness(_OF_NAME.sub("", each), part), each) for each in own for part in asked),
            key=lambda pair: pair[0],
            default=(0.0, ""),
        )
        for each in own:
            if likeness(_OF_NAME.sub("", each), name) > max(best, 0.6):
                best, by = 0.7, each
        if not best:
            return []
        text = self._elements.text_in(self._elements.page.number(el))
        return [(1.2 * best + (0.1 if tag and el.tag == tag else 0), f"{el.tag}{by} ({_quoted(text)})")]

    def _label(self, query: str) -> list[str]:
        elements = self._elements
        labels = elements.in_order(
            [*elements.below(elements.root, _LABELS), *elements.roles(elements.root, "rowheader", "columnheader")]
        )
        names: list[str] = []
        for el in labels[:_MOST_LABELS]:
            if el.tag != "td" or elements.element(el).getprevious() is None:
                names.append(_COLON.sub("", _short(el.text_lexbor())))
        return _top(
            ((likeness(name, query), _json(name)) for name in names if name and len(name) <= _LONGEST_NAME), 0.25
        )

    def _column(self, query: str) -> list[str]:
        tables = self._places.tables
        names = [
            _short(text)
            for table in tables.tables_in(self._elements.root)[:_MOST_TABLES]
            for text in tables.headers(table)
        ]
        return _top(
            ((likeness(name, query) + 0.3, _json(name)) for name in names if name and len(name) <= _LONGEST_NAME), 0.3
        )


def _pairs(text: str) -> set[str]:
    folded = f" {js.fold(text)} "
    return {folded[at : at + 2] for at in range(len(folded) - 1)}


def likeness(text: str, other: str) -> float:
    """The share of their pairs of letters that two texts have in common."""
    own, its = _pairs(text), _pairs(other)
    return 2 * len(own & its) / (len(own) + len(its) or 1)


def _top(similar: Iterable[tuple[float, str]], least: float) -> list[str]:
    best: dict[str, float] = {}
    for score, text in similar:
        if score >= least:
            best.setdefault(text, score)
    return sorted(best, key=lambda text: -best[text])[:_NEAREST]


def _short(text: str) -> str:
    squashed = js.squash(text)
    return squashed[:_SHORT] + "…" if len(squashed) > _SHORT else squashed


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quoted(text: str) -> str:
    return _json(_short(text))
