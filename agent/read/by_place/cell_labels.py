"""The headers of a page's tables, by the cells that they name."""

from __future__ import annotations

from collections.abc import Mapping

from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.page.selectors import Selectors
from shoal.agent.read.facts.tables import is_cell, is_table
from shoal.agent.read.lists.pieces import PagePieces
from shoal.agent.read.lists.tables import table_header


def cell_labels(page: Page) -> dict[str, str]:
    """The headers of tables by the selectors of the cells that they name."""
    pieces, selectors = PagePieces(page), Selectors(page)
    headers: dict[HtmlElement, Mapping[str, str]] = {}
    labels: dict[str, str] = {}
    for cell in filter(is_cell, pieces.span):
        table = next(filter(is_table, cell.iterancestors()), None)
        if table is None:
            continue
        if table not in headers:
            headers[table] = table_header(table)[0]
        if header := headers[table].get(pieces.path[cell][-1]):
            labels[selectors.of(cell)] = header
    return labels
