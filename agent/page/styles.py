"""Styles of elements by a document's own `<style>` elements and inline styles: a small cascade."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from selectolax.lexbor import SelectolaxError

from shoal.agent.page.declarations import BEARS, declarations
from shoal.agent.page.lexbor_tree import ParsedHtml
from shoal.agent.page.media import media_applies
from shoal.agent.page.style_rules import specificity, style_rules

Style = Mapping[str, str]
"""Values by the names of properties."""
_NO_STYLE: Style = {}
_NAME = re.compile(r"[.#][\w-]+")


class _Rank(NamedTuple):
    """Weight of a declaration: of two the greater one wins."""

    important: bool
    inline: bool
    unlayered: bool
    specificity: tuple[int, int, int]


class Styles:
    """The declared styles of the elements of one document."""

    def __init__(self, document: ParsedHtml) -> None:
        self._document = document
        self._won: dict[int, dict[str, tuple[_Rank, str]]] = {}
        sheets = [
            node.text() or ""
            for node in document.tree.css("style")
            if media_applies(node.attributes.get("media") or "")
        ]
        inline = {
            number: attributes["style"] or ""
            for number, attributes in enumerate(document.attributes)
            if "style" in attributes
        }
        self._read_sheets(sheets)
        self._read_inline(inline)

    def of(self, number: int) -> Style:
        """Declared values of an element."""
        won = self._won.get(number)
        return {name: value for name, (_, value) in won.items()} if won else _NO_STYLE

    def _read_sheets(self, sheets: Iterable[str]) -> None:
        named = self._named()
        for sheet in sheets:
            for rule in style_rules(sheet, named):
                declared = declarations(rule.declared)
                weight = specificity(rule.selector) if declared else None
                if weight is None:
                    continue
                for number in self._fitting(rule.selector, named):
                    for name, value, important in declared:
                        # Of layers the first is strongest where importance counts; their order is not read.
                        self._declare(number, name, value, _Rank(important, False, rule.layered is important, weight))

    def _named(self) -> dict[str, list[int]]:
        """The elements of each id (`#id`) and class (`.class`) of the document."""
        named: dict[str, list[int]] = {}
        for number, attributes in enumerate(self._document.attributes):
            if "class" in attributes:
                for name in set((attributes["class"] or "").split()):
                    named.setdefault("." + name, []).append(number)
            if "id" in attributes:
                named.setdefault(f"#{attributes['id']}", []).append(number)
        return named

    def _fitting(self, selector: str, named: Mapping[str, list[int]]) -> Iterable[int]:
        """The elements that a selector fits; none where lexbor does not know it, as browsers pass over such rules."""
        if _NAME.fullmatch(selector):
            return named.get(selector, ())
        try:
            nodes = self._document.tree.css(selector)
        except SelectolaxError:
            return ()
        numbers = self._document.numbers
        return [numbers[node.mem_id] for node in nodes if node.mem_id in numbers]

    def _read_inline(self, inline: Mapping[int, str]) -> None:
        for number, style in inline.items():
            if BEARS.search(style):
                for name, value, important in declarations(style):
                    self._declare(number, name, value, _Rank(important, True, True, (0, 0, 0)))

    def _declare(self, number: int, name: str, value: str, rank: _Rank) -> None:
        won = self._won.setdefault(number, {})
        if name not in won or won[name][0] <= rank:
            won[name] = (rank, value)
