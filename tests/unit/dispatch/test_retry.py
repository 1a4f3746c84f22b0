"""Retry or end of a failed attempt."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from shoal.agent.errors import AgentError, HostUnreachable, PageMissing, ServerBusy
from shoal.agent.fault_table import PAUSE
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.dispatch.commit.retry import finish_or_retry
from shoal.services.store.records import Finish

WORK = Work(
    session=1,
    fence=5,
    job=1,
    tenant="t",
    attempt=1,
    depth=0,
    spec=JobSpec(url="http://a.example/", goal="look"),
    item=None,
    checkpoint=None,
    children=None,
    seconds_left=None,
)


def decided(error: AgentError, *, attempt: int = 1, retry_after_s: float | None = None) -> Finish:
    outcome = Outcome(Status.FAILED, error=error.info(), retry_after_s=retry_after_s)
    return finish_or_retry(replace(WORK, attempt=attempt), outcome, max_attempts=10, dice=random.Random(1))


def test_what_passes_by_itself_is_tried_again_after_a_growing_pause() -> None:
    first, second = decided(HostUnreachable()), decided(HostUnreachable(), attempt=2)

    assert first.outcome.status is second.outcome.status is Status.QUEUED
    assert 1.0 <= first.ready_in_s <= 1.5
    assert 2.0 <= second.ready_in_s <= 3.0


@pytest.mark.parametrize("error", [PageMissing(), AgentError()])
def test_what_gives_the_same_answer_again_is_final(error: AgentError) -> None:
    assert decided(error).outcome.status is Status.FAILED


def test_the_last_attempt_is_final() -> None:
    assert decided(HostUnreachable(), attempt=2).outcome.status is Status.QUEUED
    assert decided(HostUnreachable(), attempt=3).outcome.status is Status.FAILED


def test_the_site_s_own_wish_is_the_least_pause_within_reason() -> None:
    assert decided(ServerBusy(), retry_after_s=120).ready_in_s == 120
    assert decided(ServerBusy(), retry_after_s=1e9).ready_in_s == PAUSE.longest_retry_after_s


def test_success_is_written_as_it_is() -> None:
    outcome = Outcome(Status.COMPLETED)
    assert finish_or_retry(WORK, outcome, max_attempts=10, dice=random.Random(1)) == Finish(1, 5, outcome)
