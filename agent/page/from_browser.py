"""The script that takes the page of a browser's tab: its answer is the tree and its marks, read by `page_of_answer`.

`DOMSnapshot.captureSnapshot` was measured beside it; docs/archive/decisions.md says why the script is the one source.
A closed shadow root is known to DevTools alone: the answer tells in `suspects` how many elements may have one, and once
their roots are in `shoalPage.closed` the script takes them, too. `IsolatedReader` does so.
"""

from __future__ import annotations

from pathlib import Path

SCRIPT = Path(__file__).with_name("page_tree.js").read_text(encoding="utf-8")
