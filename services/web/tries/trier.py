"""Trying a job: for the API, and for the page on which people hand in jobs."""

from __future__ import annotations

from collections.abc import Callable

from shoal.services.errors import ServiceError
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.auth import require_scope
from shoal.services.web.http.quota import Quota
from shoal.services.web.specs.specs import SpecChecker
from shoal.services.web.tries.report import Sampled, report
from shoal.services.web.tries.trial import Listens, V, run_try, sample_of
from shoal.services.web.tries.views import TryView


class Trier:
    """Runs samples of jobs, under the same rules as jobs."""

    def __init__(self, deps: GatewayDeps, checker: SpecChecker, quota: Quota) -> None:
        self._deps = deps
        self._checker = checker
        self._quota = quota

    async def attempt(
        self, body: bytes, caller: Caller, *, items: int, timeout_s: float, listens: Listens
    ) -> TryView | None:
        """Return what a sample of the job that `body` spells out gave;
        None where its caller has gone.

        Args:
            caller: has the scope `submit`; the scope `read` is asked for here.
            items: of each loop that are opened.
            timeout_s: seconds until the answer comes in any case.
            listens: whether the caller still waits.

        Raises:
            NotAllowed, BadInput, QuotaExceeded, StoreAway.
        """
        return await self.sample(body, caller, items=items, timeout_s=timeout_s, listens=listens, tell=report)

    async def sample(
        self,
        body: bytes,
        caller: Caller,
        *,
        items: int,
        timeout_s: float,
        listens: Listens,
        tell: Callable[[Sampled], V],
        pictured: bool = False,
    ) -> V | None:
        """As `attempt`, with what `tell` makes of the sample.

        Args:
            pictured: it has pictures of its pages, with what can be pointed at.
        """
        require_scope(caller, "read")
        try:
            checked = await self._checker.check(body, caller.tenant)
            job = sample_of(checked, items=items, timeout_s=timeout_s, pictured=pictured)
            if not all(await self._quota.admits(caller.tenant, [job])):
                raise self._quota.exceeded(caller.tenant)
        except ServiceError as error:
            self._deps.metrics.submissions_refused.labels(error.code).inc()
            raise
        self._quota.count_jobs(caller.tenant)
        self._deps.metrics.jobs_submitted.labels("try").inc()
        return await run_try(self._deps, job, timeout_s=timeout_s, listens=listens, tell=tell)
