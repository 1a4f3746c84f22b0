"""The spec of a schedule: a job, when it runs, and what a run is held against."""

from __future__ import annotations

from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from shoal.agent.spec import JobSpec
from shoal.agent.spec.part import SpecPart
from shoal.services.schedules.times import Cron, check_cron, interval_s

NAME = r"^[a-z0-9][a-z0-9._-]{0,99}$"
LEAST_S = 60.0
"""Shortest interval: a queue of browsers is no clock."""


def results_scope(schedule: int) -> str:
    """The scope of a key that reads the newest results of the schedule of this number, and nothing else.

    Keys of `results:NAME` were made once. They read nothing: a schedule's name may be a number.
    """
    return f"schedule-results:{schedule}"


class BandsSpec(SpecPart):
    """Bands within which a run may differ from the schedule's last good runs before it counts as degraded."""

    items: float = Field(0.5, ge=0, le=1, description="share of the records that are missing, or are there besides")
    completed: float = Field(0.1, ge=0, le=1, description="points by which the share of completed items falls")
    given: float = Field(0.2, ge=0, le=1, description="points by which the share of records that give a field falls")
    range: float = Field(
        10.0, ge=1, description="a number is out of range above so many times the largest, below that part of the least"
    )
    outside: float = Field(0.0, ge=0, le=1, description="share of a field's numbers that may be out of range")
    constant: bool = Field(True, description="a field that had several values and has one now counts")


class ScheduleSpec(SpecPart):
    """One schedule. Required are `name`, `job`, and one of `cron` and `every`."""

    name: str = Field(pattern=NAME, description="by which it is known; one of this name is replaced")
    job: JobSpec = Field(description="what each run does, as a job that is submitted")
    cron: str | None = Field(
        None, max_length=200, description="minute, hour, day of month, month and day of week, such as `0 7 * * 1-5`"
    )
    time_zone: str = Field("UTC", description="of `cron`: an IANA name, such as Europe/Berlin")
    every: str | None = Field(
        None, pattern=r"^[0-9]{1,6}[smhd]$", description="an interval instead, such as 90m; at least 60s"
    )
    overlap: Literal["skip", "queue", "cancel"] = Field(
        "skip",
        description="where the run before is not over: `skip` this one, `queue` it until then, or `cancel` that one",
    )
    catch_up: Literal["none", "one"] = Field(
        "none", description="of times that passed while no gateway ran: none is made up for, or `one` run is"
    )
    keep: int = Field(100, ge=2, le=10_000, description="runs that are kept; the jobs of older ones are deleted")
    paused: bool = Field(False, description="it does not fire")
    bands: BandsSpec = Field(default_factory=BandsSpec)

    @field_validator("time_zone")
    @classmethod
    def _is_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, OSError, ValueError) as error:  # unknown, a folder, a name that leads elsewhere
            raise ValueError(f"{name!r} is no IANA time zone, such as Europe/Berlin") from error
        return name

    @field_validator("every")
    @classmethod
    def _is_long(cls, every: str | None) -> str | None:
        if every is not None and interval_s(every) < LEAST_S:
            raise ValueError(f"must be at least {LEAST_S:g}s")
        return every

    @model_validator(mode="after")
    def _comes(self) -> ScheduleSpec:
        if (self.cron is None) == (self.every is None):
            raise ValueError("needs either `cron` or `every`")
        if self.cron is not None:
            check_cron(Cron(self.cron, self.time_zone))
        elif self.time_zone != "UTC":
            raise ValueError("`time_zone` goes with `cron`")
        if self.job.idempotency_key is not None:
            raise ValueError("`job.idempotency_key` is given by the schedule, to each run its own")
        return self
