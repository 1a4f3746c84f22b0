"""The login of a job, as a task of its session."""

from __future__ import annotations

import time
from collections.abc import Sequence

from shoal.agent.errors import AgentError, Canceled, LoginFailed, LoginLost
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import LOG_IN
from shoal.agent.sessions.attempt import Attempt, start_url
from shoal.agent.sessions.login import login_spec
from shoal.agent.sessions.login_steps import take_steps
from shoal.agent.sessions.tasks.navigate_task import do_navigate
from shoal.agent.sessions.tasks.perform import perform
from shoal.agent.spec import LoginStep
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.types import Action, ActionResult, Step, Task


async def log_in(attempt: Attempt) -> None:
    """Fills in and sends the form of the job's login, and opens the page where the job begins.

    Raises:
        LoginFailed: the job's first page still asks for a login.
        FormIncomplete: the page has no such form, or the site did not take it.
    """
    login, spec, sent = attempt.work.spec.login, attempt.state.spec, attempt.sent
    assert login is not None
    attempt.logging_in, attempt.state.spec = True, login_spec(spec)
    try:
        if attempt.page.url != login.url:
            await attempt.page.goto(login.url)
        if login.steps is not None:
            task = await _log_in_by_steps(attempt, login.steps)
        else:
            task, _ = await do_navigate(attempt, Plan(plan=LOG_IN, task_type="navigate"))
    finally:
        attempt.logging_in, attempt.state.spec, attempt.sent = False, spec, sent
    attempt.state.history = (*attempt.state.history, task)
    await attempt.page.goto(attempt.work.spec.url)
    if attempt.asks_for_login:
        raise LoginFailed(f"the login was sent, and {attempt.work.spec.url} still leads to {login.url}: check its data")


async def _log_in_by_steps(attempt: Attempt, steps: Sequence[LoginStep]) -> Task:
    """Does what the job says, one step after the other; the task tells each action and its effect."""
    url, started, at = attempt.page.url, time.monotonic(), utc_now()

    async def act(action: Action) -> ActionResult:
        return await perform(attempt, action, once=False)

    results = await take_steps(attempt.page, steps, act)
    seconds = round(time.monotonic() - started, 4)
    errors = await attempt.evidence.page_errors()
    why = "the job gives the steps of its login"
    step = Step(0, url, why, tuple(results), seconds=seconds, at=at, page_errors=errors)
    return Task("navigate", LOG_IN, Status.COMPLETED, steps=(step,), seconds=seconds)


async def renew_login(attempt: Attempt, error: AgentError | None) -> None:
    """Logs in anew, once for all sessions of this worker that were sent back to the login's page.

    Raises:
        LoginLost: always. What was done on the login's page is no work; another attempt begins logged in.
    """
    if isinstance(error, (Canceled, LoginFailed)) or attempt.work.depth == 0:
        return

    async def log_in_anew() -> Json:
        await log_in(attempt)
        return await attempt.page.storage_state()

    start = start_url(attempt.work)
    await attempt.deps.logins.renew(attempt.work.job, attempt.logged_in_by, log_in_anew)
    raise LoginLost(f"{start} led to the login's page; the login was renewed") from error
