"""Taking single jobs in: checked, counted against the tenant's quota, stored."""

from __future__ import annotations

import time
from dataclasses import replace

from shoal.services import tracing
from shoal.services.errors import ServiceError, TooLarge
from shoal.services.store.records import NewJob, Submitted
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.quota import Quota
from shoal.services.web.specs.specs import SpecChecker


class Submitter:
    """Takes single jobs in, for the API and for the page on which people hand in jobs."""

    def __init__(self, deps: GatewayDeps, checker: SpecChecker, quota: Quota) -> None:
        self._deps = deps
        self._checker = checker
        self._quota = quota

    async def check(self, body: bytes, caller: Caller) -> None:
        """Returns when `body` is a job that `submit` would take now; nothing is stored.

        Raises:
            BadInput: listing each fault as {field, reason}.
            TooLarge: it has more bytes than are taken.
            QuotaExceeded: so much of the tenant's work waits that it would be refused.
        """
        self._fits(body)
        await self._admitted(await self._checker.check(body, caller.tenant), caller)

    async def submit(self, body: bytes, caller: Caller, *, idempotency_key: str | None) -> Submitted:
        """Stores the job that `body` spells out.

        Raises:
            BadInput, TooLarge, QuotaExceeded: as `check`.
            KeyReused: the idempotency key stands for another job.
        """
        began = time.time()
        try:
            self._fits(body)
            job = await self._checker.check(body, caller.tenant, idempotency_key=idempotency_key)
            await self._admitted(job, caller)
            job = replace(job, submitted_by=caller.name or None)
            (done,) = await self._deps.store.submit([job])
        except ServiceError as error:
            self._deps.metrics.submissions_refused.labels(error.code).inc()
            raise
        if done.created:
            self._quota.count_jobs(caller.tenant)
            tracing.record("submit", tracing.job_place(done.job), below=None, began=began, tenant=caller.tenant)
            self._deps.metrics.jobs_submitted.labels("single").inc()
        return done

    def _fits(self, body: bytes) -> None:
        limit = self._deps.options.body_limit
        if len(body) > limit:
            raise TooLarge(f"The job has {len(body)} bytes; at most {limit} are taken (the operator can allow more).")

    async def _admitted(self, job: NewJob, caller: Caller) -> None:
        if not all(await self._quota.admits(caller.tenant, [job])):
            raise self._quota.exceeded(caller.tenant)
