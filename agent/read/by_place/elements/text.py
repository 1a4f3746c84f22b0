"""Text as JavaScript treats it: its white space, its folding of labels, its lengths."""

from __future__ import annotations

import re
import unicodedata

SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""The inside of a character class: `\\s` of JavaScript, which is not Python's."""
_SPACES = "".join(map(chr, (9, 10, 11, 12, 13, 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F)))
TRIMMED = _SPACES + "\u205f\u3000\ufeff"
_RUN = re.compile(f"[{SPACE}]+")
_NOT_LINE = f"[{SPACE.replace(chr(10), '')}]"
_AROUND_LINE = re.compile(f"{_NOT_LINE}+\n|\n{_NOT_LINE}+")
_LINES = re.compile("\n{2,}")
_SIGNS = "▲▼↑↓⇅↕*"
_SQUEEZED = re.compile(f"[{SPACE}]")


def collapsed(text: str) -> str:
    """`text` with each run of white space as one space."""
    return _RUN.sub(" ", text)


def squash(text: str) -> str:
    """`text` in one line."""
    return _RUN.sub(" ", text).strip(TRIMMED)


def lines(text: str) -> str:
    """`text` without spaces at the ends of lines, and without empty lines."""
    return _LINES.sub("\n", _AROUND_LINE.sub("\n", text)).strip(TRIMMED)


def fold(text: str) -> str:
    """A label as labels are compared."""
    folded = unicodedata.normalize("NFKC", squash(text).lower())
    return folded.lstrip(TRIMMED + _SIGNS).rstrip(TRIMMED + _SIGNS + ":：")


def squeezed(text: str) -> str:
    """`text` without white space, in the letters of `fold`: a text that has a label in it has it squeezed, too."""
    lowered = text.lower()
    return _SQUEEZED.sub("", lowered if lowered.isascii() else unicodedata.normalize("NFKC", lowered))


def length(text: str) -> int:
    """The length that JavaScript tells, in units of UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def has_letter_or_digit(text: str) -> bool:
    """Return whether there is a letter or a digit in it."""
    return any(char.isalnum() for char in text)
