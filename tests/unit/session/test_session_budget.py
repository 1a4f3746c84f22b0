"""The time and tokens that a session may take of its job's, while both change."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from shoal.agent.sessions.session_budget import SessionBudget
from shoal.agent.worker_messages import JobLimits


async def test_a_deadline_that_is_moved_ahead_lets_a_running_session_go_on() -> None:
    budget = SessionBudget(JobLimits(seconds_left=0.05))
    done = asyncio.Event()
    async with budget.running(30):
        budget.change(JobLimits(seconds_left=30))
        asyncio.get_running_loop().call_later(0.1, done.set)
        await done.wait()


async def test_a_deadline_that_is_drawn_nearer_ends_it() -> None:
    budget = SessionBudget(JobLimits())
    with pytest.raises(TimeoutError):
        async with budget.running(30):
            budget.change(JobLimits(seconds_left=0.01))
            await asyncio.Event().wait()


async def test_its_own_limit_holds_whatever_the_deadline_says() -> None:
    budget = SessionBudget(JobLimits(seconds_left=30))
    with pytest.raises(TimeoutError):
        async with budget.running(0.01):
            budget.change(JobLimits(seconds_left=60))
            await asyncio.Event().wait()


async def test_what_is_said_after_its_end_is_too_late() -> None:
    budget = SessionBudget(JobLimits())
    async with budget.running(30):
        pass
    budget.change(JobLimits(seconds_left=0))


async def test_what_the_job_has_spent_is_told_without_what_the_session_spends_itself() -> None:
    budget = SessionBudget(JobLimits(job_tokens=1000, spent=100))
    assert budget.others == 100
    budget.spent = lambda: 300
    limits = JobLimits(job_tokens=500, spent=700)
    budget.change(limits)
    assert (budget.job_tokens, budget.others) == (500, 400)
    budget.change(replace(limits, spent=200))  # as it was known a moment ago
    assert budget.others == 0
