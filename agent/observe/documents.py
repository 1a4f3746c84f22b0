"""The text of files that pages give: PDF and plain text."""

from __future__ import annotations

import logging
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

MAX_TEXT = 20_000
"""Characters of a file's text that an observation may carry."""
_MAX_PAGES = 50
_TEXT_ENDINGS = frozenset({".txt", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".md", ".log", ".yaml", ".yml", ".ini"})

_log = logging.getLogger(__name__)
# The library says a line about each fault of a file, and a hostile file has a million of them. We say one about a file.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)
_SAID = 200


def file_text(path: Path, max_chars: int = MAX_TEXT) -> str:
    """What the file says, clipped; "" when it is neither a readable PDF nor text."""
    with path.open("rb") as file:
        head = file.read(5)
    if head.startswith(b"%PDF"):
        return pdf_text(path, max_chars)
    if path.suffix.lower() in _TEXT_ENDINGS:
        with path.open("r", encoding="utf-8", errors="replace") as text:
            return text.read(max_chars)
    return ""


def pdf_text(path: Path, max_chars: int = MAX_TEXT) -> str:
    """The text of a PDF's first pages, a line "[page n]" before each; "" when it cannot be read."""
    parts: list[str] = []
    length = 0
    try:
        reader = PdfReader(path)
        for number, page in enumerate(reader.pages[:_MAX_PAGES], start=1):
            parts.append(f"[page {number}]\n{page.extract_text().strip()}")
            length += len(parts[-1])
            if length >= max_chars:
                break
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        # A broken PDF must not spoil the download that was asked for: its bytes are kept, its text is missing.
        _log.warning("the PDF %s cannot be read: %s", path.name, ascii(str(error)[:_SAID]))
    return "\n".join(parts)[:max_chars]
