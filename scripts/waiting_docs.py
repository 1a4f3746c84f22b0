"""Writes docs/waiting.md from the causes of waiting; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import deliver
from shoal.services.web.cluster_state.waiting_words import TEXTS

HEAD = """# What sessions wait for

A session that waits has a `waiting.cause`. Its values are stable: programs may match on them. `waiting_for` says the
same in words, for people; the words may change.

The metric `shoal_sessions_waiting` counts sessions by cause. The metric `shoal_queues_waiting` counts queues (one job
on one site) by the label in the last column.

This page is written by `scripts/waiting-docs` from `services/web/cluster_state/waiting_words.py`.

| cause | what it means | what to do | label of queues |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    rows = [
        f"| `{cause}` | {text.meaning} | {text.do} | {f'`{text.queue}`' if text.queue else ''} |\n"
        for cause, text in TEXTS.items()
    ]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    sys.exit(deliver("docs/waiting.md", page()))
