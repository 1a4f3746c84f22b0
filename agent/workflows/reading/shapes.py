"""The shape of a raw text: what tells `€1,299.00` from `$1.299,00` and from `€12.99 / kg` without knowing the value."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.agent.read.by_place.place import Place
from shoal.agent.read.schema import Property

_SPACES = "\u00a0\u202f "
_NUMBER = re.compile(
    rf"(?P<en>\d{{1,3}}(?:[,'’{_SPACES}]\d{{3}})*\.\d+|\d+\.\d+)(?![.,\d])"
    rf"|(?P<de>\d{{1,3}}(?:[.'’{_SPACES}]\d{{3}})*,\d+|\d+,\d+)(?![.,\d])"
    rf"|(?P<grouped>\d{{1,3}}(?:[.,'’{_SPACES}]\d{{3}})+)(?![.,\d])"
    r"|(?P<whole>\d+)"
)
_THOUSANDS = re.compile(r"9[.,_'’]999(?!9)")
_ANY_NUMBER = re.compile(r"9(?:[.,_'’]9+)?")
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST = 80
"""Characters of a shape: a longer text is prose, and has none."""
_STRUCK_OUT = "struck out "
"""Before the shape of a text that is struck through: it is what holds no longer."""


def shape_of(text: str, *, words: bool) -> str:
    """The shape of `text`; "" for prose. A number becomes its notation: `9.99`, `9,99`, `9 999` or `9`.

    Args:
        words: letters stand for themselves, as units and currencies have to; else a run of them is one `a`.
    """
    squashed = " ".join(text.split())
    if len(squashed) > _LONGEST:
        return ""
    kept = squashed.lower() if words else _LETTERS.sub("a", squashed)
    return _NUMBER.sub(_notation, kept)


def _notation(match: re.Match[str]) -> str:
    text = match.group()
    if match.lastgroup == "en":
        return "9." + "9" * (len(text) - text.rindex(".") - 1)
    if match.lastgroup == "de":
        return "9," + "9" * (len(text) - text.rindex(",") - 1)
    if match.lastgroup == "grouped":
        separator = next(sign for sign in text if not sign.isdigit())
        return f"9{'_' if separator in _SPACES else separator}999"
    return "9"


def fits_shape(shape: str, learned: Iterable[str]) -> bool:
    """Return whether `shape` is one that was learned.
    A number without a separator is also one of thousands with one.
    """
    return any(shape == known or shape == _THOUSANDS.sub("9", known) for known in learned)


def same_but_for_notation(shape: str, learned: Iterable[str]) -> bool:
    """Return whether `shape` differs from one that was learned by the notation of its numbers only."""
    plain = _ANY_NUMBER.sub("#", shape)
    return any(plain == _ANY_NUMBER.sub("#", known) for known in learned)


def is_shaped(prop: Property) -> bool:
    """Return whether values of `prop` have a notation that tells a change: free text has none."""
    return bool(prop.types & {"number", "integer", "boolean"} or prop.format or prop.enum or _is_unit(prop))


def _is_unit(prop: Property) -> bool:
    return prop.concept is not None and prop.concept.kind in ("currency", "availability")


def shape_at(place: Place, prop: Property) -> str:
    """The shape of what stands at `place`; "" where values of `prop` have none. What is struck through has another."""
    return (_STRUCK_OUT if is_struck_out(place, prop) else "") + _shape_of_text(place, prop)


def is_struck_out(place: Place, prop: Property) -> bool:
    """Return whether the value is struck through.
    Texts are read with what is struck through in them, other values without.
    """
    if place.plain is None or not place.text.strip():
        return False
    wholly = not place.plain.strip()
    is_text = not (prop.enum or prop.format or prop.types & {"number", "integer", "boolean"})
    return wholly or (is_text and place.plain.split() != place.text.split())


def _shape_of_text(place: Place, prop: Property) -> str:
    if not is_shaped(prop) or place.kind == "check":
        return ""
    text = raw_text(place)
    if place.kind == "json" and (not isinstance(place.value, str) or _PLAIN_NUMBER.fullmatch(text.strip())):
        return "number"  # JSON has one notation for it
    if prop.format in ("date", "date-time"):
        return shape_of(text, words=False)
    if prop.format:
        return ""
    return shape_of(text, words=True) or "prose"


def raw_text(place: Place) -> str:
    """The text that a value is read from."""
    if place.kind == "json":
        return str(place.value)
    text = place.text if place.plain is None or not place.plain.strip() else place.plain
    return text.strip() or place.exact or place.href
