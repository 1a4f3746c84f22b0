"""Writes docs/models/prompts.md from the prompts and ten real pages (--check: only says whether it is current)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import deliver
from shoal.prompts import render_parts
from tests.unit.prompts.cases import CASES
from tests.unit.prompts.real_pages import PAGES, SNAPSHOTS

HEAD = """# Prompts

A model is asked for one decision at a time: plan, step, extract, collect or criterion. Each request begins with the
same text, then tells the job, the page, and at last what is asked for. The model server keeps what requests have in
common, so only the last part is new for a second decision on one page. The templates lie in `prompts/`; a change of
their wording is seen in review, in `tests/unit/prompts/snapshots`.

This page is written by `scripts/prompt-docs`. The ten pages below are of packages from registries. Each is cut to its
first lines; the time is left out.

## What all requests begin with
"""


def page() -> str:
    """The whole page."""
    name, variables = CASES["plan_bare"]
    parts = [HEAD, _fenced(render_parts(name, **variables)["head"])]
    for shown in PAGES:
        told = (SNAPSHOTS / f"page-{shown.name}.txt").read_text(encoding="utf-8")
        parts.append(f"## {shown.decision.capitalize()}: {shown.goal}\n\nA page of {shown.package}.\n\n{_fenced(told)}")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    return f"````text\n{text.strip()}\n````\n"


if __name__ == "__main__":
    sys.exit(deliver("docs/models/prompts.md", page()))
