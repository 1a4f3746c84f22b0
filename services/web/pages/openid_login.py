"""Login by OpenID Connect: the way to the provider, and the way back with a code."""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from dataclasses import astuple

import orjson
import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from shoal.services.errors import LoginProviderAway, NotAllowed, ServiceError, Unauthenticated
from shoal.services.events import LogEvent
from shoal.services.store.store import Store
from shoal.services.web.http import problems
from shoal.services.web.http.roles import ROLES
from shoal.services.web.openid.config import CALLBACK, OpenId
from shoal.services.web.openid.people import person_of
from shoal.services.web.openid.provider import LoginAttempt, Provider
from shoal.services.web.pages.login import LoginCheck, page_path
from shoal.services.web.pages.rendering import Pages

log = structlog.get_logger(__name__)

_ERROR = re.compile(r"[a-z_]{1,40}")
"""An error's name in the answer of a provider. Its description is text that any link could hold: it is not shown."""
_LONGEST_CODE = 4_096
_LONGEST_NEXT = 1_000
"""Bytes of the address to go on to: what is longer would not fit into the cookie."""


def add_openid_login(router: APIRouter, store: Store, openid: OpenId, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the two addresses of a login elsewhere."""
    provider = Provider(openid)

    def refused(request: Request, next_path: str, error: ServiceError) -> Response:
        """The login page with the reason. The attempt is over."""
        log.warning(LogEvent.LOGIN_REFUSED, provider=openid.provider, error=error.code, reason=error.message)
        status = problems.of_error(error).status_code
        answer = pages.page(request, "login.html", status=status, next=next_path, fault=error.message, farewell="")
        login_check.end_attempt(answer)
        return answer

    @router.get("/login/openid")
    async def begin(request: Request, next: str = "/") -> Response:
        """Sends a person to the provider. What the way back must fit goes with the browser, signed."""
        next_path = page_path(router.routes, next) if len(next.encode()) <= _LONGEST_NEXT else "/"
        attempt = LoginAttempt(*(secrets.token_urlsafe(32) for _ in range(3)))
        try:
            answer = RedirectResponse(await provider.address(attempt), status_code=303)
        except LoginProviderAway as error:
            return refused(request, next_path, error)
        login_check.begin_attempt(request, _packed(attempt, next_path), answer)
        return answer

    @router.get(CALLBACK)
    async def come_back(request: Request, code: str = "", state: str = "", error: str = "", iss: str = "") -> Response:
        """Lets a person in who comes back from the provider with what this very browser was sent with."""
        kept = login_check.attempt(request)
        if kept is None:
            return refused(request, "/", Unauthenticated("This login began too long ago, or elsewhere. Log in again."))
        attempt, next_path = _unpacked(kept)
        try:
            if not hmac.compare_digest(state.encode(), attempt.state.encode()) or iss not in ("", openid.issuer):
                raise Unauthenticated("This is not the login that began here. Log in again.")
            if error or not code or len(code) > _LONGEST_CODE:
                reason = error if _ERROR.fullmatch(error) else "no code"
                raise Unauthenticated(f"{openid.provider} did not let you in ({reason}).")
            person = person_of(await provider.claims(code, attempt), openid)
            row = await store.admit_person(
                person.name, person.tenant, ROLES[person.role], person.key_hash, openid.login_s
            )
            if row is None:
                raise NotAllowed(f"{person.name} is shut out. An admin lets people in again, under API keys.")
        except (Unauthenticated, NotAllowed, LoginProviderAway) as reason:
            return refused(request, next_path, reason)
        answer = RedirectResponse(next_path, status_code=303)
        login_check.let_in(request, person.key_hash, int(openid.login_s), answer)
        login_check.end_attempt(answer)
        return answer

    @router.get("/login/ended")
    async def ended(request: Request) -> Response:
        """The login page after a person's logout: at the provider, that person may still be logged in."""
        return pages.page(request, "login.html", next="/", fault="", farewell=await provider.farewell())


def _packed(attempt: LoginAttempt, next_path: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([*astuple(attempt), next_path])).decode().rstrip("=")


def _unpacked(text: str) -> tuple[LoginAttempt, str]:
    *parts, next_path = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return LoginAttempt(*parts), next_path
