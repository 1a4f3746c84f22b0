"""Styles of elements by a document's own `<style>` elements and inline styles: a small cascade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from selectolax.lexbor import SelectolaxError

from shoal.agent.page.declarations import BEARS, declarations
from shoal.agent.page.lexbor_tree import ParsedHtml
from shoal.agent.page.media import media_applies
from shoal.agent.page.style_rules import StyleRule, specificity, style_rules

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
        known = self._names()
        for sheet in sheets:
            for rule in style_rules(sheet, known):
                self._apply(rule)

    def _names(self) -> set[str]:
        """The ids (`#id`) and classes (`.class`) of the document."""
        names: set[str] = set()
        for attributes in self._document.attributes:
            if "class" in attributes:
                names.update(["." + name for name in (attributes["class"] or "").split()])
            if "id" in attributes:
                names.add(f"#{attributes['id']}")
        return names

    def _apply(self, rule: StyleRule) -> None:
        weight = specificity(rule.selector)
        declared = declarations(rule.declared) if weight is not None else ()
        if weight is None or not declared:
            return
        try:
            nodes = self._document.tree.css(rule.selector)
        except (
            SelectolaxError
        ):  # lexbor does not know it: the rule is passed over, as a browser passes over unknown ones
            return
        for node in nodes:
            number = self._document.numbers.get(node.mem_id)
            if number is not None:
                for name, value, important in declared:
                    # Of layers the first is strongest where importance counts; no page is known to need their order.
                    self._declare(number, name, value, _Rank(important, False, rule.layered is important, weight))

    def _read_inline(self, inline: Mapping[int, str]) -> None:
        for number, style in inline.items():
            if BEARS.search(style):
                for name, value, important in declarations(style):
                    self._declare(number, name, value, _Rank(important, True, True, (0, 0, 0)))

    def _declare(self, number: int, name: str, value: str, rank: _Rank) -> None:
        won = self._won.setdefault(number, {})
        if name not in won or won[name][0] <= rank:
            won[name] = (rank, value)
