"""Routes of stored secrets: their names and sites, setting and removing them. No answer has a value."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from shoal.services.errors import NotAllowed, WrongState
from shoal.services.secrets.folder import FolderState, SecretFolder, StoredSecret
from shoal.services.web.api.changes import body_as, body_of
from shoal.services.web.api.jobs import JSON
from shoal.services.web.api.views.base import Time, View
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.auth import Authenticator, guard
from shoal.services.web.http.body import JSON_TYPES, require_type
from shoal.services.web.http.lazy_route import LazyRoute

WARNING = "Shoal-Warning"
"""The header of an answer to a change that was made, and that should be looked at again."""


class StoredSecretView(View):
    """A stored secret, without its value."""

    tenant: str
    name: str = Field(description="jobs write `secret:NAME`")
    domains: list[str] = Field(description="the sites where it may be filled in")
    fault: str = Field(description="why it is refused everywhere; empty where it is not")
    weak: str = Field(description="why it is not always hidden where a page shows it; empty where it is")
    changed_at: Time


class SecretPage(View):
    """Secrets by tenant and name."""

    secrets: list[StoredSecretView]
    folder: FolderState = Field(description="whether this gateway can change them")


class SecretBody(BaseModel):
    """A secret's value, and the sites where it may be filled in."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    value: SecretStr
    domains: list[str] = Field(min_length=1, description="host names, as in NAME.domains")


def secret_routes(deps: GatewayDeps, authenticator: Authenticator) -> APIRouter:
    """The routes under /v1/secrets."""
    router = APIRouter(prefix="/v1", tags=["secrets"], route_class=LazyRoute)
    keeper = SecretKeeper(deps.options.secrets_dir)

    @router.get("/secrets", response_model=SecretPage, summary="List stored secrets, without their values")
    async def listing(caller: Caller = Depends(guard(authenticator, "submit"))) -> Response:
        """Those of the caller's tenant; an admin's are those of all tenants."""
        return Response((await keeper.page(caller)).json_bytes(), media_type=JSON)

    @router.put(
        "/secrets/{name}",
        status_code=204,
        response_class=Response,
        summary="Set or replace a secret",
        responses={204: {"headers": {WARNING: {"description": "why it is weak", "schema": {"type": "string"}}}}},
        openapi_extra=body_of(SecretBody, "application/json"),
    )
    async def put(
        request: Request,
        name: str,
        tenant: str = Query("", description="whose secret it is; default: the caller's"),
        caller: Caller = Depends(guard(authenticator, "admin")),
    ) -> Response:
        """The value is given again whenever the sites change: else a caller could send it to a site of its own."""
        require_type(request, JSON_TYPES)
        body = await body_as(request, SecretBody, deps.options.body_limit)
        stored = await keeper.put(request, caller, tenant, name, body.value.get_secret_value(), body.domains)
        return Response(status_code=204, headers={WARNING: stored.weak} if stored.weak else None)

    @router.delete("/secrets/{name}", status_code=204, response_class=Response, summary="Remove a secret")
    async def remove(
        request: Request,
        name: str,
        tenant: str = Query("", description="whose secret it is; default: the caller's"),
        caller: Caller = Depends(guard(authenticator, "admin")),
    ) -> Response:
        """Jobs that name it are refused it from then on."""
        await keeper.remove(request, caller, tenant, name)
        return Response(status_code=204)

    return router


class SecretKeeper:
    """Access of callers to the folder of secrets; changes are told to the audit log, without values."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else SecretFolder(folder)

    @property
    def place(self) -> Path | None:
        """The folder; None where the gateway was given none."""
        return None if self._folder is None else self._folder.folder

    async def page(self, caller: Caller) -> SecretPage:
        """The secrets that `caller` may see, and whether they can be changed."""
        if self._folder is None:
            return SecretPage(secrets=[], folder=FolderState.MISSING)
        state = await asyncio.to_thread(self._folder.state)
        stored = await asyncio.to_thread(self._folder.secrets, caller.sees) if state != FolderState.MISSING else []
        return SecretPage(secrets=list(map(_view, stored)), folder=state)

    async def put(
        self, request: Request, caller: Caller, tenant: str, name: str, value: str, sites: Sequence[str]
    ) -> StoredSecretView:
        """Sets or replaces a secret of `tenant`, "": the caller's own.

        Raises:
            BadInput, NotAllowed, WrongState: as `SecretFolder.put` says.
        """
        owner = _owner(caller, tenant)
        stored, replaced = await asyncio.to_thread(self._writable().put, owner, name, value, sites)
        did = "replaced" if replaced else "set"
        note_detail(request, f"secret {name} of {owner} {did}, for {', '.join(sites)}")
        return _view(stored)

    async def remove(self, request: Request, caller: Caller, tenant: str, name: str) -> None:
        """Removes a secret of `tenant`, "": the caller's own.

        Raises:
            NotFound, NotAllowed, WrongState.
        """
        owner = _owner(caller, tenant)
        await asyncio.to_thread(self._writable().remove, owner, name)
        note_detail(request, f"secret {name} of {owner} removed")

    def _writable(self) -> SecretFolder:
        if self._folder is None:
            raise WrongState("This gateway has no folder of secrets.")
        return self._folder


def _owner(caller: Caller, tenant: str) -> str:
    if tenant and caller.sees is not None and tenant != caller.tenant:
        raise NotAllowed("The secrets of another tenant are not yours to change.")
    return tenant or caller.tenant


def _view(stored: StoredSecret) -> StoredSecretView:
    return StoredSecretView(
        tenant=stored.tenant,
        name=stored.name,
        domains=list(stored.sites),
        fault=stored.fault,
        weak=stored.weak,
        changed_at=datetime.fromtimestamp(stored.changed_at, UTC),
    )
