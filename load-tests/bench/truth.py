"""Records and form outcomes on sites and applications from package registries, beside the truth.

Each site is installed into ~/.cache/shoal-sites and served on the loopback address. Its jobs are written as a user
would first write them, and run as whole jobs through a cluster, with the rules policy. The truth is parsed by lxml
from the files that are served, or read from the application's own database.

    python load-tests/bench/truth.py [--sites WORD,…] [--quick] [--json] [--wrong FILE]
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from _cluster import bench_cluster
from _report import arguments, machine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.sites.registry.cache import Unreachable  # noqa: E402
from tests.sites.registry.judging import Verdict  # noqa: E402
from tests.sites.registry.running import verdicts  # noqa: E402
from tests.sites.registry.sites import ALL, QUICK  # noqa: E402

_COLUMNS = (
    *("site", "class", "jobs", "stated", "given", "right", "wrong", "missing", "invented records"),
    *("lists told right", "whole lists doubted", "outcomes told right", "s"),
)


async def measured(names: Sequence[str]) -> tuple[dict[str, list[Verdict]], list[str]]:
    """The verdicts by site, and a note for each site that could not be tried."""
    found: dict[str, list[Verdict]] = {}
    notes = []
    async with bench_cluster(4) as cluster:
        for name in names:
            started = time.monotonic()
            try:
                with ALL[name]() as cases:
                    found[name] = await verdicts(cluster.url, cases)
            except Unreachable as error:
                notes.append(f"{name} was not tried: {error}")
            print(f"{name}: {len(found.get(name, ()))} jobs, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return found, notes


def figures(site: str, kind: str, done: Sequence[Verdict]) -> dict[str, Any]:
    """One row of the table."""
    return {
        "site": site,
        "class": kind,
        "jobs": len(done),
        "stated": sum(verdict.stated for verdict in done),
        "given": sum(verdict.given for verdict in done),
        "right": sum(verdict.right for verdict in done),
        "wrong": sum(len(verdict.wrong) for verdict in done),
        "missing": sum(verdict.missing for verdict in done),
        "invented records": sum(len(verdict.invented) for verdict in done),
        "lists told right": _of(sum(v.lists_honest for v in done), sum(v.lists for v in done)),
        "whole lists doubted": sum(verdict.lists_doubted for verdict in done),
        "outcomes told right": _of(sum(v.outcomes_right for v in done), sum(v.outcomes for v in done)),
        "s": round(sum(verdict.seconds for verdict in done)),
    }


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else ""


def rows(found: Mapping[str, Sequence[Verdict]]) -> list[dict[str, Any]]:
    """The table: per site and class, then per class, then all."""
    table = []
    for site, done in found.items():
        for kind in dict.fromkeys(verdict.kind for verdict in done):
            table.append(figures(site, kind, [verdict for verdict in done if verdict.kind == kind]))
    every = [verdict for done in found.values() for verdict in done]
    for kind in dict.fromkeys(verdict.kind for verdict in every):
        table.append(figures("all", kind, [verdict for verdict in every if verdict.kind == kind]))
    table.append(figures("all", "all", every))
    return table


def markdown(table: Sequence[Mapping[str, Any]]) -> str:
    """The table as Markdown, for the docs and for people."""
    lines = ["| " + " | ".join(_COLUMNS) + " |", "| " + " | ".join("---" for _ in _COLUMNS) + " |"]
    lines += ["| " + " | ".join(str(row[column]) for column in _COLUMNS) + " |" for row in table]
    return "\n".join(lines)


def faults(found: Mapping[str, Sequence[Verdict]]) -> str:
    """Every fault, under its site and job."""
    parts = []
    for site, done in found.items():
        for verdict in done:
            if verdict.faults:
                head = f"## {site}: {verdict.case} ({verdict.kind})"
                parts.append("\n".join([head, *(f"- {fault}" for fault in verdict.faults)]))
    return "\n\n".join(parts)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sites", default="", help="comma separated words of site names; default: all")
    parser.add_argument("--wrong", type=Path, help="file for the list of everything that is not right")
    options = parser.parse_args()
    words = [word.strip().lower() for word in options.sites.split(",") if word.strip()]
    names = [name for name in (QUICK if options.quick else ALL) if not words or any(w in name.lower() for w in words)]
    if not names:
        parser.error(f"no site's name has one of {words}: {', '.join(ALL)}")
    found, notes = asyncio.run(measured(names))
    table = rows(found)
    if options.wrong is not None:
        options.wrong.write_text(faults(found) + "\n", encoding="utf-8")
    if options.json:
        every = {site: [asdict(verdict) for verdict in done] for site, done in found.items()}
        print(json.dumps({"bench": "truth", "date": str(date.today()), "rows": table, "verdicts": every, "notes": notes,
                          "machine": machine()}))  # fmt: skip
        return
    print(markdown(table))
    for note in notes:
        print(note)


if __name__ == "__main__":
    main()
