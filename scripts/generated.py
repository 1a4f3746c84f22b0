"""Pages that are written from the code: made anew, or compared with what is there."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


WIDEST = 120
_ITEM = re.compile(r"(?:[*-] )?")


def wrapped(text: str) -> str:
    """Markdown whose long lines of prose are wrapped; code, tables and headings stay as they are."""
    lines: list[str] = []
    code = False
    for line in text.split("\n"):
        code ^= line.startswith("```")
        if code or len(line) <= WIDEST or line.startswith(("|", "#", "<")):
            lines.append(line)
            continue
        indent = " " * len(_ITEM.match(line)[0])  # type: ignore[index]
        lines += textwrap.wrap(line, WIDEST, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def deliver(name: str, text: str) -> int:
    """Writes the file `name` (from the root); with --check says by the exit code whether it is current."""
    path = ROOT / name
    text = wrapped(text) if path.suffix == ".md" else text
    if "--check" in sys.argv[1:]:
        return 0 if path.exists() and path.read_text() == text else 1
    path.write_text(text)
    print(f"wrote {name}")
    return 0
