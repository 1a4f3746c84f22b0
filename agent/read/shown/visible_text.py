"""The visible text of a record, for finding values again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property

from shoal.agent.read.schema import Property
from shoal.agent.read.shown.places import ShownPlace
from shoal.agent.read.values.conversion import ValueHints
from shoal.agent.read.values.currencies import read_currency
from shoal.agent.read.values.numbers import decimal_of, number_tokens, read_price
from shoal.agent.read.values.phrases import squash
from shoal.agent.read.values.stock import read_stock, stock_line
from shoal.agent.support.json_value import Json


class VisibleText:
    """The visible text of a record, for finding values again."""

    def __init__(self, text: str, reading: ValueHints, candidates: Sequence[ShownPlace] = ()) -> None:
        self._text = text
        self._reading = reading
        self._candidates = candidates

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the visible text, clipped in number."""
        rows = re.split(r"\n| [·•|] ", self._text)
        return [row.strip() for row in rows if row.strip()][:600]

    @cached_property
    def _squashed(self) -> str:
        return squash(self._text)

    @cached_property
    def _numbers(self) -> set[Decimal]:
        numbers: set[Decimal] = set()
        for line in self.lines:
            if len(line) <= 300:
                for token in number_tokens(line):
                    for price in (False, True):
                        value = decimal_of(token, self._reading.lang, price=price)
                        if value is not None:
                            numbers.add(value)
        for candidate in self._candidates:
            if candidate.visible and not candidate.struck and len(candidate.raw.parts) > 1:
                amount = read_price(candidate.raw.text, self._reading.lang, candidate.raw.parts)
                if amount is not None:
                    numbers.add(amount)
        return numbers

    def has(self, prop: Property, value: Json) -> bool:
        """Return whether the visible text says `value`."""
        kind = prop.concept.kind if prop.concept else "text"
        if isinstance(value, bool):
            states = {read_stock(line) for line in self.lines if len(line) <= 60 and stock_line(line)}
            states = states or {stock for line in self.lines if len(line) <= 80 and (stock := read_stock(line))}
            return kind == "availability" and bool(states) and states <= ({"in"} if value else {"out", "preorder"})
        if isinstance(value, (int, float)):
            return Decimal(str(value)) in self._numbers
        if not isinstance(value, str):
            return False
        if kind == "currency":
            return any(read_currency(line, self._reading.lang) == value for line in self.lines if len(line) <= 60)
        if kind == "availability":
            asked = read_stock(value)
            return any(stock_line(line) == asked for line in self.lines) if asked else squash(value) in self._squashed
        if kind in ("image", "url") or prop.format.startswith("uri"):
            return any(candidate.raw.href == value and candidate.visible for candidate in self._candidates)
        return squash(value) in self._squashed
