"""Knowledge that rules give a model about the page that it reads: words that name its fields, conversions, and its
structured data.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from shoal.agent.browser import Context
from shoal.agent.page.page import Page
from shoal.agent.read.drawn.page_tree import page_on
from shoal.agent.read.field import Field
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.read.record.main_matter import MainMatter
from shoal.agent.read.record.witnesses import Witness, gather, same
from shoal.agent.read.schema import Property, properties_of
from shoal.agent.read.values.phrases import UNIT_WORDS, phrase
from shoal.agent.read.values.quantities import read_quantity
from shoal.agent.read.word_lists.common_words import common_words
from shoal.agent.spec import ExtractSpec
from shoal.agent.support.json_value import Json

_STRUCTURED = frozenset({"node", "twin", "meta"})
_MOST_TOLD, _LONGEST_TOLD = 30, 500
"""Values of structured data that a prompt has, and characters of one: what is longer is the page's own text."""
_MOST_LINES, _LONGEST_LINE = 3_000, 200
"""Lines of a page in which an amount is looked for, and characters of one."""


@dataclass(frozen=True, slots=True)
class DataValue:
    """A value of a field that structured data state."""

    field: str
    value: Json
    where: str


async def stated_in_data(context: Context, extract: ExtractSpec) -> tuple[DataValue, ...]:
    """Return what the structured data of a page state of one record; nothing of a list or a large page."""
    page = None if extract.many else await page_on(context)
    return () if page is None else await asyncio.to_thread(_stated, page, extract.record_schema or {})


def _stated(page: Page, schema: Mapping[str, Json]) -> tuple[DataValue, ...]:
    fields = [Field(prop) for prop in properties_of(schema)]
    if not fields:
        return ()
    witnesses = gather(MainMatter(page), fields).witnesses
    return tuple(value for name, several in witnesses.items() for value in _distinct(name, several))


def _distinct(field: str, witnesses: Sequence[Witness]) -> list[DataValue]:
    values: list[DataValue] = []
    for each in witnesses:
        if each.kind in _STRUCTURED and not any(same(each.value, other.value) for other in values):
            values.append(DataValue(field, each.value, f"{each.syntax or each.kind} {each.prop}"))
    return values


class PageKnowledge:
    """See `shoal.agent.read.grounding.claims.FieldKnowledge`.

    Args:
        extract: what is read.
        text: of the page.
        stated: by its structured data.
    """

    def __init__(self, extract: ExtractSpec, text: PageText, stated: Sequence[DataValue] = ()) -> None:
        self._properties = {prop.name: prop for prop in properties_of(extract.record_schema or {})}
        self._text = text
        self._stated = stated
        self._amounts: dict[str, list[tuple[str, float]]] = {}  # by unit: lines, and what each states

    def names(self, field: str) -> Sequence[str]:
        """The labels of the field's glossary, and the synonyms of what it commonly means."""
        prop = self._properties.get(field)
        if prop is None:
            return ()
        return (*prop.glossary.labels, *(prop.concept.names if prop.concept is not None else ()))

    def states(self, field: str, value: Json) -> bool:
        """Return whether an amount of the page is this one in the field's unit,
        or its structured data state the value.
        """
        prop = self._properties.get(field)
        if prop is not None and isinstance(value, int | float) and self._converts(prop, value):
            return True
        stated = (each.value for each in self._stated if each.field.partition(".")[0] == field)
        return any(
            same(value, entry)
            for statement in stated
            for entry in (statement if isinstance(statement, list) else (statement,))
        )

    def _converts(self, prop: Property, value: float) -> bool:
        """True for an amount in the field's unit; in one that its name may mean, beside a word of that name alone."""
        unit = prop.unit or prop.unit_perhaps
        if unit and unit not in self._amounts:
            amounts = ((line, read_quantity(line, unit)) for line in self._lines)
            self._amounts[unit] = [(line, float(amount)) for line, amount in amounts if amount is not None]
        lines = [line for line, amount in self._amounts.get(unit, ()) if same(float(value), amount)]
        named = set(phrase(prop.name)) - UNIT_WORDS - common_words()
        return bool(lines) and (bool(prop.unit) or any(named & set(phrase(line)) for line in lines))

    @cached_property
    def _lines(self) -> list[str]:
        """The page's lines that may state an amount."""
        lines = (line for line in self._text.lines.split("\n") if len(line) <= _LONGEST_LINE and _has_figure(line))
        return list(islice(dict.fromkeys(lines), _MOST_LINES))

    def prompt_lines(self) -> list[str]:
        """The values of structured data that the page does not show, a line each, for a prompt."""
        lines = [
            f"{each.field}: {json.dumps(each.value, ensure_ascii=False)} ({each.where})"
            for each in self._stated
            if self._text.find(each.value) is None
        ]
        return [line for line in lines if len(line) <= _LONGEST_TOLD][:_MOST_TOLD]


def _has_figure(line: str) -> bool:
    return any(map(str.isdigit, line))
