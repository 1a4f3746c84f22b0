"""One job without a gateway: a cluster on this machine that lives as long as the job.

Ray, the store and the gateway are imported when a cluster is started: their import takes seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from shoal.agent.support.json_value import Json
from shoal.api import Api
from shoal.bodies import spec_json
from shoal.client import AsyncClient
from shoal.connect import find_gateway
from shoal.errors import BadRequest, JobFailed, ShoalError
from shoal.records import Job, Result
from shoal.services import logs
from shoal.services.errors import BadInput
from shoal.services.settings import Settings, load_settings

if TYPE_CHECKING:
    from shoal.agent.spec import JobSpec
    from shoal.services.cluster.embedded import Cluster
    from shoal.services.web.specs.specs import SpecChecker

Tell = Callable[[str], None]

_OWN_BODY_KIB = 256 * 1024
"""KiB of a request that a cluster for one job takes from the program that started it: some million addresses."""
_CANCEL_S = 10.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a job."""

    job: Job  # as it ended
    results: tuple[Result, ...]  # its result lines, in item order

    @property
    def records(self) -> list[Json]:
        """The extracted records, in item order, without the items that gave none."""
        return [result.record for result in self.results if result.record is not None]

    @property
    def answer(self) -> str:
        """Return what the goal asked for, in words; "" where it asked for nothing."""
        return self.job.answer


def run(spec: JobSpec | Mapping[str, Json], *, tell: Tell | None = None, **settings: object) -> RunResult:
    """Runs one job to its end and gives its results.

    The job runs on the gateway of SHOAL_URL or SHOAL_GATEWAY or of the cluster that runs on this machine; where there
    is none, on a cluster that is started on this machine for the job and ended after it. Call it on the main thread; in
    a running event loop (a notebook) use `await run_async(…)`.

    Args:
        spec: a `JobSpec`, or the same as a mapping.
        tell: is called with each stage of the cluster's start, such as "starting Ray".
        settings: settings by their name in small letters without `SHOAL_`, such as `allow_private=True`; they go before
            the environment and hold for a cluster that is started here.

    Raises:
        BadRequest: the spec is not valid; `faults` names each field.
        JobFailed: the job ended without reaching its goal, or no item of its loop completed; `job` and `results` of the
            error say what there is.
        BadSetting, ClusterFailed, BrowserNotFound: no cluster can be started here (`services.errors`,
            `agent.errors`).
        GatewayUnreachable, ApiError: the gateway cannot be asked, or refuses.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run_async(spec, tell=tell, **settings))
    raise ShoalError("an event loop runs in this thread: use `await shoal.run_async(…)`")


async def run_async(spec: JobSpec | Mapping[str, Json], *, tell: Tell | None = None, **settings: object) -> RunResult:
    """The same as `run`, for asyncio. A task that is canceled cancels its job.

    Raises:
        As `run`.
    """
    chosen = load_settings(**settings)
    logs.set_up_as_library()
    if url := find_gateway(chosen):
        async with AsyncClient.over(Api(url, chosen.api_key.get_secret_value())) as client:
            return await _run_on(client, spec)
    try:  # a cluster takes seconds to start: too long for a wrong field
        await spec_checker(chosen).check(spec_json(spec), "default")
    except BadInput as error:
        problem = {"code": error.code, "detail": error.message, "errors": error.details.get("errors", [])}
        raise BadRequest(400, problem) from error
    async with own_gateway(chosen, tell or (lambda stage: None)) as api:
        return await _run_on(AsyncClient.over(api), spec)


async def _run_on(client: AsyncClient, spec: JobSpec | Mapping[str, Json]) -> RunResult:
    submitted = await client.submit(spec)
    try:
        job = await client.wait(submitted.id)
    except asyncio.CancelledError as canceled:
        try:
            await asyncio.wait_for(client.cancel(submitted.id), _CANCEL_S)
        except (ShoalError, TimeoutError) as error:
            canceled.add_note(f"{submitted.id} could not be canceled: {error}")
        raise
    results = tuple([result async for result in client.results(submitted.id, follow=False)])
    if not job.succeeded:
        raise JobFailed(job, results)
    return RunResult(job, results)


@asynccontextmanager
async def own_gateway(settings: Settings, tell: Tell) -> AsyncIterator[Api]:
    """The API of a cluster that is started here, on a free port, and ends with the context.

    Files of the current folder may be uploaded, and a list of loop values may be as long as it is: they are those of
    the user who started the cluster.
    """
    own = settings.model_copy(
        update={
            "host": "127.0.0.1",
            "port": 0,
            "upload_dirs": (*settings.upload_dirs, Path.cwd()),
            "body_limit_kib": max(settings.body_limit_kib, _OWN_BODY_KIB),
        }
    )
    async with (
        embedded_cluster(own, tell) as cluster,
        Api(cluster.url, settings.api_key.get_secret_value()) as api,
    ):
        yield api


def embedded_cluster(settings: Settings, tell: Tell) -> AbstractAsyncContextManager[Cluster]:
    """See `shoal.services.cluster.embedded.embedded_cluster`."""
    module = import_module("shoal.services.cluster.embedded")
    return cast("AbstractAsyncContextManager[Cluster]", module.embedded_cluster(settings, tell=tell))


def spec_checker(settings: Settings) -> SpecChecker:
    """The check that the gateway of an embedded cluster with these settings makes of each job."""
    rules = replace(
        import_module("shoal.services.cluster.gateway_options").spec_rules(settings), people=True
    )  # its dashboard asks
    names = import_module("shoal.services.names").HostNames()

    async def has_model() -> bool:
        return bool(settings.model_url)

    checker = import_module("shoal.services.web.specs.specs").SpecChecker
    return cast("SpecChecker", checker(rules, names, has_model=has_model))
