"""The text of a page as an index in which values are looked up, with their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property

from babel.dates import format_date

from shoal.agent.read.grounding.neighbourhoods import NEARBY, Neighbourhoods, ShortValue, inside_word
from shoal.agent.read.grounding.written_values import readings_of
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import canonical_address, joined
from shoal.agent.types import Element, FieldSource, Observation, Reason

_ATTRIBUTES = ("value", "title", "alt", "placeholder", "content", "datetime", "aria-label")
_ADDRESSES = ("href", "src")
_WHERE_CHARS = 120
_NUMBERS = (
    re.compile(r"(?:(?<!\w)[-+−])?\d+(?:[.,]\d+)*"),
    re.compile(r"(?:(?<!\w)[-+−])?\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?(?!\d)"),
)
_SCALED = re.compile(r"(?<!\d)(\d+(?:[.,]\d+)?)\s?(k|tsd|thousand|m|mio|million|mrd|bn|b|billion)\b", re.IGNORECASE)
_SCALES = {
    **dict.fromkeys(("k", "tsd", "thousand"), 1e3),
    **dict.fromkeys(("m", "mio", "million"), 1e6),
    **dict.fromkeys(("mrd", "bn", "b", "billion"), 1e9),
}
_WORDS = re.compile(r"\w+")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T.*)?")
_DATE_LOCALES = ("en", "de", "fr", "es", "it", "pt", "nl")
_DATE_FORMS = (
    *("d.M.yyyy", "dd.MM.yyyy", "d/M/yyyy", "dd/MM/yyyy", "M/d/yyyy", "MM/dd/yyyy", "yyyy/MM/dd", "dd-MM-yyyy"),
    *(
        "d MMMM yyyy",
        "d. MMMM yyyy",
        "MMMM d, yyyy",
        "MMMM d yyyy",
        "d MMM yyyy",
        "MMM d, yyyy",
        "d 'de' MMMM 'de' yyyy",
    ),
)
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‑": "-"})


class PageText:
    """The text of one page, or of several parts of it."""

    def __init__(self, observations: Iterable[Observation]) -> None:
        self._shown: list[str] = []
        self._texts: list[str] = []  # without names and attributes of elements
        self._addresses: dict[str, str] = {}
        for seen in observations:
            self._shown += [seen.title, seen.url, *(dialog.message for dialog in seen.dialogs)]
            self._shown += [file.text for file in seen.downloads]
            self._addresses[_address(seen.url)] = seen.url
            for element in _walk(seen.elements):
                self._take(element, seen.url)

    def _take(self, element: Element, base: str) -> None:
        self._texts += [element.text]
        self._shown += [element.text]
        if element.name != element.text:
            self._shown += [element.name]
        self._shown += [element.attributes[name] for name in _ATTRIBUTES if name in element.attributes]
        self._shown += [label for label, _, _ in element.options]
        for name in _ADDRESSES:
            if (written := element.attributes.get(name)) is not None:
                self._addresses.setdefault(_address(joined(base, written) or written), written)

    @cached_property
    def _by_text(self) -> Mapping[str, str]:
        return {_plain(text): text for text in reversed(self._shown) if text.strip()}

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that the page shows, in lower case."""
        return frozenset(_WORDS.findall(self.whole))

    @cached_property
    def squeezed(self) -> str:
        """The letters and digits of all that the page shows, in lower case and in one piece."""
        return "".join(letter for letter in self.whole if letter.isalnum())

    @cached_property
    def lines(self) -> str:
        """All that the page shows, as it shows it, each text on a line of its own."""
        return "\n".join(self._shown)

    @cached_property
    def whole(self) -> str:
        """All that the page shows, in lower case and with single spaces."""
        return " ".join(self._plain_texts)

    @cached_property
    def _plain_texts(self) -> list[str]:
        return [_plain(text) for text in self._shown if text.strip()]

    @cached_property
    def _by_number(self) -> Mapping[float, str]:
        plain: dict[float, str] = {}
        for text in self._shown:
            for match in (match for form in _NUMBERS for match in form.finditer(text)):
                for reading in readings_of(match.group()):
                    if reading not in plain:
                        plain[reading] = _clip(text, *match.span())
        return {**self._by_scaled_number, **plain}

    @property
    def _by_scaled_number(self) -> Mapping[float, str]:
        """Return what "1.2k" and "3 million" say."""
        return {
            round(reading * _SCALES[match[2].lower()], 6): _clip(text, *match.span(1))
            for text in self._shown
            for match in _SCALED.finditer(text)
            for reading in readings_of(match[1])
        }

    def find(self, value: Json) -> str | None:
        """The text that shows `value`, None when the page does not.

        Words are compared without regard to case, spacing and kinds of quotes; numbers by what they say; dates in their
        usual written forms; addresses after resolving them against the page's. A yes or no is never found: no text
        is one.
        """
        if value is None or isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return self._by_number.get(float(value)) if abs(value) < 1e300 else None
        if isinstance(value, str):
            return self._find_words(value)
        texts = [self.find(part) for part in (value.values() if isinstance(value, dict) else value)]
        if not texts or None in texts:
            return None
        return " … ".join(dict.fromkeys(text for text in texts if text))[:_WHERE_CHARS]

    def _find_words(self, value: str) -> str | None:
        words = _plain(value)
        if not words:
            return None
        if words in self._by_text:
            return self._by_text[words].strip()[:_WHERE_CHARS]
        if "/" in value and _address(value) in self._addresses:
            return self._addresses[_address(value)][:_WHERE_CHARS]
        forms = (words, *_dates(value))
        return next((at for form in forms if (at := self._around(form))), None) or _around(self._read_on, words)

    @cached_property
    def _read_on(self) -> str:
        """The texts alone: what a picture stands in the middle of is one text."""
        return " ".join(_plain(text) for text in self._texts if text.strip())

    def _around(self, words: str) -> str | None:
        return _around(self.whole, words)

    @cached_property
    def _neighbourhoods(self) -> Neighbourhoods:
        return Neighbourhoods(self._plain_texts, self.whole)

    def shows_alone(self, value: Json) -> bool:
        """Return whether a text of the page is a short `value`, with a sign or a unit at most."""
        return self._neighbourhoods.is_alone(_short(value))

    def shows_among(self, value: Json, words: frozenset[str], telling: frozenset[str]) -> bool:
        """Return whether a short text of the page is a short `value`, such words and a telling one;
        see `Neighbourhoods`.
        """
        return self._neighbourhoods.is_among(str(value).casefold(), words, telling)

    def states_nearby(self, value: Json, groups: Iterable[frozenset[str]], within: int = NEARBY) -> bool:
        """Return whether the page shows a short `value` near all words, in lower case, of one of some groups."""
        return self._neighbourhoods.is_near(_short(value), groups, within)

    def states_amount(self, value: Json) -> bool:
        """Return whether the page shows a short `value` beside the sign of a currency."""
        return self._neighbourhoods.is_amount(_short(value))

    def sources(self, record: Json, how: str) -> dict[str, FieldSource]:
        """Return where each field of `record` is shown; `how` is who read it."""
        if not isinstance(record, dict):
            return {}
        places = {name: self.find(value) for name, value in record.items() if value is not None}
        return {
            name: FieldSource(
                how,
                where or "",
                confirmed=where is not None,
                why=Reason.CONCLUDED if where is None else Reason.QUOTED,
            )
            for name, where in places.items()
        }


def _around(text: str, words: str) -> str | None:
    """The text around `words`, which must not begin or end inside of a longer word."""
    start = _place(text, words)
    if start is None:
        return None
    end = start + len(words)
    margin = max(0, _WHERE_CHARS - len(words)) // 2
    return text[max(0, start - margin) : end + margin][:_WHERE_CHARS].strip()


def _place(text: str, words: str) -> int | None:
    """Return where `words` stand as words of their own; None: nowhere."""
    at = text.find(words)
    while at >= 0:
        if not inside_word(text, at) and not inside_word(text, at + len(words)):
            return at
        at = text.find(words, at + 1)
    return None


def _walk(element: Element) -> Iterator[Element]:
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SAME).casefold().split())


def _short(value: Json) -> ShortValue:
    return float(value) if isinstance(value, int | float) else _plain(str(value))


def _clip(text: str, start: int, end: int) -> str:
    """A part of a text with its surroundings, on one line."""
    margin = max(0, _WHERE_CHARS - (end - start)) // 2
    return " ".join(text[max(0, start - margin) : end + margin].split())


def _address(url: str) -> str:
    return canonical_address(url).rstrip("/")


def _dates(value: str) -> Iterator[str]:
    """Yield how pages write the ISO date `value`, if it is one."""
    match = _ISO_DATE.fullmatch(value)
    if match is None:
        return
    try:
        day = date(*(int(part) for part in match.groups()))
    except ValueError:
        return
    forms = (format_date(day, form, locale=locale) for form in _DATE_FORMS for locale in _DATE_LOCALES)
    yield from dict.fromkeys(_plain(form) for form in forms)
