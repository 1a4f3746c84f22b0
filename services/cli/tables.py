"""Tables on standard output: cut to the terminal's width there, and whole where something else reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoal.services.cli.ending import printable

_WHOLE = 10_000
"""Characters of a line that nothing is cut to."""


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Writes `rows` under `headers`. Cells are text as it is: nothing in a goal or an error is read as markup."""
    table = Table(*headers, box=None)
    for row in rows:
        table.add_row(*(Text(_one_line(cell)) if isinstance(cell, str) else cell for cell in row))
    console = Console() if sys.stdout.isatty() else Console(width=_WHOLE)
    console.print(table)


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
