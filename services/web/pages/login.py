"""Who looks at the dashboard: a signed cookie that stands for a key or a person, and tokens against forged forms."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match

from shoal.services.errors import NotAllowed, Unauthenticated
from shoal.services.store.api_keys import PERSON
from shoal.services.web.http.api_keys import EVERYBODY, Caller, Scope
from shoal.services.web.http.audit import note_caller
from shoal.services.web.http.auth import Authenticator, require_local, require_same_origin
from shoal.services.web.http.trusted_proxy import TrustedProxy
from shoal.services.web.pages.ended_logins import EndedLogins

COOKIE = "shoal_login"
VALID_FOR_S = 12 * 3600
_ATTEMPT_COOKIE = "shoal_openid"
_ATTEMPT_S = 600
"""Seconds that a person may take at the provider."""


class LoginNeeded(Unauthenticated):
    """The caller is not logged in."""


@dataclass(frozen=True, slots=True)
class OpenedCookie:
    """A cookie of ours that is good by its signature and its time."""

    text: str
    number: str  # random: no other cookie has it
    left_s: float


class LoginCheck:
    """Lets callers in by their cookie. The cookie holds the key's hash, not the key: a revoked key ends its logins.

    In place of a key's hash there may be that of a person who came by OpenID Connect. A login also ends by logging out:
    a copy of its cookie opens nothing then.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        ended: EndedLogins,
        secret: bytes,
        *,
        secure: bool,
        proxy: TrustedProxy = TrustedProxy(),
        openid: bool = False,
    ) -> None:
        self._authenticator = authenticator
        self._ended = ended
        self._proxy = proxy
        self._openid = openid
        self._secret = secret
        self._secure = secure

    @property
    def required(self) -> bool:
        """Return whether a login is needed at all."""
        return self._authenticator.required

    async def caller(self, request: Request, scope: Scope) -> Caller:
        """Who asks for a page.

        Raises:
            LoginNeeded, NotAllowed, QuotaExceeded.
        """
        if not self.required:
            require_local(request)
            note_caller(request, EVERYBODY)
            return EVERYBODY
        require_same_origin(request)
        caller = self._proxy.caller(request) or await self._by_cookie(request)
        await self._authenticator.admit(caller, scope)
        note_caller(request, caller)
        return caller

    async def _by_cookie(self, request: Request) -> Caller:
        login = self._login(request)
        if login is None or (login.text.startswith(PERSON) and not self._openid):
            raise LoginNeeded
        if await self._ended.ended(login.number):
            raise LoginNeeded
        try:
            return await self._authenticator.by_hash(login.text)
        except Unauthenticated:
            raise LoginNeeded from None

    async def holds(self, request: Request, caller: Caller) -> bool:
        """Return whether the login that `request` came with is still good."""
        if self.required and not caller.key_hash:  # the proxy let it in, and has not ended the request since
            return True
        if self.required:
            login = self._login(request)
            if login is None or await self._ended.ended(login.number):
                return False
        return await self._authenticator.holds(caller)

    async def log_in(self, request: Request, key: str, answer: Response) -> None:
        """Puts a login into `answer`.

        Raises:
            Unauthenticated: the key is not valid.
            NotAllowed: the form came from another origin's page.
        """
        require_same_origin(request)
        caller = await self._authenticator.by_key(key)
        self.let_in(request, caller.key_hash, VALID_FOR_S, answer)

    def let_in(self, request: Request, key_hash: str, lasts_s: int, answer: Response) -> None:
        """Puts a login of a key or a person into `answer`."""
        self._put(request, answer, COOKIE, "login", key_hash, lasts_s)

    async def log_out(self, request: Request, answer: Response) -> None:
        """Ends the login, and takes it away.

        Raises:
            StoreAway: it was not ended.
        """
        if (login := self._login(request)) is not None:
            await self._ended.end(login.number, login.left_s)
        answer.delete_cookie(COOKIE, httponly=True, samesite="lax")

    def is_person(self, request: Request) -> bool:
        """Return whether `request` comes with the login of a person who came by OpenID Connect."""
        login = self._login(request)
        return login is not None and login.text.startswith(PERSON)

    def begin_attempt(self, request: Request, attempt: str, answer: Response) -> None:
        """Puts what a login elsewhere is known by into `answer`: text without dots, which the browser brings back."""
        self._put(request, answer, _ATTEMPT_COOKIE, "attempt", attempt, _ATTEMPT_S)

    def attempt(self, request: Request) -> str | None:
        """Return what this browser's login elsewhere is known by; None: it began none, or too long ago."""
        opened = self._opened(request.cookies.get(_ATTEMPT_COOKIE, ""), "attempt")
        return None if opened is None else opened.text

    def end_attempt(self, answer: Response) -> None:
        """Forgets the login elsewhere, so that its way back counts once."""
        answer.delete_cookie(_ATTEMPT_COOKIE, httponly=True, samesite="lax")

    def form_token(self, request: Request) -> str:
        """Return what forms of this login must carry; a foreign page cannot read it."""
        named = request.headers.get(self._proxy.header, "") if self._proxy.header else ""
        return self._sign("form", f"{named}\n{request.cookies.get(COOKIE, '')}")  # no header has a line break

    def check_form(self, request: Request, token: str) -> None:
        """Raises NotAllowed unless the form was made by our page for this login."""
        if not hmac.compare_digest(token.encode(), self.form_token(request).encode()):
            raise NotAllowed("This form is not valid any more; go back, reload the page and try again.")

    def _put(self, request: Request, answer: Response, cookie: str, purpose: str, text: str, lasts_s: int) -> None:
        body = f"{text}.{secrets.token_urlsafe(16)}.{int(time.time()) + lasts_s}"
        answer.set_cookie(
            cookie,
            f"{body}.{self._sign(purpose, body)}",
            max_age=lasts_s,
            httponly=True,
            samesite="lax",
            secure=self._secure or request.url.scheme == "https",
        )

    def _login(self, request: Request) -> OpenedCookie | None:
        return self._opened(request.cookies.get(COOKIE, ""), "login")

    def _opened(self, cookie: str, purpose: str) -> OpenedCookie | None:
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(purpose, body).encode()):
            return None
        text, _, rest = body.partition(".")
        number, _, expires = rest.partition(".")
        left_s = int(expires) - time.time() if expires.isdigit() else 0.0  # an earlier version's has no number
        return OpenedCookie(text, number, left_s) if left_s > 0 else None

    def _sign(self, purpose: str, text: str) -> str:
        digest = hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def page_path(routes: Sequence[BaseRoute], text: str) -> str:
    """`text` when it is the address of a page among `routes`, else `/`: no login leads to another site or to a file.

    Pages are the routes that say so (`response_class=HTMLResponse`).
    """
    if not text.startswith("/") or "\\" in text or not text.isprintable():
        return "/"
    path = unquote(urlsplit(f"//host{text}").path)
    if any(part in (".", "..") for part in path.split("/")):  # browsers take these away, and arrive elsewhere
        return "/"
    scope = {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}
    first = next((route for route in routes if route.matches(scope)[0] is Match.FULL), None)
    return text if isinstance(first, APIRoute) and first.response_class is HTMLResponse else "/"
