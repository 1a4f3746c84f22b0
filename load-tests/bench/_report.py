"""The common parts of every benchmark here: rounds, medians with ranges, one table, one JSON object."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from shoal.services import logs


@dataclass(frozen=True)
class Target:
    """The bound that a figure has to reach."""

    bound: float
    at_least: bool = True  # False: at most

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


@dataclass
class Report:
    """Collects samples by figure, and prints them."""

    bench: str
    targets: dict[str, Target] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    def add(self, figure: str, value: float) -> None:
        self.samples[figure].append(value)

    def median(self, figure: str) -> float:
        return statistics.median(self.samples[figure])

    def as_json(self) -> dict[str, Any]:
        return {
            "bench": self.bench,
            "figures": {name: round(self.median(name), 4) for name in self.samples},
            "ranges": {name: [round(min(v), 4), round(max(v), 4)] for name, v in self.samples.items()},
            "targets": {
                name: {
                    "value": round(self.median(name), 4),
                    "bound": target.bound,
                    "met": target.met(self.median(name)),
                }
                for name, target in self.targets.items()
                if name in self.samples
            },
            "machine": machine(),
            "notes": self.notes,
        }

    def show(self, *, as_json: bool) -> None:
        """Prints the report: a table for people, or one JSON object."""
        if as_json:
            print(json.dumps(self.as_json()))
            return
        table = Table(title=self.bench)
        for column in ("figure", "median", "lowest", "highest", "target"):
            table.add_column(column, justify="left" if column in ("figure", "target") else "right")
        for name, values in self.samples.items():
            target = self.targets.get(name)
            verdict = ""
            if target is not None:
                sign = "≥" if target.at_least else "≤"
                verdict = f"{sign} {target.bound:g}: {'met' if target.met(self.median(name)) else 'MISSED'}"
            row = (f"{self.median(name):.3f}", f"{min(values):.3f}", f"{max(values):.3f}")
            table.add_row(name, *row, verdict)
        console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
        console.print(table)
        for note in self.notes:
            console.print(note)


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {
        "cpus": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that every benchmark has. Log lines go to standard error, so that --json prints one object alone."""
    logs.set_up("warning")
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="one short round, within a minute")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser
