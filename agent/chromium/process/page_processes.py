"""Keeps the pages of one browser from taking the machine's memory and time from each other."""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from shoal.agent.chromium.process.process_tree import ProcessTree

_OF_PAGES = "--type=renderer"
_BUSY = 0.8
"""Part of a CPU that a page's process uses while it computes without a pause."""
_LOOKS = 2
"""For so many looks in a row it may do that before it stands back."""
_BACK = 10
"""Steps of niceness that it then stands back: it gets a tenth of what each process gets that did not compute so long.
"""


@dataclass(slots=True)
class _Seen:
    """A process of a page at the last look."""

    at: float
    cpu_s: float
    busy: int = 0  # looks in a row
    back: bool = False


@dataclass(frozen=True, slots=True)
class EndedPage:
    """A page that was ended for its memory."""

    at: float
    most_bytes: int  # what it might have held


class PageProcesses:
    """The processes of pages below one browser, from one look to the next."""

    def __init__(self, tree: ProcessTree) -> None:
        self._tree = tree
        self._seen: dict[psutil.Process, _Seen | None] = {}  # None: it is not of a page
        self.last_ended: EndedPage | None = None

    def look(self, most_bytes: int, now: float) -> int:
        """Ends what holds more memory than that, and makes stand back what computes without a pause. May block for
        some milliseconds.

        Args:
            most_bytes: of one process, without what it shares with others.
            now: seconds of a clock that only goes forward.

        Returns:
            How many were ended. Their pages have crashed; the others of the browser notice nothing.
        """
        members = self._tree.members()[1:]
        self._seen = {
            process: self._seen[process] if process in self._seen else _new(process, now) for process in members
        }
        return sum(
            self._ended(process, seen, most_bytes, now) for process, seen in self._seen.items() if seen is not None
        )

    def _ended(self, process: psutil.Process, seen: _Seen, most_bytes: int, now: float) -> bool:
        try:
            memory = process.memory_info()
            if memory.rss - getattr(memory, "shared", 0) > most_bytes:
                self.last_ended = EndedPage(now, most_bytes)  # before the browser can say that the page crashed
                process.kill()
                return True
            _stand_back(process, seen, now)
        except psutil.Error:
            pass  # it is gone
        return False


def _new(process: psutil.Process, now: float) -> _Seen | None:
    try:
        return _Seen(now, _cpu_s(process)) if _OF_PAGES in process.cmdline() else None
    except psutil.Error:
        return None


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _stand_back(process: psutil.Process, seen: _Seen, now: float) -> None:
    cpu_s = _cpu_s(process)
    over_s = now - seen.at
    seen.busy = seen.busy + 1 if over_s > 0 and cpu_s - seen.cpu_s >= _BUSY * over_s else 0
    seen.at, seen.cpu_s = now, cpu_s
    if seen.busy >= _LOOKS and not seen.back:
        process.nice(process.nice() + _BACK)
        seen.back = True  # no process may take that back
