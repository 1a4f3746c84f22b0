"""The API's views of schedules and their runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.redaction.masking import masked_spec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.schedules.firing import RunState, times_of
from shoal.services.schedules.times import next_times
from shoal.services.store import ids
from shoal.services.store.read.reading import when
from shoal.services.store.records import ApiKey
from shoal.services.store.schedules.records import RunRow, ScheduleRow
from shoal.services.web.api.views.base import JobId, Time, View

NEXT_SHOWN = 5


class DeviationView(View):
    """One way in which a run differs from those before it by more than its band."""

    kind: Literal["items", "completed", "given", "range", "constant"] = Field(description="the band that it is beyond")
    field: str = Field(description="path of the record's field; empty: the run as a whole")
    text: str = Field(description="what it was, and what was usual")


class ScheduleRunView(View):
    """The outcome of one of a schedule's times, or of several that were missed in a row."""

    at: Time = Field(description="the time, or the first of them")
    until: Time = Field(description="the last of them")
    times: int = Field(description="how many they are")
    state: RunState = Field(description="started, queued, skipped, missed or refused")
    why: str = Field(description="why it was not started; empty where it was")
    fired_at: Time
    late_s: float = Field(description="seconds from its time to its firing")
    job: JobId | None
    status: Status | None = Field(description="of the job; null: there is none any more")
    records: int | None = Field(description="of a run that completed, once it was held against those before it")
    degraded: list[DeviationView] = Field(description="why it is degraded; empty: it is not, or is not judged yet")
    picture_before: str | None = Field(description="artifact id of the page in an earlier run, of a degraded run")
    picture_now: str | None = Field(description="artifact id of the page in this run")

    @classmethod
    def of(cls, row: RunRow) -> ScheduleRunView:
        """The view of `row`."""
        verdict = row.verdict
        return cls(
            at=row.at,
            until=row.until,
            times=row.times,
            state=row.state,
            why=row.why,
            fired_at=row.fired_at,
            late_s=round(row.late_s, 3),
            job=None if row.job is None else ids.job_id(row.job),
            status=row.status,
            records=row.figures.records if row.figures is not None else None,
            degraded=[DeviationView.model_validate(reason) for reason in verdict.reasons] if verdict else [],
            picture_before=verdict.before if verdict else None,
            picture_now=verdict.now if verdict else None,
        )


class ScheduleRunPage(View):
    """Some runs of a schedule."""

    runs: list[ScheduleRunView] = Field(description="the newest first")
    next: str | None = Field(description="pass it as `cursor` for earlier ones; null: these were the last")


class ScheduleView(View):
    """One schedule of the caller's tenant."""

    name: str
    tenant: str
    paused: bool
    next: list[Time] = Field(description="its next five times; none while it is paused")
    created_by: str | None
    created_at: Time
    changed_at: Time
    spec: dict[str, Json] = Field(description="as it was put, without what is secret in its job")

    @classmethod
    def of(cls, row: ScheduleRow) -> ScheduleView:
        """The view of `row`."""
        spec = row.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return cls(
            name=row.spec.name,
            tenant=row.tenant,
            paused=row.due_at is None,
            next=[when(time) for time in upcoming(row)],
            created_by=row.created_by,
            created_at=row.created_at,
            changed_at=row.changed_at,
            spec={**spec, "job": masked_spec(row.spec.job)},
        )


class SchedulePage(View):
    """Some schedules of the caller's tenant."""

    schedules: list[ScheduleView]
    next: str | None = Field(description="pass it as `cursor` for the next page; null: this was the last")


class ScheduleKeyView(View):
    """A key that reads the newest results of one schedule, without the key."""

    id: int
    name: str = Field(description="what it is for")
    created_at: Time
    expires_at: Time | None = Field(description="null: never")
    used_at: Time | None = Field(description="last, to the minute; null: not yet")

    @classmethod
    def of(cls, row: ApiKey) -> ScheduleKeyView:
        """The view of `row`."""
        return cls(**{name: getattr(row, name) for name in ScheduleKeyView.model_fields})


class NewScheduleKeyView(ScheduleKeyView):
    """A key that was made, with itself: it is not shown again."""

    key: str = Field(description="send it as `Authorization: Bearer …`")


class ScheduleKeyPage(View):
    """The keys of a schedule."""

    keys: list[ScheduleKeyView]


def upcoming(row: ScheduleRow) -> list[float]:
    """The next times of a schedule, in seconds since the epoch; none while it is paused."""
    if row.due_at is None:
        return []
    due_at = row.due_at.timestamp()
    return [due_at, *next_times(times_of(row.spec, row.start), due_at, NEXT_SHOWN - 1)]
