"""What running sessions are to be told of their jobs' limits, which may change while they run. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from shoal.agent.worker_messages import JobLimits
from shoal.services.dispatch.dispatch_state import Lease
from shoal.services.store.records import JobControl


def limit_changes(
    leases: Iterable[Lease], job_controls: Mapping[int, JobControl], spending: Mapping[int, int]
) -> dict[str, dict[int, JobLimits]]:
    """By worker and job what holds now; nothing of jobs that have no limit and had none when they were claimed.

    Args:
        leases: what workers run.
        standings: how their jobs stand.
        spending: model tokens of each job's running attempts, over all workers.
    """
    limited = {job for job, standing in job_controls.items() if standing.limits.any}
    changes: dict[str, dict[int, JobLimits]] = {}
    for lease in leases:
        work = lease.work
        if (work.job in limited or work.limited) and work.job in job_controls:
            now = job_controls[work.job].limits
            told = changes.setdefault(lease.worker, {})
            if work.job not in told:
                told[work.job] = replace(now, spent=now.spent + spending.get(work.job, 0))
    return changes
