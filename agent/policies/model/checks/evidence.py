"""Evidence for a reply: quotations that stand on the page, values that somebody gave."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TypeVar

from shoal.agent.policies.policy import SessionState
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.read.grounding.written_values import Quantity, Written, dates_in, numbers_in, quantities_in
from shoal.agent.support.json_value import Json
from shoal.agent.types import Step

T = TypeVar("T")

_LETTER = "A-Za-z0-9\u00c0-\u024f"
"""Letters of scripts with spaces between words: only there a mark inside of a word is an apostrophe or an inch."""

_LEAST, _MOST = 4, 300
_QUOTED = (
    re.compile(rf'(?<![{_LETTER}])"([^"]{{{_LEAST},{_MOST}}}?)"(?![{_LETTER}])'),
    re.compile(rf"[“”„«»]([^“”„«»]{{{_LEAST},{_MOST}}}?)[“”«»]"),
    re.compile(rf"[「『]([^「」『』]{{{_LEAST},{_MOST}}}?)[」』]"),
    # An apostrophe belongs to what is quoted: 'We don't sell lamps'.
    re.compile(
        rf"(?<![{_LETTER}])['‘’‚`]((?:[^'‘’‚`]|(?<=[{_LETTER}])['’](?=[{_LETTER}])){{{_LEAST},{_MOST}}}?)"
        rf"['‘’`](?![{_LETTER}])"
    ),
)


def quotes(reason: str, page: PageText) -> bool:
    """Return whether `reason` holds, between quotation marks, words that stand on the page."""
    quoted = (words for form in _QUOTED for words in form.findall(reason))
    return any(page.find(words.strip(" .,;:…")) is not None for words in quoted)


# --- values that somebody gave -------------------------------------------------------------------------

_WORD = re.compile(r"\d+|[^\W\d_]+")
_FREE_WORDS = 6
"""Longer texts are written, not copied: of them only the figures are held to what was given."""
_STEM = 4
"""Letters that two forms of one word share."""
_LEAST_CHARS = 3
_COMMON = frozenset(
    ("and", "the", "for", "with", "from", "und", "der", "die", "das", "von", "für", "mit", "les", "des", "del", "con")
)


@dataclass(frozen=True)
class AllowedValues:
    """The words and figures that a session may type: those of its job, and those that it has seen."""

    whole: str  # all of it, in lower case

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(part for part in _WORD.findall(self.whole) if not part[0].isdigit())

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word[:_STEM] for word in self._words if len(word) >= _STEM)

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset(part.lstrip("0") for part in _WORD.findall(self.whole) if part[0].isdigit())

    @cached_property
    def _squeezed(self) -> str:
        return _squeezed(self.whole)

    @cached_property
    def _days(self) -> frozenset[date]:
        return frozenset(day for written in dates_in(self.whole) for day in written.readings)

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return frozenset(number for written in numbers_in(self.whole) for number in written.readings)

    @cached_property
    def _amounts(self) -> frozenset[Quantity]:
        return frozenset(amount for written in quantities_in(self.whole) for amount in written.readings)

    def gives(self, text: str) -> bool:
        """Return whether `text` is made of what is known;
        lenient, since the same thing is written in several ways.

        Dates, numbers and quantities are compared by what they say.
        """
        if len(text.strip()) < _LEAST_CHARS or _squeezed(text) in self._squeezed:
            return True
        written = len(_WORD.findall(text)) > _FREE_WORDS
        return all(
            self._has(part) for part in _WORD.findall(self._unexplained(text)) if part[0].isdigit() or not written
        )

    def _unexplained(self, text: str) -> str:
        """`text` in lower case without its dates, quantities and numbers that are known."""
        rest = _left(text.casefold(), dates_in, self._days)
        rest = _left(rest, quantities_in, self._amounts)
        return _left(rest, numbers_in, self._numbers)

    def _has(self, part: str) -> bool:
        if part[0].isdigit():
            return part.lstrip("0") in self._digits
        return len(part) < _LEAST_CHARS or part in _COMMON or part in self._words or part[:_STEM] in self._stems


def _left(text: str, found_in: Callable[[str], Iterator[Written[T]]], known: frozenset[T]) -> str:
    """`text` without the values of a kind of which one reading is known."""
    for written in reversed(list(found_in(text))):
        if written.readings & known:
            text = f"{text[: written.start]} {text[written.end :]}"
    return text


def allowed_values(state: SessionState, page: PageText, steps: Sequence[Step] = ()) -> AllowedValues:
    """Return what the job gives, what this session has read and seen so far,
    and what `page` says.

    Args:
        steps: of the mini goal so far: what their actions gave back, people's answers too, is given.
    """
    spec, item = state.spec, state.item
    extract = spec.extract.goal if spec.extract else None
    given: list[Json] = [spec.goal, spec.url, spec.data, extract, *((item.value, item.label) if item else ())]
    read: list[Json] = [*(task.result for task in state.history), *(record.value for record in state.records)]
    read += [*_call_results(state, steps)]
    read += state.pages.typed  # it was given, or asked about, when it was typed
    # What one text ends with and the next begins with is no value: a mark stands between them.
    return AllowedValues("\n;\n".join([*_texts([given, read]), *state.pages.texts, page.whole]).casefold())


def input_text(state: SessionState, steps: Sequence[Step] = ()) -> str:
    """Return what an answer need not prove: the words and details of the job and of the value that the session works
    for, and what calls gave back, people's answers too, in one text.

    Args:
        steps: of the mini goal so far.
    """
    spec, item = state.spec, state.item
    given: list[Json] = [spec.goal, spec.data, *((item.value, item.label) if item else ())]
    return " ; ".join(_texts([*given, *_call_results(state, steps)]))


def _call_results(state: SessionState, steps: Sequence[Step]) -> Iterator[Json]:
    taken = [*(step for task in state.history for step in task.steps), *steps]
    return (result.value for step in taken for result in step.results if result.value is not None)


def _squeezed(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
    elif value is not None:
        yield str(value)
