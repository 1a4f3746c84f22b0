"""An owner's changes of a job while it runs: concurrency, deadline, token limit, priority."""

from __future__ import annotations

from shoal.agent.support.json_value import Json
from shoal.services.events import JobEvent
from shoal.services.store.database.transaction import Tx
from shoal.services.store.jobs.control import require_going_on, set_concurrency
from shoal.services.store.jobs.rows import Leased, counts_json, leased, lock_job
from shoal.services.store.records import JobChanges


def change_job(tx: Tx, job: int, changes: JobChanges, tenant: str | None) -> None:
    """Changes a job that runs.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
        WrongState: it is final, or its deadline has passed.
    """
    if "concurrency" in changes.given:
        set_concurrency(tx, job, changes.concurrency, tenant)
    locked = lock_job(tx, job, tenant)
    require_going_on(locked)
    changed: dict[str, Json] = {}
    if "deadline_s" in changes.given:
        locked.deadline_at = None if changes.deadline_s is None else tx.now + changes.deadline_s
        changed["deadline_s"] = changes.deadline_s
    if "job_tokens" in changes.given:
        changed["job_tokens"] = changes.job_tokens
    if "priority" in changes.given:
        changed["priority"] = changes.priority
    if not changed:
        return
    limits = tx.run("limits", id=job).one()
    tx.run(
        "change_limits",
        id=job,
        priority=changes.priority if "priority" in changed else limits.priority,
        token_limit=(changes.job_tokens or 0) if "job_tokens" in changed else limits.token_limit,
    )
    counts = counts_json(locked.counts(leased(tx, [job]).get(job, Leased()).items))
    tx.event(job, locked.tenant, JobEvent.CHANGED, {**changed, "counts": counts})
    locked.save(tx)
