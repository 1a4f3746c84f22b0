"""Tables on standard output: cut to the terminal's width there, and whole where something else reads them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from shoal.agent.support.json_value import Json
from shoal.services.cli.ending import printable

if TYPE_CHECKING:  # a command that prints JSON, or nothing, imports no Rich
    from rich.text import Text

_WHOLE = 10_000
"""Characters of a line that nothing is cut to."""


def print_rows(
    rows: Iterable[Mapping[str, Json]],
    headers: Sequence[str],
    cells: Callable[[Mapping[str, Json]], Sequence[str | Text]],
    *,
    as_json: bool,
) -> None:
    """Writes what a list has: each row as a line of JSON, or as the cells of a table."""
    if not as_json:
        print_table(headers, map(cells, rows))
        return
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Writes `rows` under `headers`. Cells are text as it is: nothing in a goal or an error is read as markup."""
    console, text = import_module("rich.console").Console, import_module("rich.text").Text
    table = import_module("rich.table").Table(*headers, box=None)
    for row in rows:
        table.add_row(*(text(_one_line(cell)) if isinstance(cell, str) else cell for cell in row))
    console = console() if sys.stdout.isatty() else console(width=_WHOLE)
    console.print(table)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
