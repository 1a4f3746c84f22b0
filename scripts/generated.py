"""Pages that are written from the code: made anew, or compared with what is there."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def deliver(name: str, text: str) -> int:
    """Writes the file `name` (from the root); with --check says by the exit code whether it is current."""
    path = ROOT / name
    if "--check" in sys.argv[1:]:
        return 0 if path.exists() and path.read_text() == text else 1
    path.write_text(text)
    print(f"wrote {name}")
    return 0
