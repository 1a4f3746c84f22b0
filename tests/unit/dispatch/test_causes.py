"""Attempts are counted by their cause: what lies with the installation uses none of a session's up."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from shoal.agent.errors import AgentError, ArtifactsAway, HostUnreachable, NoBrowser, NoRoom
from shoal.agent.fault_table import PAUSE
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome, Task
from shoal.agent.worker_messages import Work
from shoal.services.artifacts.memory import MemoryArtifacts
from shoal.services.dispatch import dispatcher
from shoal.services.dispatch.commit import retry
from shoal.services.errors import ArtifactStoreAway
from shoal.services.store.records import Finish
from tests.cluster_world import World, world
from tests.doubles import FakeBrowser, FakePage
from tests.worker_world import EXTRACT, FakeParts

URL = "http://shop.example/"
WORK = Work(
    session=1,
    fence=5,
    job=1,
    tenant="t",
    attempt=3,
    depth=0,
    spec=JobSpec(url=URL, goal="look", max_attempts=3),
    item=None,
    checkpoint=None,
    children=None,
    seconds_left=None,
)
FAILURES = 12
"""More than any job may ask for attempts."""


def decided(error: AgentError, *, excused: int = 0) -> Finish:
    outcome = Outcome(Status.FAILED, error=error.info(), tasks=(Task("navigate", "look", Status.FAILED),))
    return retry.finish_or_retry(WORK, outcome, max_attempts=10, dice=random.Random(1), excused=excused)


@pytest.mark.parametrize("error", [ArtifactsAway(), NoRoom(), NoBrowser()])
def test_what_lies_with_us_is_tried_again_after_the_last_attempt(error: AgentError) -> None:
    first, later = decided(error), decided(error, excused=200)
    assert (first.outcome.status, first.counts) == (Status.QUEUED, False)
    assert first.outcome.error == error.info() and not first.outcome.tasks
    assert 1.0 <= first.ready_in_s <= 1.5 and 60 <= later.ready_in_s <= 90, "a long outage costs few attempts"


def test_what_lies_with_the_site_is_counted() -> None:
    assert (decided(HostUnreachable()).outcome.status, decided(HostUnreachable()).counts) == (Status.FAILED, True)


class Full(MemoryArtifacts):
    """A store without room for the first few things."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        if self.refused < FAILURES:
            self.refused += 1
            raise ArtifactStoreAway("cannot write: No space left on device")
        await super().put(key, data, content_type)


class FullParts(FakeParts):
    """Parts whose artifact store is full at first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.artifacts = Full()


class Unlaunched(FakeParts):
    """Parts whose browser does not start at first, as on a full disk."""

    failures = 0

    async def _launch(self) -> FakeBrowser:
        if self.failures < FAILURES:
            self.failures += 1
            raise OSError(28, "No space left on device")
        return await super()._launch()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "_HOUSEKEEPING_S", 0.05)
    monkeypatch.setattr(retry, "PAUSE", replace(PAUSE, first_s=0.01, longest_s=0.05))


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("parts", [FullParts, Unlaunched])
async def test_a_full_disk_uses_up_no_attempts(parts: type[FakeParts]) -> None:
    async with world({URL: FakePage(read={"n": 1})}, parts=parts) as w:
        job = await w.submit(extract=EXTRACT, max_attempts=1, artifacts={"screenshots": "all"})
        ended = await w.final(job)
        assert (ended.status, ended.counts.completed) == (Status.COMPLETED, 1), ended.error
        assert await attempts(w, ended.root_session) == 1


async def attempts(w: World, session: int) -> int:
    return (await w.store.session(session)).row.attempt
