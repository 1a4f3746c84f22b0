"""Live progress of a job on standard error: a bar on a terminal, plain lines elsewhere, JSON lines when asked."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Protocol

from shoal.records import Event
from shoal.services.cli.ending import tell
from shoal.services.cli.pace import Throughput, sentence

LINE_EVERY_S = 5.0


class ShowEvents(Protocol):
    """Something that shows a job's events."""

    def __call__(self, event: Event) -> None: ...


@contextmanager
def progress_display(title: str, *, as_json: bool = False) -> Iterator[ShowEvents]:
    """Yield a callable that shows events in the way that fits this standard error."""
    if as_json:
        yield _json_line
    elif sys.stderr.isatty():
        with _bar(title) as show:
            yield show
    else:
        yield _EventLines(title)


def _json_line(event: Event) -> None:
    tell(json.dumps({"event": event.name, **event.data}, ensure_ascii=False))


class _EventLines:
    """A line every few seconds, and at what matters."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._pace = Throughput()
        self._last_s = float("-inf")
        self._last_text = ""

    def __call__(self, event: Event) -> None:
        now_s = time.monotonic()
        counts = event.counts
        if counts is None:
            return
        text = sentence(self._pace.note(counts, now_s))
        matters = event.name != "job.progress"
        if text != self._last_text and (matters or now_s - self._last_s >= LINE_EVERY_S):
            tell(f"{self._title} {_happened(event.name)}: {text}" if matters else f"{self._title}: {text}")
            self._last_s, self._last_text = now_s, text


def _happened(name: str) -> str:
    """`job.fanned_out` for people."""
    return name.rpartition(".")[2].replace("_", " ")


@contextmanager
def _bar(title: str) -> Iterator[ShowEvents]:
    console, bars = import_module("rich.console").Console(stderr=True), import_module("rich.progress")
    text = bars.TextColumn
    columns = (bars.SpinnerColumn(), text("{task.description}"), bars.BarColumn(), text("{task.fields[text]}"))
    pace = Throughput()
    with bars.Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None, text="waiting")

        def show(event: Event) -> None:
            counts = event.counts
            if counts is not None:
                standing = pace.note(counts, time.monotonic())
                total = standing.expected if standing.expected > 1 else None
                progress.update(task, total=total, completed=standing.final, text=sentence(standing))

        yield show
