"""The ways in which pages, addresses and scripts spell a value: as patterns, for text that is searched for it.

A page may write any character of a value as it is, percent-encoded (as often as it likes), form-encoded, as an HTML
entity, or as an escape of JSON or a script, in any mixture. Beside that, it may write the whole value in hexadecimal
digits or in base64, with other bytes before and behind it, or backwards. Letters may be of either case.

The patterns are those of RE2, and to be matched without regard to case.
"""

from __future__ import annotations

import base64
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.entities import html5

WEAK_CHARS = 6
"""A value of fewer characters is weak: it is also a part of other words and numbers, and is easily guessed."""
HEAD_UNITS = 64
"""So many characters are searched for; what follows them is compared. It bounds the size of the pattern."""

_PERCENT = "%(?:25)*"
_AMPERSAND = f"(?:&|{_PERCENT}26)(?:amp(?:;|{_PERCENT}3b))*"
_HASH = f"(?:#|{_PERCENT}23)"
_SEMICOLON = f"(?:;|{_PERCENT}3b)"
_NUMBER_ENDS = rf"(?:{_SEMICOLON}|\b)"
_ESCAPE = rf"(?:\\|{_PERCENT}5c)+"
_BLANK = (
    rf"(?:[\s\pZ+]|{_PERCENT}(?:20|09|0[ad]|c2{_PERCENT}a0|a0)"
    rf"|{_AMPERSAND}(?:nbsp{_SEMICOLON}?|{_HASH}(?:0*(?:9|10|13|32|160)|x0*(?:9|a|d|20|a0)){_NUMBER_ENDS})"
    rf"|{_ESCAPE}(?:[nrt]|u00(?:20|09|0a|0d|a0)|u\{{0*(?:20|9|a|d|a0)\}}|x(?:20|09|0a|0d|a0)))*"
)
"""Between the words of a value: HTML folds blanks, and a field of one line drops line breaks."""
_PADDING = f"(?:=|{_PERCENT}3d)"
_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_URL_SAFE = {"+": "-", "/": "_"}


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a value."""

    units: tuple[str, ...]  # patterns, one for each character

    @property
    def head(self) -> str:
        """The pattern of its first characters."""
        return "".join(self.units[:HEAD_UNITS])

    @property
    def tail(self) -> tuple[str, ...]:
        """The patterns of the characters behind them, one by one."""
        return self.units[HEAD_UNITS:]


def is_weak(value: str) -> bool:
    """Return whether a value is too short to be told from other words and numbers."""
    return len("".join(value.split())) < WEAK_CHARS


def spellings(value: str) -> Iterator[Spelling]:
    """The spellings of a value; none of one that is blank. Of a weak value: no part of anything longer, not backwards.

    A value with letters beyond ASCII may be composed of other code points. Cases of such letters that RE2 does not know
    to be the same are spellings of their own.
    """
    weak = is_weak(value)
    for text in dict.fromkeys(form for form in _forms(value) if form):
        yield Spelling(tuple(map(_unit, _words(text))))
        if not weak:
            yield Spelling(tuple(map(_unit, _words(text)))[::-1])
    if data := value.strip().encode("utf-8", "surrogatepass"):
        yield Spelling(tuple(data.hex()))
        if weak:
            whole = base64.b64encode(data).decode().rstrip("=")
            yield Spelling((*map(_sextet, whole), f"{_PADDING}*"))
        else:
            yield from (_within_base64(data, before) for before in range(3))


def _forms(value: str) -> Iterator[str]:
    cases = (value,) if value.isascii() else (value, value.upper(), value.lower(), value.swapcase())
    for text in cases:
        yield text.strip()
        yield unicodedata.normalize("NFC", text).strip()
        yield unicodedata.normalize("NFD", text).strip()


def _words(text: str) -> Iterator[str]:
    """The characters of a text; each run of blanks is one."""
    blank = False
    for char in text:
        if not char.isspace():
            yield char
        elif not blank:
            yield " "
        blank = char.isspace()


@lru_cache(maxsize=4096)
def _unit(char: str) -> str:
    """Matches one character, however it is written."""
    if char == " ":
        return _BLANK
    number = ord(char)
    names = (name[:-1] for name, text in html5.items() if text == char and name.endswith(";"))
    named = "".join(f"|{name}{_SEMICOLON}?" for name in sorted({name.lower() for name in names}))
    ways = [_literal(char), _percent(char.encode("utf-8", "surrogatepass"))]
    if number > 0x7F:  # a page of another encoding sends its forms in that; this one stands for most of them
        ways.append(_percent(char.encode("cp1252", "ignore")))
    ways.append(f"{_AMPERSAND}(?:{_HASH}(?:0*{number}|x0*{number:x}){_NUMBER_ENDS}{named})")
    escapes = "|".join((*_escapes(char), *(ways if char in "\"'/\\&<>" else ())))
    ways.append(f"{_ESCAPE}(?:{escapes})")
    return f"(?:{'|'.join(filter(None, ways))})"


def _escapes(char: str) -> Iterator[str]:
    """Yield what stands behind a backslash for a character in JSON and scripts, by its number."""
    number, halves = ord(char), char.encode("utf-16-be", "surrogatepass")
    yield _ESCAPE.join(f"u{halves[at : at + 2].hex()}" for at in range(0, len(halves), 2))
    yield rf"u\{{0*{number:x}\}}"
    if number < 0x100:
        yield f"x{number:02x}"


def _literal(char: str) -> str:
    return char if char.isascii() and char.isalnum() else f"\\x{{{ord(char):x}}}"


def _percent(data: bytes) -> str:
    return "".join(f"{_PERCENT}{byte:02x}" for byte in data)


def _sextet(char: str) -> str:
    """Matches one character of base64 in either alphabet; those that are no letters may be spelled like any other."""
    if char not in _URL_SAFE:
        return char
    return f"(?:{_unit(char)}|{_literal(_URL_SAFE[char])})"


def _within_base64(data: bytes, before: int) -> Spelling:
    """`data` in base64 behind so many other bytes, modulo 3. Of its first and last character some bits are others'."""
    bits = "?" * (8 * before) + "".join(f"{byte:08b}" for byte in data)
    bits += "?" * (-len(bits) % 6)
    units = [_sextets(bits[at : at + 6]) for at in range(0, len(bits), 6)]
    return Spelling((*filter(None, units), f"{_PADDING}{{0,2}}"))


@lru_cache(maxsize=512)
def _sextets(bits: str) -> str:
    """Matches the characters of base64 that six bits may be, some of them unknown; "" where all are."""
    fitting = [
        char
        for number, char in enumerate(_ALPHABET)
        if all(known in ("?", bit) for bit, known in zip(f"{number:06b}", bits, strict=True))
    ]
    return "" if len(fitting) == len(_ALPHABET) else f"(?:{'|'.join(map(_sextet, fitting))})"
