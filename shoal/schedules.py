"""Schedules of a gateway, for Python: put, look, pause, resume, fire, accept, drop, give keys out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Literal

from pydantic import Field

from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.api import Api, rows
from shoal.records import Deviation, Reply

_ALL = 1_000_000


class ScheduleRun(Reply):
    """The outcome of one of a schedule's times, or of several that were missed in a row."""

    at: datetime
    until: datetime
    times: int
    state: str = Field(description="started, queued, skipped, missed or refused")
    why: str
    late_s: float
    job: str | None
    status: Status | None = Field(description="of the job; None: there is none any more")
    records: int | None
    degraded: tuple[Deviation, ...] = Field(description="why it is degraded; empty: it is not, or is not judged yet")
    picture_before: str | None = None
    picture_now: str | None = None


class Schedule(Reply):
    """A schedule as it stands."""

    name: str
    paused: bool
    next: tuple[datetime, ...] = Field(description="its next five times; none while it is paused")
    created_by: str | None
    spec: dict[str, Json]


class ScheduleKey(Reply):
    """A key that reads the newest results of one schedule, and nothing else."""

    id: int
    name: str = Field(description="what it is for")
    created_at: datetime
    expires_at: datetime | None = Field(description="None: never")
    used_at: datetime | None = Field(description="last, to the minute; None: not yet")
    key: str = Field("", repr=False, description="of one that was just made; it is not shown again")


class Schedules:
    """The schedules of an `AsyncClient`: `await client.schedules.put({"name": "prices", "every": "1h", "job": …})`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def put(self, spec: Mapping[str, Json]) -> Schedule:
        """Makes a schedule, or changes the one of its name.

        Raises:
            BadRequest: the spec is not valid; `faults` names each field.
        """
        return Schedule.model_validate(await self._api.put_schedule(spec))

    async def all(self) -> list[Schedule]:
        """All schedules, by name."""
        kept, _ = await rows(self._api.schedules, "schedules", _ALL)
        return [Schedule.model_validate(row) for row in kept]

    async def get(self, name: str) -> Schedule:
        """One schedule."""
        return Schedule.model_validate(await self._api.schedule(name))

    async def runs(self, name: str, limit: int = 30) -> list[ScheduleRun]:
        """Its last runs, the newest first."""
        kept, _ = await rows(partial(self._api.schedule, name, "runs"), "runs", limit)
        return [ScheduleRun.model_validate(row) for row in kept]

    async def latest(self, name: str) -> ScheduleRun:
        """Its newest run that completed and is not degraded.

        Raises:
            NotFound: there is none.
        """
        return ScheduleRun.model_validate(await self._api.schedule(name, "runs/latest"))

    async def command(self, name: str, verb: Literal["pause", "resume", "fire", "accept"]) -> Schedule:
        """Pauses it, resumes it, lets it run now, or takes its newest run as the measure of later ones."""
        return Schedule.model_validate(await self._api.command_schedule(name, verb))

    async def make_key(self, name: str, label: str, *, days: float | None = None) -> ScheduleKey:
        """A key that reads its newest results (`/v1/schedules/NAME/results`) alone; `days`: until it expires.

        Raises:
            Conflict: it has as many keys as it may.
        """
        return ScheduleKey.model_validate(await self._api.make_schedule_key(name, label, days))

    async def keys(self, name: str) -> list[ScheduleKey]:
        """Its keys that were not revoked, without the keys themselves."""
        return [ScheduleKey.model_validate(row) for row in (await self._api.schedule(name, "keys"))["keys"]]

    async def revoke_key(self, name: str, key: int) -> None:
        """Makes a key useless, by its id."""
        await self._api.revoke_schedule_key(name, key)

    async def drop(self, name: str) -> None:
        """Deletes it; its jobs stay, and its keys are revoked."""
        await self._api.drop_schedule(name)
