"""Lines that the pages of one loop repeat, told once: menus, delivery tables, footers.

Sessions of a loop look at pages of one template. The lines that its first pages have in common are the loop's frame. It
stands in front of each page, the same bytes for all, so that the model server's prefix cache holds it; a page then
names runs of these lines by their numbers. Nothing is left out: putting the lines back gives the page.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cachetools import FIFOCache, LRUCache

LEAST_LINES = 6
"""Shorter runs are not looked for: a placeholder costs as much as a short line or two."""

EDGE_LINES = 1
"""Lines at each end of a run that stay on the page beside other lines: a label must stay beside its value."""

_LEAST_SAVED = 0.1  # of a page; below that the frame is not worth its tokens
_PLACEHOLDER_CHARS = 16
_LEARNED_FROM = 2  # pages of different items
_MISFITS = 3  # items in a row that a frame is of no use for, until another one is learned
_LOOPS = 64  # that are remembered, the last ones used
_MEMBERS = 512  # items of a loop that are remembered, the last ones begun


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines of the frame in place of lines of a page."""

    first: int  # number of its first line in the frame, from 1
    last: int


Run = str | Fold


@dataclass(frozen=True)
class SharedFrame:
    """Lines that pages have in common, in order."""

    lines: tuple[str, ...]

    @cached_property
    def starts(self) -> dict[tuple[str, ...], int]:
        """Return where each run of `LEAST_LINES` begins."""
        return _windows(self.lines)


def frame_of(pages: Sequence[str]) -> SharedFrame:
    """The runs of lines of the first of `pages` that all others have too."""
    first, *others = (page.split("\n") for page in pages)
    common = [_windows(other).keys() for other in others]
    kept: set[int] = set()
    for window, start in _each_window(first):
        if all(window in windows for windows in common):
            kept.update(range(start, start + LEAST_LINES))
    return SharedFrame(tuple(line for at, line in enumerate(first) if at in kept))


def folded(page: str, frame: SharedFrame) -> tuple[Run, ...]:
    """`page` with placeholders for the runs of lines that `frame` has; all of it in one piece where it has none."""
    lines = page.split("\n")
    runs: list[Run] = []
    at = covered = 0  # lines looked at, lines in `runs`
    while at < len(lines):
        start = frame.starts.get(tuple(lines[at : at + LEAST_LINES]))
        if start is None:
            at += 1
            continue
        length = _common(lines, at, frame.lines, start)
        # What begins or ends the page has no neighbour there that it could belong to.
        before = EDGE_LINES if at else 0
        behind = EDGE_LINES if at + length < len(lines) else 0
        if at:
            runs.append("\n".join(lines[covered : at + before]))
        runs.append(Fold(start + before + 1, start + length - behind))
        at, covered = at + length, at + length - behind
    return (*runs, "\n".join(lines[covered:])) if covered < len(lines) else tuple(runs)


def _common(page: Sequence[str], at: int, frame: Sequence[str], start: int) -> int:
    """Return how many lines from `at` on are those of the frame from `start` on."""
    most = min(len(page) - at, len(frame) - start)
    return next((n for n in range(most) if page[at + n] != frame[start + n]), most)


def _each_window(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    for start in range(len(lines) - LEAST_LINES + 1):
        yield tuple(lines[start : start + LEAST_LINES]), start


def _windows(lines: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Each run of `LEAST_LINES` lines with where it begins first."""
    starts: dict[tuple[str, ...], int] = {}
    for window, start in _each_window(lines):
        starts.setdefault(window, start)
    return starts


# --- what a worker has learned -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Loop:
    """One loop, as far as it is known."""

    pages: list[str] = field(default_factory=list)  # to learn from; empty once there is a frame
    frame: SharedFrame | None = None
    misfits: int = 0
    # The frame that each member began with: its decisions share a prefix, so it keeps it.
    members: FIFOCache[Hashable, SharedFrame | None] = field(default_factory=lambda: FIFOCache(_MEMBERS))


@dataclass(frozen=True, slots=True)
class Framed:
    """A page as it is told: its runs, and the frame that they belong to; none where the page stands for itself."""

    runs: tuple[Run, ...]
    frame: tuple[str, ...] = ()


class Frames:
    """The frames of the last loops that a worker took part in."""

    def __init__(self, loops: int = _LOOPS) -> None:
        self._loops: LRUCache[Hashable, _Loop] = LRUCache(loops)

    def framed(self, loop: Hashable, member: Hashable, page: str) -> Framed:
        """`page` as it is told to a model; the first page of a new `member` of the loop is learned from.

        The second member is the first that is told by a frame, which it was learned from as well.
        """
        known = self._loops.setdefault(loop, _Loop())
        if member in known.members:
            return _framed_page(page, known.members[member])
        if known.frame is None:
            _learn(known, page)
        known.members[member] = known.frame
        framed = _framed_page(page, known.frame)
        if known.frame is not None:
            _judge(known, page, fits=bool(framed.frame))
        return framed


def _learn(loop: _Loop, page: str) -> None:
    loop.pages.append(page)
    if len(loop.pages) == _LEARNED_FROM:
        loop.frame = frame_of(loop.pages)
        loop.pages = []


def _judge(loop: _Loop, page: str, *, fits: bool) -> None:
    """Gives up a frame that was learned from pages that are not like the rest: an error, a notice about cookies."""
    loop.misfits = 0 if fits else loop.misfits + 1
    if loop.misfits == _MISFITS:
        loop.frame, loop.misfits = None, 0
        _learn(loop, page)


def _framed_page(page: str, frame: SharedFrame | None) -> Framed:
    whole = Framed((page,))
    if frame is None or not frame.lines:
        return whole
    runs = folded(page, frame)
    saved = len(page) - sum(len(run) if isinstance(run, str) else _PLACEHOLDER_CHARS for run in runs)
    return Framed(runs, frame.lines) if saved >= _LEAST_SAVED * len(page) else whole
