"""The text of files that pages give: PDF and plain text."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

from shoal.agent.support.aside import run_module

MAX_TEXT = 20_000
"""Characters of a file's text that an observation may carry."""
_MAX_PAGES = 50
PDF_S = 20.0
"""Time of the process that reads one PDF; a machine that is busy gives it half of that."""
_TEXT_ENDINGS = frozenset({".txt", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".md", ".log", ".yaml", ".yml", ".ini"})
_CHILD = "shoal.agent.observe.pdf_child"
_LATE = "reading it takes too long"

_log = logging.getLogger(__name__)


async def file_text(path: Path, max_chars: int = MAX_TEXT) -> str:
    """Return what the file says, clipped; "" when it is neither a readable PDF nor text."""
    if await asyncio.to_thread(_is_pdf, path):
        return await _pdf_text(path, max_chars)
    if path.suffix.lower() in _TEXT_ENDINGS:
        return await asyncio.to_thread(_plain_text, path, max_chars)
    return ""


def _is_pdf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(5).startswith(b"%PDF")


def _plain_text(path: Path, max_chars: int) -> str:
    with path.open("r", encoding="utf-8", errors="replace") as text:
        return text.read(max_chars)


async def _pdf_text(path: Path, max_chars: int) -> str:
    """The text of a PDF's first pages, a line "[page n]" before each, and a last line where reading ended early.

    A broken PDF must not spoil the download that was asked for: its bytes are kept, its text is missing.
    """
    # JSON writes a character with twelve bytes at most.
    most_bytes = 12 * (2 * max_chars) + 64 * _MAX_PAGES + 4096
    output = await run_module(_CHILD, str(path), str(_MAX_PAGES), str(max_chars), within_s=PDF_S, most_bytes=most_bytes)
    pages, end = _heard(output)
    text = "\n".join(f"[page {number}]\n{page}" for number, page in enumerate(pages, start=1))[:max_chars]
    if not end:
        return text
    _log.warning("the PDF %s was not read to its end: %s", path.name, ascii(end))
    note = f"\n[not read further: {end}]"
    return text[: max_chars - len(note)] + note if pages else ""


def _heard(output: bytes) -> tuple[list[str], str]:
    """The pages, and why there are no more; "" when that is all."""
    pages: list[str] = []
    for line in output.split(b"\n")[:-1]:  # the last one is empty, or was cut off
        entry = json.loads(line)
        if isinstance(entry, dict):
            return pages, str(entry["end"])
        pages.append(str(entry))
    return pages, _LATE
