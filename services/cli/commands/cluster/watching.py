"""All jobs of a cluster as they go, for the person who runs `shoal up`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import structlog
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from shoal import records
from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.services import logs
from shoal.services.cli.commands.job.following import missing_lines, standing, took_s
from shoal.services.cli.ending import tell
from shoal.services.cli.pace import JobProgress, Throughput, sentence
from shoal.services.cli.progress import LINE_EVERY_S
from shoal.services.errors import ArtifactStoreAway, NotFound, StoreAway, StoreBroken
from shoal.services.events import LogEvent
from shoal.services.store import ids
from shoal.services.store.records import Counts, JobFilter, JobRow
from shoal.services.web.api.views.jobs import JobSummary

if TYPE_CHECKING:
    from shoal.services.store.store import Store

log = structlog.get_logger(__name__)


Check = Callable[[], Awaitable[None]]

LOOK_EVERY_S = 1.0
CHECK_EVERY_S = 5.0
"""Seconds between two tests that the stores can be written."""
_READ = 100
"""Open jobs that are looked at; the newest. Of a longer backlog those that are pushed out of view are forgotten."""
_SHOWN = 10
"""Open jobs with a line of their own."""
_TITLE_CHARS = 32
_OPEN = tuple(status for status in Status if status not in FINAL)


@dataclass(frozen=True, slots=True)
class JobsLook:
    """The jobs at one moment."""

    open: Sequence[tuple[JobRow, JobProgress]]  # newest first
    ended: Sequence[JobRow]  # since the last look, in the order of their submission
    total: JobProgress  # the items of the open ones, at the rate of all that became final


class ShowJobs(Protocol):
    """Something that shows a look."""

    def __call__(self, look: JobsLook) -> None: ...


async def watch(store: Store, show: ShowJobs, *checks: Check) -> None:
    """Shows the jobs each second, and tells what the `checks` find wrong, until it is canceled.

    Raises:
        StoreBroken: the database is damaged or gone.
    """
    watcher = Watcher(store)
    heeding = [asyncio.create_task(heed(check), name="heed") for check in (store.check, *checks)]
    try:
        while True:
            try:
                show(await watcher.look(time.monotonic()))
            except StoreAway:
                pass  # it is told by `heed`
            except Exception:  # the top of a loop: the cluster must not end for it
                log.exception(LogEvent.LOOP_FAILED, loop="progress")
            ended, _ = await asyncio.wait(heeding, timeout=LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
    finally:
        for task in heeding:
            task.cancel()
        await asyncio.wait(heeding)


async def heed(check: Check, say: Callable[[str], None] = tell) -> None:
    """Says what a check finds wrong, and when it is well again; once each.

    Raises:
        StoreBroken: the check found it broken twice, one after the other.
    """
    last_message, broken = "", False
    while True:
        try:
            await check()
            if last_message:
                say("that is mended: sessions go on")
            last_message, broken = "", False
        except (StoreAway, ArtifactStoreAway) as error:
            if broken and isinstance(error, StoreBroken):
                raise
            broken = isinstance(error, StoreBroken)
            if error.message != last_message:
                say(error.message)
            last_message = error.message
        await asyncio.sleep(CHECK_EVERY_S)


@dataclass(slots=True)
class Watcher:
    """Looks at the jobs of a store again and again."""

    store: Store
    _paces: dict[int, Throughput] = field(default_factory=dict)
    _total: Throughput = field(default_factory=Throughput)
    _over: Counts = Counts()  # of the jobs that ended since the beginning
    _newest: int | None = None  # the newest job of the last look

    async def look(self, at_s: float) -> JobsLook:
        """Return how the jobs stand at `at_s` of a steady clock."""
        rows = await self.store.jobs(JobFilter(statuses=_OPEN, limit=_READ))
        if len(rows) == _READ:
            self._paces = {job: pace for job, pace in self._paces.items() if job >= rows[-1].id}
        ended = await self._ended({row.id for row in rows})
        for row in ended:
            self._paces.pop(row.id, None)
            self._over = _sum(self._over, row.counts)
        over, counts = {row.id for row in ended}, Counts(expected=0)
        open_: list[tuple[JobRow, JobProgress]] = []
        for row in (row for row in rows if row.id not in over):  # one may have ended between the two readings
            pace = self._paces.setdefault(row.id, Throughput())
            open_.append((row, pace.note(_counts_record(row.counts), at_s)))
            counts = _sum(counts, row.counts)
        # Over their ends: else it would begin anew.
        overall = self._total.note(_counts_record(_sum(counts, self._over)), at_s)
        done, unsure = counts.completed, counts.unsure
        ends = {"done": done, "failed": counts.final - done - unsure, "unsure": unsure}
        return JobsLook(open_, ended, replace(overall, expected=counts.expected, **ends))

    async def _ended(self, still: set[int]) -> list[JobRow]:
        """Jobs that ended since the last look: those that were open then, and those that came and went since."""
        came = await self._came()
        ended = {row.id: row for row in came if row.status in FINAL}
        for job in self._paces.keys() - still - ended.keys():
            try:
                row = await self.store.job(job)
            except NotFound:  # deleted
                del self._paces[job]
                continue
            if row.status in FINAL:
                ended[job] = row
        return [ended[job] for job in sorted(ended)]

    async def _came(self) -> list[JobRow]:
        """Jobs that were submitted since the last look; at first none."""
        before = self._newest
        newest = await self.store.jobs(JobFilter(limit=1))  # mostly nothing has changed, and this is cheap
        self._newest = max((before or 0, *(row.id for row in newest)))
        if before is None or self._newest <= before:
            return []
        return [row for row in await self.store.jobs(JobFilter(limit=_READ)) if row.id > before]


def _sum(counts: Counts, other: Counts) -> Counts:
    second = asdict(other)
    return Counts(**{name: value + second[name] for name, value in asdict(counts).items()})


def _counts_record(counts: Counts) -> records.Counts:
    return records.Counts.model_validate(asdict(counts))


@contextmanager
def jobs_display(*, as_json: bool = False) -> Iterator[ShowJobs]:
    """Yield what shows looks in the way that fits this standard error; on a terminal, log lines go above the bars."""
    if as_json:
        yield _json_lines
    elif sys.stderr.isatty():
        with Bars.on(Console(stderr=True)) as bars, logs.through_stderr():
            yield bars
    else:
        yield JobLines()


def ended_lines(row: JobRow) -> list[str]:
    """Return how a job ended, in a line or two."""
    job = records.JobSummary.model_validate(JobSummary.of(row).model_dump(by_alias=True))
    return [standing(job, took_s(job)), *missing_lines(job)]


def _as_told(row: JobRow) -> Mapping[str, Json]:
    """Return what the event and the webhook of this name tell too."""
    error = row.error and {"code": row.error.code, "message": row.error.message}
    counts = {**asdict(row.counts), "final": row.counts.final}
    return {
        **{"job": ids.job_id(row.id), "status": str(row.status), "labels": row.spec.labels},
        **{"counts": counts, "usage": asdict(row.usage), "error": error},
        "incomplete": row.incomplete and asdict(row.incomplete),
    }


def _json_lines(look: JobsLook) -> None:
    for row in look.ended:
        tell(json.dumps({"event": "job.finished", **_as_told(row)}, ensure_ascii=False))


class JobLines:
    """A line every few seconds while something moves, and one at each job's end."""

    def __init__(self) -> None:
        self._last_s = float("-inf")
        self._last_text = ""

    def __call__(self, look: JobsLook) -> None:
        for row in look.ended:
            for line in ended_lines(row):
                tell(line)
        now_s, text = time.monotonic(), _overall(look)
        if look.open and text != self._last_text and now_s - self._last_s >= LINE_EVERY_S:
            tell(text)
            self._last_s, self._last_text = now_s, text


def _overall(look: JobsLook) -> str:
    jobs = "1 job" if len(look.open) == 1 else f"{len(look.open):,}{'+' if len(look.open) == _READ else ''} jobs"
    return f"{jobs} open: {sentence(look.total)}"


class Bars:
    """A bar for each open job, and one for all."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[int, TaskID] = {}
        self._all: TaskID | None = None

    @classmethod
    @contextmanager
    def on(cls, console: Console) -> Iterator[Bars]:
        """Bars at the end of a terminal. Drawn when something changed, so an idle cluster costs nothing."""
        columns = (TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[text]}"))
        with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
            yield cls(progress)

    def __call__(self, look: JobsLook) -> None:
        for row in look.ended:
            for line in ended_lines(row):
                self._progress.console.print(line, markup=False, highlight=False)
        self._draw_all(look)
        shown = {row.id: (row, progress) for row, progress in look.open[:_SHOWN]}
        for job in self._tasks.keys() - shown.keys():
            self._progress.remove_task(self._tasks.pop(job))
        for job, (row, progress) in reversed(shown.items()):
            if job not in self._tasks:
                self._tasks[job] = self._progress.add_task(_title(row), text="")
            self._update(self._tasks[job], progress, sentence(progress))
        self._progress.refresh()

    def _draw_all(self, look: JobsLook) -> None:
        if len(look.open) < 2:
            if self._all is not None:
                self._progress.remove_task(self._all)
                self._all = None
            return
        if self._all is None:
            self._all = self._progress.add_task("all jobs", text="")
        self._update(self._all, look.total, _overall(look))

    def _update(self, task: TaskID, standing: JobProgress, text: str) -> None:
        self._progress.update(task, total=max(standing.expected, 1), completed=standing.final, text=text)


def _title(row: JobRow) -> str:
    what = row.spec.title
    short = what if len(what) <= _TITLE_CHARS else what[: _TITLE_CHARS - 1] + "…"
    return f"{ids.job_id(row.id)} {short}".replace("[", "\\[")
