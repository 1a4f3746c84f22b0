"""Styles of elements by a document's own `<style>` elements and inline styles: a small cascade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from shoal.agent.page.declarations import BEARS, declarations
from shoal.agent.page.lexbor_tree import ParsedHtml
from shoal.agent.page.media import media_applies
from shoal.agent.page.plain_selectors import PlainSelectors, plain_steps
from shoal.agent.page.style_rules import specificity, style_rules

Style = Mapping[str, str]
"""Values by the names of properties."""
_NO_STYLE: Style = {}


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
        plain = PlainSelectors(self._document)
        for sheet in sheets:
            for rule in style_rules(sheet, plain.named):
                declared = declarations(rule.declared)
                weight = specificity(rule.selector) if declared else None
                if weight is None:
                    continue
                for number in self._fitting(rule.selector, plain):
                    for name, value, important in declared:
                        # Of layers the first is strongest where importance counts; their order is not read.
                        self._declare(number, name, value, _Rank(important, False, rule.layered is important, weight))

    def _fitting(self, selector: str, plain: PlainSelectors) -> Iterable[int]:
        """The elements that a selector fits; none where lexbor does not know it, as browsers pass over such rules."""
        steps = plain_steps(selector)
        return plain.find(steps) if steps is not None else self._document.find(selector) or ()

    def _read_inline(self, inline: Mapping[int, str]) -> None:
        for number, style in inline.items():
            if BEARS.search(style):
                for name, value, important in declarations(style):
                    self._declare(number, name, value, _Rank(important, True, True, (0, 0, 0)))

    def _declare(self, number: int, name: str, value: str, rank: _Rank) -> None:
        won = self._won.setdefault(number, {})
        if name not in won or won[name][0] <= rank:
            won[name] = (rank, value)
