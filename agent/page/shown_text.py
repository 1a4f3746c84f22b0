"""Text as a person reads it: white space collapsed, blocks on lines of their own, cells apart by tabs."""

from __future__ import annotations

import re
from enum import IntEnum

_SPACES = re.compile(r"[ \t\n\r\f]+")


class Gap(IntEnum):
    """Distance between two pieces of text; of several the widest counts."""

    NOTHING = 0
    SPACE = 1
    TAB = 2
    LINE = 3


_WRITTEN = ("", " ", "\t", "\n")


class ShownText:
    """Text that is being written, piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._gap = Gap.NOTHING

    def gap(self, gap: Gap) -> None:
        """Keeps the next piece at least so far from the last one."""
        if gap > self._gap:
            self._gap = gap

    def add(self, text: str) -> None:
        """Adds text whose white space collapses."""
        words = _SPACES.sub(" ", text)
        if words[:1] == " ":
            self.gap(Gap.SPACE)
            words = words[1:]
        if not words:
            return
        ends = words[-1] == " "
        self.add_preformatted(words[:-1] if ends else words)
        if ends:
            self.gap(Gap.SPACE)

    def add_preformatted(self, text: str) -> None:
        """Adds text whose white space counts."""
        if self._pieces:
            self._pieces.append(_WRITTEN[self._gap])
        self._gap = Gap.NOTHING
        self._pieces.append(text)

    def __str__(self) -> str:
        return "".join(self._pieces)
