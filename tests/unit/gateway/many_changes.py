"""Compares two runs of many records; prints how many changed, and the most memory that the process took, in KiB."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from typing import Any

from shoal.services.web.results.compared_runs import ComparedRuns, WhichRun
from shoal.services.web.results.run_changes import write_changes

_PAGE = 500
_EVERY = 10
"""Of the later run, each tenth record has another price, and each one behind it is new."""


def _lines(n: int, *, later: bool) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, n, _PAGE):
        yield [_line(k, later=later) for k in range(start, min(n, start + _PAGE))]


def _line(k: int, *, later: bool) -> dict[str, Any]:
    sku = f"new-{k}" if later and k % _EVERY == 1 else f"sku-{k * 7919 % 1_000_003}"  # in no order
    record = {"sku": sku, "title": f"Product {k} " + "of the shop " * 8, "price": k + (later and k % _EVERY == 0)}
    return {
        **{"record": record, "item": {"value": f"https://shop.example/p/{sku}"}, "url": "https://shop.example/"},
        **{"session": f"s{k}", "at": "", "candidates": {}, "status": "completed", "answer": ""},
    }


def main(n: int) -> None:
    """Compares `n` records of each run."""
    runs = ComparedRuns([("#item",), ("sku",)])
    for run in WhichRun:
        for page in _lines(n, later=run is WhichRun.AFTER):
            runs.add(run, page)
    changes = write_changes(runs, 1, 2, ["", ""])
    runs.close()
    told = sum(1 for _ in changes.lines())
    counts = changes.counts
    changes.close()
    print(told, counts.changed, counts.appeared, counts.went, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main(int(sys.argv[1]))
