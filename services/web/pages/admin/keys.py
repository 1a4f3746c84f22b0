"""API keys and people who log in elsewhere: listed, made and revoked by callers with the scope `admin`."""

from __future__ import annotations

import math

from fastapi import APIRouter, Depends, Form, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from shoal.services.errors import BadInput
from shoal.services.web.deps import GatewayDeps
from shoal.services.web.http.api_keys import DEFAULT_TENANT, SCOPES, Caller, hash_key, make_key, tenant_fault
from shoal.services.web.http.audit import note_detail
from shoal.services.web.http.roles import ROLES, role_of
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.rendering import Pages, let_in

_DAY_S = 86_400.0
_MOST_DAYS = 3_650.0
LONGEST_NAME = 80


def add_keys(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of keys and what its forms do."""
    store = deps.store

    async def page(request: Request, caller: Caller, made: str = "", status: int = 200) -> Response:
        rows = sorted(await store.keys(), key=lambda key: (key.revoked_at is not None, -key.id))
        return pages.page(
            request,
            "admin/keys.html",
            status=status,
            caller=caller,
            keys=[row for row in rows if not row.person],
            people=[row for row in rows if row.person],
            scopes=SCOPES,
            roles=ROLES,
            role_of=role_of,
            default_tenant=DEFAULT_TENANT,
            made=made,
            now=await store.now(),
        )

    @router.get("/admin/keys", response_class=HTMLResponse)
    async def listing(request: Request, caller: Caller = Depends(let_in(login_check, "admin"))) -> Response:
        return await page(request, caller)

    @router.post("/admin/keys")
    async def create(
        request: Request,
        token: str = Form(""),
        name: str = Form("", max_length=400),
        tenant: str = Form("", max_length=400),
        role: str = Form("", max_length=40),
        scope: list[str] = Form([]),
        days: str = Form("", max_length=20),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        """Makes a key. The answer is the page itself: this is the only time that the key is shown."""
        login_check.check_form(request, token)
        label = " ".join(name.split())
        if not label or len(label) > LONGEST_NAME:
            raise _bad("name", f"must have 1 to {LONGEST_NAME} characters")
        if (reason := tenant_fault(tenant)) and tenant not in {row.tenant for row in await store.keys()}:
            raise _bad("tenant", reason)
        scopes = _scopes(role, scope)
        key = make_key()
        row = await store.create_key(label, tenant, scopes, hash_key(key), _lasts_s(days))
        note_detail(request, f"key {row.id} ({label}) of {tenant}: {', '.join(scopes)}")
        return await page(request, caller, made=key, status=201)

    @router.post("/admin/keys/{key}/revoke")
    async def revoke(
        request: Request,
        key: int = Path(ge=1, le=2**31 - 1),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        login_check.check_form(request, token)
        row = await store.revoke_key(key)
        note_detail(request, f"{row.name} of {row.tenant}")
        return RedirectResponse("/admin/keys", status_code=303)

    @router.post("/admin/people/{key}/restore")
    async def restore(
        request: Request,
        key: int = Path(ge=1, le=2**31 - 1),
        token: str = Form(""),
        caller: Caller = Depends(let_in(login_check, "admin")),
    ) -> Response:
        """Lets a person log in again who was shut out."""
        login_check.check_form(request, token)
        row = await store.restore_person(key)
        note_detail(request, f"{row.name} of {row.tenant}")
        return RedirectResponse("/admin/keys", status_code=303)


def _scopes(role: str, ticked: list[str]) -> list[str]:
    """The scopes of a role, or those that were ticked where no role was chosen."""
    if role:
        if role not in ROLES:
            raise _bad("role", f"must be one of {', '.join(ROLES)}")
        return list(ROLES[role])
    if not ticked or set(ticked) - set(SCOPES):
        raise _bad("scope", f"must be some of {', '.join(SCOPES)}")
    return [scope for scope in SCOPES if scope in ticked]


def _lasts_s(days: str) -> float | None:
    if not days.strip():
        return None
    try:
        lasts = float(days)
    except ValueError:
        lasts = math.nan
    if not 0 < lasts <= _MOST_DAYS:
        raise _bad("days", f"must be a number of days, of at most {_MOST_DAYS:.0f}")
    return lasts * _DAY_S


def _bad(field: str, reason: str) -> BadInput:
    return BadInput(f"{field}: {reason}.", errors=[{"field": field, "reason": reason}])
