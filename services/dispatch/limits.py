"""What running sessions are to be told of their jobs' limits, which may change while they run. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.work import JobLimits
from services.dispatch.board import Lease
from services.store.records import Standing


def news(
    leases: Iterable[Lease], standings: Mapping[int, Standing], spending: Mapping[int, int]
) -> dict[str, dict[int, JobLimits]]:
    """By worker and job what holds now; nothing of jobs that have no limit and had none when they were claimed.

    Args:
        leases: what workers run.
        standings: how their jobs stand.
        spending: model tokens of each job's running attempts, over all workers.
    """
    found: dict[str, dict[int, JobLimits]] = {}
    for lease in leases:
        job = lease.work.job
        if job in found.get(lease.worker, ()) or (standing := standings.get(job)) is None:
            continue
        now, then = standing.limits, JobLimits.of(lease.work)
        if any(limit is not None for one in (now, then) for limit in (one.seconds_left, one.job_tokens)):
            found.setdefault(lease.worker, {})[job] = replace(now, spent=now.spent + spending.get(job, 0))
    return found
