"""The contents of the pages, made ready for their templates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shoal.agent.status import FINAL, Status
from shoal.agent.support.json_value import Json
from shoal.services.store.read.pace import Pace
from shoal.services.store.records import Counts, JobRow, ResultRow, SessionRow
from shoal.services.store.store import Store
from shoal.services.web.api.jobs import Verb
from shoal.services.web.pages.filters import span
from shoal.services.web.pages.item_rows import ItemColumns, item_columns, item_name

FAILED = (Status.FAILED, Status.TERMINATED, Status.UNSURE)
CODES_READ = 5_000
"""Sessions that are read to find those of one failure code; a page that finds none in them leads on."""
FAILURES_READ = 500
"""Failures that are looked at for the groups; the page says so when there are more."""
PAGES_SHOWN = 4
"""Of each group of failures."""
LEAST_S = 5.0
"""A rate of less time says nothing: one item more or less would double it."""
RESULTS_SHOWN = 15
COLUMNS_SHOWN = 8

_BUTTONS: Mapping[Status, tuple[Verb, ...]] = {
    Status.QUEUED: ("pause", "cancel"),
    Status.RUNNING: ("pause", "cancel"),
    Status.WAITING: ("pause", "cancel"),
    Status.PAUSED: ("resume", "cancel"),
    Status.COMPLETED: ("retry",),
    Status.TERMINATED: ("retry",),
    Status.FAILED: ("retry",),
    Status.UNSURE: ("retry",),
    Status.CANCELED: ("retry",),
}


@dataclass(frozen=True, slots=True)
class JobLook:
    """A job with what can be worked out from it."""

    row: JobRow
    now: datetime
    pace: Pace | None = None  # of late; None: not asked for, or its events are gone

    @property
    def counts(self) -> Counts:
        """Return how its items stand."""
        return self.row.counts

    @property
    def bad(self) -> int:
        """Items that ended without reaching their goal; canceled ones were not given the chance."""
        return self.counts.final - self.counts.completed - self.counts.canceled

    @property
    def failed(self) -> int:
        """Those of them that are tried again when the job is; unsure ones are settled."""
        return self.bad - self.counts.unsure

    @property
    def is_final(self) -> bool:
        """Return whether it is over."""
        return self.row.status in FINAL

    @property
    def seconds(self) -> float | None:
        """From its first session to its end, or to now."""
        if self.row.started_at is None:
            return None
        return max(0.0, ((self.row.finished_at or self.now) - self.row.started_at).total_seconds())

    @property
    def rate(self) -> float | None:
        """Items per second: of a job that is over, of all its time, else of late; None where that cannot be told."""
        if self.is_final:
            return self.counts.final / self.seconds if self.seconds else None
        if self.pace is None or self.row.status is Status.PAUSED or self.pace.seconds < LEAST_S or self.pace.ended <= 0:
            return None
        return self.pace.ended / self.pace.seconds

    @property
    def left_s(self) -> float | None:
        """Until the last item, at the rate of late; None where that cannot be told."""
        return None if self.is_final or not self.rate else (self.counts.expected - self.counts.final) / self.rate

    @property
    def progress(self) -> str:
        """Its rate and the time left in words, or why they cannot be told; "" of a job without several items."""
        if self.counts.expected <= 1:
            return ""
        if self.is_final:
            return f"{per_time(self.rate)} on average" if self.rate else ""
        if self.row.status is Status.PAUSED:
            return "paused: no time left can be told"
        if self.pace is None or self.pace.seconds < LEAST_S or self.pace.ended < 0:
            return "no rate can be told yet"
        over = f"in the last {span(self.pace.seconds)}"
        if self.rate is None or self.left_s is None:
            return f"no item ended {over}: no time left can be told"
        return f"{per_time(self.rate)} {over} · about {span(self.left_s)} left"

    @property
    def buttons(self) -> tuple[Verb, ...]:
        """Return what its owner can do now."""
        if self.row.cancel_requested and not self.is_final:
            return ()
        if self.row.status is Status.COMPLETED and self.counts.completed == self.counts.final:
            return ()
        return _BUTTONS[self.row.status]

    def share(self, part: int) -> float:
        """`part` of the items in percent, for the bar."""
        return round(100 * part / self.counts.expected, 2) if self.counts.expected else 0.0


def look(row: JobRow, now: datetime, pace: Pace | None = None) -> JobLook:
    """`row` as it stands at this moment of the store's clock."""
    return JobLook(row, now, pace)


async def paced(store: Store, row: JobRow) -> JobLook:
    """`row` with how many of its items ended of late, where some are still to come."""
    is_going_on = row.status not in FINAL and row.counts.expected > 1
    return look(row, await store.now(), await store.pace(row.id) if is_going_on else None)


def per_time(per_s: float) -> str:
    """A rate of items in the unit in which it is a number that can be read."""
    for seconds, unit in ((1, "s"), (60, "min")):
        if per_s * seconds >= 1:
            return f"{per_s * seconds:.1f} items/{unit}"
    return f"{per_s * 3600:.1f} items/h"


_ADDRESS = re.compile(r"https?://\S+?(?=[:,;]?(\s|$))")
"""Failures of the same kind differ in the page they happened on; the sample leads there."""


@dataclass(frozen=True, slots=True)
class FailedPage:
    """The page on which a session ended without reaching its goal."""

    session: int
    url: str  # of the page, or the item in words where none was opened


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Sessions that ended for the same reason."""

    code: str
    message: str
    count: int
    status: Status
    pages: tuple[FailedPage, ...]  # some of them


async def failures(store: Store, job: JobRow) -> tuple[list[FailureGroup], bool]:
    """Failures by reason, the most frequent first; and whether there are more than were looked at."""
    if job.counts.final == job.counts.completed + job.counts.canceled:
        return [], False
    rows, after = await store.sessions(job.id, statuses=FAILED, limit=FAILURES_READ)
    groups: dict[tuple[str, str], list[SessionRow]] = {}
    for row in rows:
        groups.setdefault(_reason(row), []).append(row)
    failed = [
        FailureGroup(code, message, len(group), group[0].status, tuple(_page(row) for row in group[:PAGES_SHOWN]))
        for (code, message), group in groups.items()
    ]
    return sorted(failed, key=lambda group: -group.count), after is not None


async def failed_sessions(
    store: Store, job: JobRow, statuses: Sequence[Status], code: str, after: str | None, least: int
) -> tuple[list[SessionRow], str | None]:
    """Sessions of one failure code from a cursor on: `least` or somewhat more, and the cursor of those behind them.

    Fewer come where `CODES_READ` sessions hold no more of them; the cursor leads on from there.
    """
    of_code: list[SessionRow] = []
    for _ in range(CODES_READ // FAILURES_READ):
        rows, after = await store.sessions(job.id, statuses=statuses or FAILED, after=after, limit=FAILURES_READ)
        of_code += [row for row in rows if _reason(row)[0] == code]
        if after is None or len(of_code) >= least:
            break
    return of_code, after


def _page(row: SessionRow) -> FailedPage:
    url = row.outcome.url if row.outcome is not None else ""
    return FailedPage(row.id, url or (item_name(row.item) if row.item is not None else row.domain))


def _reason(row: SessionRow) -> tuple[str, str]:
    if row.outcome is None:
        return str(row.status), ""
    if row.outcome.error is not None:
        return row.outcome.error.code, _ADDRESS.sub("the page", row.outcome.error.message)
    return ", ".join(row.outcome.error_codes) or str(row.status), row.outcome.reason


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The first records as a table."""

    columns: tuple[str, ...]
    hidden: int  # columns that did not fit
    items: ItemColumns
    rows: Sequence[ResultRow]
    more: bool

    def cell(self, row: ResultRow, column: str) -> Json:
        """One field of a record; None where it has none."""
        data = row.record.value if row.record else None
        return data.get(column) if isinstance(data, Mapping) else data if column == "record" else None

    def confirmed(self, row: ResultRow, column: str) -> bool | None:
        """Return whether the value was found again on the page; None where it was not looked for."""
        source = row.record.sources.get(column) if row.record else None
        return source.confirmed if source else None


async def first_results(store: Store, job: JobRow) -> ResultTable:
    """The first lines of a job's results."""
    rows = await store.results(job.id, limit=RESULTS_SHOWN + 1)
    schema = job.spec.extract.record_schema if job.spec.extract else None
    properties = (schema or {}).get("properties")
    columns = dict.fromkeys(properties if isinstance(properties, Mapping) else ())
    for row in rows[:RESULTS_SHOWN]:
        if row.record is not None:
            data = row.record.value
            columns.update(dict.fromkeys(data if isinstance(data, Mapping) else ("record",)))
    names = tuple(columns)
    shown = rows[:RESULTS_SHOWN]
    hidden = max(0, len(names) - COLUMNS_SHOWN)
    items = item_columns(row.item for row in shown)
    return ResultTable(names[:COLUMNS_SHOWN], hidden, items, shown, len(rows) > RESULTS_SHOWN)
