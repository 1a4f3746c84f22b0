"""The process that reads a PDF: its path in, a line of JSON for each page out, at last one that says how it ended.

A line is a page's text, or an object with `end`: "" when all that is asked for was read, else why no more was.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from shoal.agent.support.process_limits import limit_this_process

_MEMORY_BYTES = 2 << 30
_CPU_S = 10
_PATIENCE = 5
"""Steps of niceness that it stands back behind the pages of other sessions."""
_SAID = 200


def main() -> None:
    """Reads the first so many pages, or so many characters of them."""
    path, pages, characters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    limit_this_process(memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S)
    os.nice(_PATIENCE)
    # The library says a line about each fault of a file, and a hostile file has a million of them.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    length, end = 0, ""
    try:
        for page in PdfReader(path).pages[:pages]:
            text = page.extract_text().strip()
            print(json.dumps(text[:characters]), flush=True)
            length += len(text)
            if length >= characters:
                break
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, MemoryError) as error:
        end = f"it cannot be read: {str(error)[:_SAID] or type(error).__name__}"
    print(json.dumps({"end": end}), flush=True)


if __name__ == "__main__":
    main()
