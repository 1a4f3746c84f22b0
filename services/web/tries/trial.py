"""One try: a sample of a job is stored, runs as any job does, is told, and is deleted with all that it gave."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal, TypeVar

from shoal.agent.spec import ArtifactsSpec
from shoal.agent.status import FINAL
from shoal.services.errors import NotFound, WrongState
from shoal.services.store.records import JobRow, NewJob
from shoal.services.store.store import Store
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.results.dropping import drop_small
from shoal.services.web.tries.report import Sampled
from shoal.services.web.tries.try_pictures import pictures_of

_LOOK_S = 2.0
"""A try looks that often though nothing woke it: at its job, and at whether its caller still listens."""
_ATTEMPTS = 2
"""Of one session: the second is for what passes, such as a login that ran out."""
_ENDING_S = 10.0
"""Seconds that sessions may take to end that are told to: then the job is left to its own deadline."""
_PRIORITY = 20
"""A person waits for it: four times the share of the tenant's other jobs."""
_MOST_SESSIONS = 200
"""Of a sample of nested loops."""

V = TypeVar("V")
Listens = Callable[[], Awaitable[bool]]
"""A test that the caller still waits for the answer."""


def sample_of(job: NewJob, *, items: int, timeout_s: float, pictured: bool = False) -> NewJob:
    """The job of a try: few items, no evidence, no message to anybody, and an end of its own.

    Its retention is for the case that the gateway dies before it has deleted the job.

    Args:
        pictured: pages come with a picture to choose on, unless the job wants no pictures.
    """
    spec = job.spec
    deadline_s = timeout_s if spec.deadline_s is None else min(timeout_s, spec.deadline_s)
    shots: Literal["errors", "none"] = "errors" if pictured and spec.artifacts.screenshots != "none" else "none"
    changes = {
        "sample": items,
        "artifacts": ArtifactsSpec(screenshots=shots, retention_days=1),
        "deadline_s": deadline_s,
        "max_attempts": min(_ATTEMPTS, spec.max_attempts),
        "priority": min(100, spec.priority + _PRIORITY),
        "webhook": None,
        "idempotency_key": None,
    }
    return replace(job, spec=spec.model_copy(update=changes))


async def run_try(
    deps: GatewayDeps, job: NewJob, *, timeout_s: float, listens: Listens, tell: Callable[[Sampled], V]
) -> V | None:
    """The answer to a try; None where its caller has gone. The job is deleted, whatever happens to the request.

    Args:
        tell: makes the answer of what there is when the sample or its time is over.

    Raises:
        StoreAway: the store cannot be asked.
    """
    began = time.monotonic()
    (submitted,) = await deps.store.submit([job])
    try:
        heard = await _wait(deps.store, submitted.job, began + timeout_s, listens)
        return tell(await _sampled(deps, submitted.job, began)) if heard else None
    finally:
        # Shielded: a request that is canceled must not leave its job to run and to be kept.
        await asyncio.shield(_delete(deps, submitted.job))


async def _wait(store: Store, job: int, until: float, listens: Listens) -> bool:
    """Returns when the job is final or its time is over; False as soon as the caller has gone."""
    seen = await store.changed(0.0)
    while (await store.job(job)).status not in FINAL and time.monotonic() < until:
        if not await listens():
            return False
        seen = await store.changed(min(_LOOK_S, max(0.0, until - time.monotonic())), since=seen)
    return True


async def _sampled(deps: GatewayDeps, job: int, began: float) -> Sampled:
    store = deps.store
    row = await store.job(job)
    sessions, _ = await store.sessions(job, limit=_MOST_SESSIONS)
    ordered = sorted(sessions, key=lambda session: session.id != row.root_session)
    details = [await store.session(session.id) for session in ordered]
    pictures = await pictures_of(deps.artifacts, details)
    return Sampled(row, details, time.monotonic() - began, pictures)


async def _delete(deps: GatewayDeps, job: int) -> None:
    """Deletes the job of a try; one that does not end in time is left to its deadline and its retention."""
    try:
        row = await deps.store.job(job)
        if row.status not in FINAL:
            row = await _ended(deps.store, job)
        if row.status in FINAL:
            await deps.store.delete(job)
            await drop_small(deps.store, deps.artifacts, job)
    except (NotFound, WrongState):  # its owner deleted it meanwhile, or a session has just begun again
        return


async def _ended(store: Store, job: int) -> JobRow:
    """Cancels the job and waits until its sessions have ended."""
    row = await store.cancel(job)
    until = time.monotonic() + _ENDING_S
    while row.status not in FINAL and time.monotonic() < until:
        await store.changed(1.0)
        row = await store.job(job)
    return row
