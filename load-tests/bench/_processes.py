"""CPU seconds and memory of processes."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable

import psutil

_LOOK_S = 0.2


def cpu_s(processes: Iterable[psutil.Process]) -> float:
    """CPU seconds so far, with those of children that ended: a renderer lives for a page or a few."""
    total = 0.0
    for one in processes:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


class TreeCpu:
    """CPU seconds of a process, this one or that of `pid`, and all below it, by kind, while the context lasts.

    A look every 0.2 s keeps what each process has taken: one that ends in between loses the time since the last look.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._owner = psutil.Process(pid)
        self._first: dict[tuple[int, float], float] = {}
        self._last: dict[tuple[int, float], float] = {}
        self._kinds: dict[tuple[int, float], str] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> TreeCpu:
        self._look()
        self._first = dict(self._last)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    @property
    def by_kind(self) -> Counter[str]:
        """Seconds since the context began, by kind of process."""
        spent = Counter[str]()
        for key, seconds in self._last.items():
            spent[self._kinds[key]] += seconds - self._first.get(key, 0.0)  # type: ignore[assignment]
        return spent

    @property
    def seconds(self) -> float:
        """Of all processes."""
        return float(sum(self.by_kind.values()))

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_S):
            self._look()

    def _look(self) -> None:
        for process in (self._owner, *self._owner.children(recursive=True)):
            try:
                key, times = (process.pid, process.create_time()), process.cpu_times()
                self._kinds[key] = "this process" if process.pid == os.getpid() else kind_of(process)
            except psutil.NoSuchProcess:
                continue
            self._last[key] = times.user + times.system


def kind_of(process: psutil.Process) -> str:
    """Return what a process is, as its command says."""
    said = " ".join(process.cmdline())
    kinds = {
        "gcs_server": "Ray's gcs_server",
        "raylet/raylet": "Ray's raylet",
        "forking.server": "fork server" if _is_server(process) else "gateway",
        "forking/client": "fork client",
        "headless": "Chromium",
        "chrom": "Chromium",
        "reader_child": "reader",
        "BrowserNode": "browser node",
        "ray::": said.partition("ray::")[2].partition(".")[0].partition(" ")[0],
        "playwright": "Playwright's driver",
        "_tier_site": "the site",
        "watchdog": "watchdog",
        "gateway": "gateway",
        "shoal up": "shoal up",
        "ray": "Ray",
    }
    return next((kind for sign, kind in kinds.items() if sign in said), process.name())


def _is_server(process: psutil.Process) -> bool:
    """Return whether it is the fork server, and no fork of it."""
    parent = process.parent()
    return parent is None or parent.cmdline() != process.cmdline()
