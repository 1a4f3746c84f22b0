"""The API's view of a sink of a job that has ended."""

from __future__ import annotations

from pydantic import Field

from shoal.services.store.jobs.sink_records import SinkRow, SinkState
from shoal.services.web.api.views.base import Time, View


class SinkView(View):
    """The progress of writing a job's records to one of its sinks."""

    sink: int = Field(description="its place among the job's `sinks`, from 0")
    kind: str = Field(description="`s3`, `postgres`, `folder`, `sheets` or `http`")
    place: str = Field(description="where it writes to")
    state: SinkState = Field(
        description="`waiting`: for its next attempt, or one is under way; `done`; `failed`: given up, `error` says "
        "why; `skipped`: nothing is written, `error` says why; `unjudged`: until the schedule's run is held against "
        "those before it; `held`: back, since that run is degraded"
    )
    written: int = Field(description="records that were taken")
    attempts: int = Field(description="begun so far")
    due_at: Time = Field(description="when the next attempt begins, while it waits")
    ended_at: Time | None
    error: str = Field(description="why the last attempt failed")

    @classmethod
    def of(cls, row: SinkRow) -> SinkView:
        """The view of `row`."""
        kind, _, place = row.place.partition(": ")
        own = ("state", "written", "attempts", "due_at", "ended_at", "error")
        return cls(sink=row.nth, kind=kind, place=place, **{name: getattr(row, name) for name in own})
