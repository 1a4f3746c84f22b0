"""Values that must not be shown, found in a text in all their spellings, and replaced by what stands for them.

All values are one pattern of RE2, which reads a text once, in a time that grows with its length alone. The pattern is
made once for the same values, so once a job, and kept while it is in use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import re2

from shoal.agent.redaction.spellings import Spelling, is_weak, spellings

_TOGETHER = 32
"""Values in one pattern, so that no number of secrets makes one that is too large."""
_PATTERN_BYTES = 32 << 20
"""Bytes of memory for one pattern, the states included that texts have led it to."""
_KEPT = 16
"""Sets of values whose patterns are kept: those of the jobs that a process works for beside each other."""
_SEEN = 1024
"""Spellings that were met, with the value of each: a page shows the same ones again and again."""
_UNIT_CHARS = 64
"""One character of a value is spelled by fewer than these."""
_BEFORE_CHARS = 16
_ENDS_WORD = re.compile(
    r"(?:\A|[^\w]|_|%(?:25)*(?:[01][0-9a-f]|2[0-9a-f]|3[a-f]|40|5[b-f]|60|7[b-f])|\\(?:[nrtbfv]|u00[0-2][0-9a-f]))\Z",
    re.IGNORECASE,
)
"""The text before a word: nothing, no letter or digit, or an escape of what is none."""


class HiddenValues:
    """Hides a set of values.

    Args:
        stand_ins: what is shown instead, by value.
        keeping: what stands for other values, which is left as it is.
    """

    def __init__(self, stand_ins: Mapping[str, str], *, keeping: Sequence[str] = ()) -> None:
        atoms = tuple(dict.fromkeys((*stand_ins.values(), *keeping)))
        strong = {value: text for value, text in stand_ins.items() if not is_weak(value)}
        weak = {value: text for value, text in stand_ins.items() if is_weak(value)}
        self._strong = [_ValueFinder(part, atoms, words=False) for part in _parts(strong)]
        self._weak = [_ValueFinder(part, atoms, words=True) for part in _parts(weak)]

    def text(self, text: str, *, weak: bool = True) -> str:
        """`text` with what stands for the values.

        Args:
            weak: also hide weak values, where they stand as words of their own.
        """
        for finder in (*self._strong, *(self._weak if weak else ())):
            text = finder.replaced(text)
        return text

    def occur_in(self, texts: Sequence[str]) -> bool:
        """Return whether one of these texts has a value. It costs less than to look through each of them."""
        joined = "\0".join(texts)
        return self.text(joined) != joined


@lru_cache(maxsize=_KEPT)
def hidden_values(stand_ins: tuple[tuple[str, str], ...], *, keeping: tuple[str, ...] = ()) -> HiddenValues:
    """The values and what stands for each, ready to be looked for; `keeping` as of `HiddenValues`."""
    return HiddenValues(dict(stand_ins), keeping=keeping)


@dataclass(frozen=True)
class _Known:
    """One value, by its spellings."""

    spellings: tuple[Spelling, ...]
    stand_in: str

    @cached_property
    def heads(self) -> str:
        """Matches the beginning of each spelling."""
        return "|".join(spelling.head for spelling in self.spellings)

    @cached_property
    def _long(self) -> tuple[tuple[Any, Spelling], ...]:
        return tuple((_compiled(spelling.head), spelling) for spelling in self.spellings if spelling.tail)

    def tail_behind(self, head: str) -> tuple[str, ...]:
        """Return what the spelling that begins with just this text goes on with."""
        return next((spelling.tail for begins, spelling in self._long if begins.fullmatch(head)), ())


class _ValueFinder:
    """Finds some values.

    Args:
        known: the values.
        atoms: what stands for values, which is left as it is: a text may be looked through twice.
        words: only where they are words of their own.
    """

    def __init__(self, known: Sequence[_Known], atoms: Sequence[str], *, words: bool) -> None:
        self._known = [value for value in known if value.spellings]
        self._words = words
        # A pattern of nothing would match everywhere.
        heads = (*map(re2.escape, atoms), *(value.heads for value in self._known)) if self._known else ()
        self._pattern = _compiled("|".join(heads)) if heads else None
        self._seen: dict[str, _Known | None] = {}

    @cached_property
    def _which(self) -> Any:
        """Tells the values apart, by one group for each. To look for them all costs less without."""
        return _compiled("|".join(f"({value.heads})" for value in self._known), groups=True)

    def replaced(self, text: str) -> str:
        """`text` with what stands for the values."""
        if self._pattern is None or not text:
            return text
        parts: list[str] = []
        at = 0
        readable = _readable(text)
        for match in self._pattern.finditer(readable):
            start, end = match.span()
            if start < at or (value := self._value_of(match[0])) is None:
                continue
            end = _with_tail(readable, end, value.tail_behind(match[0]))
            if self._words and not _is_word(readable, start, end):
                continue
            parts += (text[at:start], value.stand_in)
            at = end
        return "".join((*parts, text[at:])) if parts else text

    def _value_of(self, text: str) -> _Known | None:
        """The value that begins with just this text; None where it is what stands for a value."""
        if text not in self._seen:
            if len(self._seen) >= _SEEN:
                self._seen.clear()
            match = self._which.fullmatch(text)
            groups = () if match is None else match.groups()
            fits = (value for value, group in zip(self._known, groups, strict=False) if group is not None)
            self._seen[text] = next(fits, None)
        return self._seen[text]


def _compiled(pattern: str, *, groups: bool = False) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.longest_match = True
    options.never_capture = not groups
    options.max_mem = _PATTERN_BYTES
    options.log_errors = False  # an error's message has the pattern, so the value
    return re2.compile(pattern, options)


@lru_cache(maxsize=1024)
def _unit(pattern: str) -> Any:
    return _compiled(pattern)


def _with_tail(text: str, end: int, tail: Sequence[str]) -> int:
    """Return where a value that was found ends: as far as the text goes on with it."""
    for unit in tail:
        if (match := _unit(unit).match(text[end : end + _UNIT_CHARS])) is None:
            break
        end += match.end()
    return end


def _is_word(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _BEFORE_CHARS) : start]
    return _ENDS_WORD.search(before) is not None and not text[end : end + 1].isalnum()


def _readable(text: str) -> str:
    """`text` with as many characters, none of which is half of one: pages may hold such."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _parts(stand_ins: Mapping[str, str]) -> Iterator[Sequence[_Known]]:
    """All values, some at a time."""
    left = iter(stand_ins.items())
    while several := list(islice(left, _TOGETHER)):
        yield [_Known(tuple(spellings(value)), text) for value, text in several]
