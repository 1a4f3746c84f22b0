"""The part of a job spec that says which people are told what becomes of the job."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from shoal.agent.spec.part import SpecPart

NotifyEvent = Literal[
    "job.finished",
    "job.failed",
    "job.degraded",
    "records.changed",
    "session.waiting",
    "session.unsure",
    "sink.failed",
]
_SECRET = "secret:"
_ADDRESS = re.compile(r"[^@\s,<>\"]{1,64}@[^@\s,<>\"]{1,255}\Z")


class NotifySpec(SpecPart):
    """People who are told what becomes of the job, by e-mail or in a chat.

    What happens before a message leaves is one message: of one job, and of all jobs that do the same work again.
    """

    by: Literal["email", "slack", "teams", "discord"] = Field(description="how: by e-mail, or in a channel of a chat")
    to: str = Field(
        min_length=1,
        max_length=2000,
        description="addresses split by commas; of a chat the address of its incoming webhook, or `secret:NAME`, a "
        "stored secret that holds it",
    )
    events: tuple[NotifyEvent, ...] = Field(
        ("job.failed", "job.degraded", "session.waiting", "session.unsure", "sink.failed"),
        min_length=1,
        fail_fast=True,
        description="what is told: that the job ended (`job.finished`), that it or items of it failed, that its run is "
        "unlike those before, that it gave other records than the last good run, that a session waits for a person, "
        "that one ended unsure, that records did not reach a sink",
    )
    every_s: float = Field(
        600.0, ge=0, le=7 * 86_400, description="least seconds between two messages; what happens meanwhile is one"
    )

    @property
    def secret(self) -> str | None:
        """Of a chat: the name of the stored secret that holds its address; None where `to` is that address."""
        return self.to.removeprefix(_SECRET) if self.to.startswith(_SECRET) else None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of `by: email`: who gets a letter."""
        return tuple(address.strip() for address in self.to.split(",") if address.strip())

    @property
    def bad_address(self) -> str | None:
        """Of `by: email`: the first that is no address; None when there is none."""
        return next((address for address in self.addresses or (self.to,) if not _ADDRESS.match(address)), None)
