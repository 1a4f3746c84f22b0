"""Routes of sites: what goes on there, and the limits that an operator sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from shoal.agent.support.sites.sites import literal_address, plain_host
from shoal.services.errors import BadInput, NotFound
from shoal.services.store.records import SiteChanges, SiteRow
from shoal.services.store.store import Store
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.base import View
from shoal.services.web.cluster_state.overview import every_snapshot
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute

_HOST = re.compile(r"[\w-]+(\.[\w-]+)*")
_LONGEST_HOST = 253

LONGEST_DELAY_S = 3_600.0
LONGEST_PAUSE_S = 366 * 86_400.0
_ENDLESS_S = 100 * LONGEST_PAUSE_S
"""A pause with more than this left has no end."""


class SiteView(View):
    """A site, over all tenants."""

    host: str
    running: int = Field(description="sessions there now")
    attempts: int = Field(description="attempts that ended in the last five minutes")
    failed: int = Field(description="of those, how many failed")
    pages: int = Field(description="pages that they opened")
    concurrency: int | None = Field(description="sessions at once that an operator has set; null: the general limit")
    delay_s: float | None = Field(description="seconds between session starts that an operator has set")
    paused: bool = Field(description="an operator paused it")
    paused_s: float | None = Field(description="seconds that are left of that pause; null: it has no end")
    slowed_to: float | None = Field(description="sessions at once, since it answered 429 or 503")
    asked_pause_s: float = Field(description="seconds that are left of a pause that the site asked for")
    crawl_delay_s: float = Field(description="what its robots.txt asks for")
    robots: str = Field(description="what became of asking for robots.txt lately; empty: it was not asked for")


class SitePage(View):
    """Sites, the busiest first."""

    sites: list[SiteView]


class SitePatch(BaseModel):
    """Changes to a site; a field that is left out stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    concurrency: int | None = Field(None, ge=1, le=10_000, description="sessions at once, of all jobs and tenants")
    delay_s: float | None = Field(
        None, ge=0, le=LONGEST_DELAY_S, allow_inf_nan=False, description="seconds between session starts"
    )
    paused: bool | None = Field(None, description="true: no session starts there; false: the pause is lifted")
    pause_s: float | None = Field(
        None, gt=0, le=LONGEST_PAUSE_S, allow_inf_nan=False, description="with `paused`: how long; default: no end"
    )


def site_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/sites. Limits hold for all tenants, so they need the scope `admin`."""
    router = APIRouter(prefix="/v1", tags=["cluster"], route_class=LazyRoute)

    @router.get("/sites", response_model=SitePage, summary="List sites that are worked on or limited")
    async def listing(
        caller: Caller = Depends(guard(authenticator, "admin")), limit: int = Query(50, ge=1, le=500)
    ) -> Response:
        """The busiest first. Rates are what the dispatchers that are alive remember."""
        return Response(SitePage(sites=await site_views(deps.store, limit)).json_bytes(), media_type=JSON)

    @router.get("/sites/{host}", response_model=SiteView, summary="Look at a site")
    async def show(host: str, caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """404 where no job ever named it and nothing is set for it."""
        return Response((await site_view(deps.store, host_of_path(host))).json_bytes(), media_type=JSON)

    @router.patch(
        "/sites/{host}",
        response_model=SiteView,
        summary="Change the limits of a site",
        openapi_extra=body_of(SitePatch, "application/json"),
    )
    async def change(request: Request, host: str, caller: Caller = Depends(guard(authenticator, "admin"))) -> Response:
        """Holds for all tenants from the next claim on. Sessions that run go on."""
        require_type(request, JSON_TYPES)
        patch = await body_as(request, SitePatch, deps.options.body_limit)
        return Response((await change_site(request, deps.store, host, patch)).json_bytes(), media_type=JSON)

    return router


async def change_site(request: Request, store: Store, host: str, patch: SitePatch) -> SiteView:
    """Changes a site's limits, and tells the audit log.

    Raises:
        BadInput: it is no host name, or nothing is to be changed.
    """
    name = host_of_path(host)
    changes = _changes(patch)
    await store.sites.change(name, changes)
    note_detail(request, " ".join(f"{field}={value}" for field, value in patch.model_dump(exclude_unset=True).items()))
    return await site_view(store, name)


async def site_view(store: Store, host: str) -> SiteView:
    """One site.

    Raises:
        NotFound: no job ever named it and nothing is set for it.
    """
    row = await store.sites.site(host)
    if row is None:
        raise NotFound(f"no job has named the site {host!r} yet, and nothing is set for it")
    return _view(row, await _rates(store))


async def site_views(store: Store, limit: int) -> list[SiteView]:
    """Sites that are worked on or limited, the busiest first."""
    rates = await _rates(store)
    return [_view(row, rates) for row in await store.sites.busiest(limit)]


def host_of_path(text: str) -> str:
    """The host name that a path or a person gives, as the store has it.

    Raises:
        BadInput: it is none.
    """
    host = plain_host(text)
    if len(host) > _LONGEST_HOST or not (_HOST.fullmatch(host) or literal_address(host)):
        raise BadInput(f"host: {text[:80]!r} is no host name.", errors=[{"field": "host", "reason": "is no host name"}])
    return host


def _changes(patch: SitePatch) -> SiteChanges:
    fields = patch.model_fields_set
    if not fields:
        raise _bad("body", "is empty")
    if "pause_s" in fields and patch.paused is not True:
        raise _bad("pause_s", "needs `paused`: true")
    if "paused" in fields and patch.paused is None:
        raise _bad("paused", "must be true or false")
    named = {"concurrency": "most", "delay_s": "delay_s", "paused": "pause_s"}
    return SiteChanges(
        frozenset(named[field] for field in fields if field in named),
        most=patch.concurrency,
        delay_s=patch.delay_s,
        pause_s=patch.pause_s if patch.paused else 0.0,
    )


def _bad(field: str, reason: str) -> BadInput:
    return BadInput(f"{field} {reason}.", errors=[{"field": field, "reason": reason}])


async def _rates(store: Store) -> Mapping[str, tuple[int, int, int]]:
    """By the site's number, summed over dispatchers that are alive."""
    sums = [Counter[str](), Counter[str](), Counter[str]()]
    for snapshot in (await every_snapshot(store)).values():
        for domain, figures in snapshot.data.get("sites", {}).items() if snapshot.fresh else ():
            for total, figure in zip(sums, figures, strict=False):
                total[domain] += int(figure)
    return {domain: (sums[0][domain], sums[1][domain], sums[2][domain]) for domain in sums[0]}


def _view(row: SiteRow, rates: Mapping[str, tuple[int, int, int]]) -> SiteView:
    attempts, failed, pages = rates.get(str(row.domain), (0, 0, 0))
    endless = row.own_paused_s > _ENDLESS_S
    return SiteView(
        host=row.host,
        running=row.running,
        attempts=attempts,
        failed=failed,
        pages=pages,
        concurrency=row.own_most,
        delay_s=row.own_delay_s,
        paused=row.own_paused_s > 0,
        paused_s=None if endless else round(row.own_paused_s, 1),
        slowed_to=row.most,
        asked_pause_s=round(row.paused_s, 1),
        crawl_delay_s=row.delay_s,
        robots=row.robots,
    )
