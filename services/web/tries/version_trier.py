"""Running versions of workflows on given pages: for the API, and for the page of a workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.workflow import Workflow, check_workflow
from shoal.services.errors import BadInput
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.problems import faults_of
from shoal.services.web.tries.trial import Listens
from shoal.services.web.tries.trier import Trier
from shoal.services.web.tries.version_trial import VersionTry, prepared, spec_of, trial_view
from shoal.services.web.tries.version_views import VersionTryView


class VersionTrier:
    """Runs versions as jobs run, under the same rules."""

    def __init__(self, trier: Trier) -> None:
        self._trier = trier

    async def attempt(
        self, given: VersionTry, caller: Caller, *, timeout_s: float, listens: Listens
    ) -> VersionTryView | None:
        """Return what the version gives on the pages;
        None where its caller has gone.

        Args:
            caller: has the scope `submit`; the scope `read` is asked for here.
            timeout_s: seconds until the answer comes in any case.
            listens: whether the caller still waits.

        Raises:
            NotAllowed, BadInput, QuotaExceeded, StoreAway.
        """
        answer = await self.pictured_attempt(given, caller, timeout_s=timeout_s, listens=listens, pictured=False)
        return None if answer is None else answer[0]

    async def pictured_attempt(
        self, given: VersionTry, caller: Caller, *, timeout_s: float, listens: Listens, pictured: bool = True
    ) -> tuple[VersionTryView, Sequence[Mapping[str, Json]]] | None:
        """As `attempt`, with pictures of the first pages where it ended, as `pictures_of` tells them."""
        ready = prepared(given)
        try:
            check_workflow(Workflow(name=given.name, scope=given.scope, versions=(ready.version,)))
        except WorkflowInvalid as error:
            raise BadInput(f"this version cannot be run: {error.message}") from None
        try:
            return await self._trier.sample(
                spec_of(given, ready.version),
                caller,
                items=len(given.urls),
                timeout_s=timeout_s,
                listens=listens,
                tell=lambda sampled: (trial_view(given, ready.unchecked, sampled), sampled.pictures),
                pictured=pictured,
            )
        except BadInput as error:
            raise _as_given(error) from None


def _as_given(error: BadInput) -> BadInput:
    """Return what is wrong, with the names of the fields of a try."""
    faults: list[dict[str, str]] = []
    for fault in faults_of(error):
        field = str(fault["field"]).replace("loop.values[", "urls[")
        told_of = {"field": "urls[0]" if field == "url" else field, "reason": str(fault["reason"])}
        if told_of not in faults:
            faults.append(told_of)
    if not faults:
        return error
    return BadInput(f"The try is not valid: {faults[0]['field']}: {faults[0]['reason']}.", errors=faults)
