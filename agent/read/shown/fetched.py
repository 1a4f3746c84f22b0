"""Fetched JSON as an addition to an answer of the page: a second witness, or a value.

The visible page decides. Fetched JSON never changes a value that the page states: it may hold codes, amounts in cents
and states of long ago. It bears values out, says which of several places is meant, and fills in what the page is
silent about, where the key is the field's own name and the value is of the field's type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.agent.read.facts.fetched import FetchedValue, path_phrase
from shoal.agent.read.schema import Property
from shoal.agent.read.shown.choosing import GOOD_FIT, FieldAnswer
from shoal.agent.read.shown.places import ShownPlace, fit_of
from shoal.agent.read.shown.visible_text import VisibleText
from shoal.agent.read.values.conversion import Raw, ValueHints, convert
from shoal.agent.read.values.phrases import squash
from shoal.agent.support.json_value import Json
from shoal.agent.types import FieldSource, Reason

_TELLING = 3  # characters of a value that stands in a text by more than chance
_CODE = re.compile(r"[A-Z0-9]+(?:_[A-Z0-9]+)+")
"""A text for programs: OUT_OF_STOCK."""
_AS_SHOWN_ONLY = ("price", "currency", "rating", "name", "image")
"""Kinds of values that programs write otherwise than people read them: an amount in cents, a rating of 100."""


def with_fetched(
    by_page: FieldAnswer, prop: Property, values: Sequence[FetchedValue], shown: VisibleText, reading: ValueHints
) -> FieldAnswer:
    """`by_page`, with what the fetched values add to it."""
    best = _best(prop, values, reading)
    if best is None:
        return by_page
    fetched, value = best
    if by_page.source is not None:
        source = by_page.source
        stays = source.sureness == "certain" or source.why == Reason.CONTRADICTED or not _same(by_page.value, value)
        return by_page if stays else _agreed(by_page.value, source.how, source.where)
    agreeing = [candidate for candidate in by_page.candidates if _same(candidate.value, value)]
    if agreeing:
        return _agreed(agreeing[0].value, agreeing[0].how, agreeing[0].where)
    if len(str(value)) >= _TELLING and not isinstance(value, bool) and shown.has(prop, value):
        return FieldAnswer(value, FieldSource("request", fetched.where, True, "likely", Reason.BORNE_OUT))
    if by_page.candidates or not _speaks_for_itself(prop, fetched):
        return by_page
    return FieldAnswer(value, FieldSource("request", fetched.where, False, "likely", Reason.UNSEEN))


def _best(prop: Property, values: Sequence[FetchedValue], reading: ValueHints) -> tuple[FetchedValue, Json] | None:
    """The fetched value that is called as the field is, converted; None where several differ."""
    fitting: list[tuple[float, FetchedValue, Json]] = []
    for fetched in values:
        href = fetched.text if fetched.text.startswith(("http://", "https://", "/")) and " " not in fetched.text else ""
        raw = Raw(fetched.text, href=href, structured=True)
        fit = fit_of(prop, ShownPlace("request", fetched.where, raw, path_phrase(fetched.path), visible=False))
        value = convert(prop, raw, reading) if fit.own and fit.likeness >= GOOD_FIT else None
        if value is not None:
            fitting.append((fit.likeness - 0.03 * fetched.path.count("."), fetched, value))
    top = max((score for score, _, _ in fitting), default=0.0)
    best = [(fetched, value) for score, fetched, value in fitting if score == top]
    return best[0] if best and all(_same(best[0][1], value) for _, value in best) else None


def _agreed(value: Json, how: str, where: str) -> FieldAnswer:
    return FieldAnswer(value, FieldSource(how, where, True, "certain", Reason.AGREED))


def _same(value: Json, other: Json) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return squash(value) == squash(other)
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def _speaks_for_itself(prop: Property, fetched: FetchedValue) -> bool:
    """Return whether a value that the page does not show is what the field asks for, beyond its name:
    by its type and form.
    """
    kind = prop.concept.kind if prop.concept else "text"
    if kind in _AS_SHOWN_ONLY or path_phrase(fetched.path)[0] not in prop.phrases or "." in fetched.path:
        return False
    value = fetched.value
    if isinstance(value, bool):
        return "boolean" in prop.types
    if isinstance(value, (int, float)):
        return bool(prop.types & {"number", "integer"})
    return "string" in prop.types and "<" not in value and (bool(prop.enum) or _CODE.fullmatch(value) is None)
