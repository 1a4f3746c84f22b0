"""The provider of OpenID Connect: what it says of itself, and what it says of a person who comes back from it.

The OAuth client, PKCE and the checks of claims are Authlib's, signatures joserfc's. Requests go through our own client,
which takes in a bounded number of bytes, and follows no redirect.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from authlib.oauth2.client import OAuth2Client
from authlib.oauth2.rfc6749.parameters import prepare_token_request
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from shoal.agent.support.json_value import Json
from shoal.services.answers import bounded_client
from shoal.services.errors import LoginProviderAway, Unauthenticated
from shoal.services.web.openid.config import OpenId

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
"""Of ID tokens: those with a public key. `none` and the HMACs are not taken, whatever the provider lists."""
LEEWAY_S = 60
"""By which the provider's clock may differ."""
_KNOWN_FOR_S = 3600.0
"""Seconds for which the provider's own description and keys are used; unknown keys are asked for at once."""
_ANSWER_BYTES = 1 << 20
_TIMEOUT_S = 10.0
"""Of one request, to the end of its answer."""


@dataclass(frozen=True, slots=True)
class Description:
    """The provider's description of itself."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str  # "": it has none
    end_session_endpoint: str  # "": it has none
    auth_method: str  # how this client shows its secret


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """The values by which one login is known, from the way there to the way back."""

    state: str
    nonce: str
    code_verifier: str


class Provider:
    """One provider. Each method may ask it, and raises `LoginProviderAway` where it does not answer as it should."""

    def __init__(self, openid: OpenId) -> None:
        self._openid = openid
        self._description: Description | None = None
        self._keys: KeySet | None = None
        self._known_until = 0.0

    async def address(self, attempt: LoginAttempt) -> str:
        """Return where a person is sent to log in."""
        description = await self._described()
        url, _ = self._client(description).create_authorization_url(
            description.authorization_endpoint,
            state=attempt.state,
            nonce=attempt.nonce,
            code_verifier=attempt.code_verifier,
        )
        return str(url)

    async def farewell(self) -> str:
        """Return where a person logs out of the provider, too;
        "" where it says of no such place, or does not answer.
        """
        try:
            description = await self._described()
        except LoginProviderAway:
            return ""
        place = httpx.URL(description.end_session_endpoint) if description.end_session_endpoint else None
        return str(place.copy_merge_params({"client_id": self._openid.client_id})) if place else ""

    async def claims(self, code: str, attempt: LoginAttempt) -> Mapping[str, Json]:
        """Return what the provider says of the person who came back with `code`.

        Raises:
            Unauthenticated: the code is not valid, or the ID token is not one for this login.
        """
        description = await self._described()
        async with bounded_client(_ANSWER_BYTES, timeout_s=_TIMEOUT_S) as http:
            tokens = await self._redeemed(http, description, code, attempt)
            claims = await self._checked(http, description, tokens, attempt)
            return {**await self._user_info(http, description, tokens, claims), **claims}

    async def _redeemed(
        self, http: httpx.AsyncClient, description: Description, code: str, attempt: LoginAttempt
    ) -> dict[str, Any]:
        """The tokens that a code stands for."""
        body = prepare_token_request(
            "authorization_code",
            code=code,
            redirect_uri=self._openid.callback,
            code_verifier=attempt.code_verifier,
        )
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8"}
        client_auth = self._client(description).client_auth(description.auth_method)
        url, headers, body = client_auth.prepare("POST", description.token_endpoint, headers, body)
        tokens = await self._json(http, "POST", url, headers=headers, content=body, refusals=(400, 401, 403))
        if "error" in tokens:
            raise Unauthenticated(f"{self._openid.provider} does not take this login. Log in again.")
        return tokens

    async def _checked(
        self, http: httpx.AsyncClient, description: Description, tokens: Mapping[str, Any], attempt: LoginAttempt
    ) -> dict[str, Any]:
        """The claims of the ID token, once signature, issuer, audience, times, nonce and `at_hash` hold."""
        try:
            try:
                token = self._decoded(tokens, await self._key_set(http, description))
            except InvalidKeyIdError:  # the provider has new keys
                token = self._decoded(tokens, await self._key_set(http, description, anew=True))
            claims = CodeIDToken(
                token.claims,
                token.header,
                {
                    "iss": {"essential": True, "value": self._openid.issuer},
                    "aud": {"essential": True, "value": self._openid.client_id},
                    "sub": {"essential": True},
                },
                {
                    "nonce": attempt.nonce,
                    "client_id": self._openid.client_id,
                    "access_token": tokens.get("access_token"),
                },
            )
            claims.validate(leeway=LEEWAY_S)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            # The last ones: the token is text of the provider, and libraries stumble over what it may hold.
            reason = f"{type(error).__name__}: {error}"[:200]
            raise Unauthenticated(f"The login of {self._openid.provider} is not valid ({reason}).") from error
        if not isinstance(claims["sub"], str) or not claims["sub"].isprintable() or not claims["sub"].strip():
            raise Unauthenticated(f"The login of {self._openid.provider} names no person.")
        return dict(claims)

    def _decoded(self, tokens: Mapping[str, Any], keys: KeySet) -> jwt.Token:
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        return jwt.decode(tokens["id_token"], keys, registry=registry)

    async def _user_info(
        self, http: httpx.AsyncClient, description: Description, tokens: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Further claims. Many providers give groups and addresses there alone."""
        if not description.userinfo_endpoint or not isinstance(tokens.get("access_token"), str):
            return {}
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        user_info = await self._json(http, "GET", description.userinfo_endpoint, headers=headers)
        if user_info.get("sub") != claims["sub"]:
            raise Unauthenticated(f"{self._openid.provider} speaks of two people in one login.")
        return user_info

    async def _described(self) -> Description:
        if self._description is not None and time.monotonic() < self._known_until:
            return self._description
        url = f"{self._openid.issuer.rstrip('/')}/.well-known/openid-configuration"
        async with bounded_client(_ANSWER_BYTES, timeout_s=_TIMEOUT_S) as http:
            document = await self._json(http, "GET", url)
        if document.get("issuer") != self._openid.issuer:
            raise self._away(f"calls itself {str(document.get('issuer'))[:200]!r}, not {self._openid.issuer!r}")
        methods = document.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        secret_by = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        self._description = Description(
            authorization_endpoint=self._endpoint(document, "authorization_endpoint"),
            token_endpoint=self._endpoint(document, "token_endpoint"),
            jwks_uri=self._endpoint(document, "jwks_uri"),
            userinfo_endpoint=self._endpoint(document, "userinfo_endpoint", needed=False),
            end_session_endpoint=self._endpoint(document, "end_session_endpoint", needed=False),
            auth_method=secret_by if self._openid.client_secret else "none",
        )
        self._keys, self._known_until = None, time.monotonic() + _KNOWN_FOR_S
        return self._description

    def _endpoint(self, document: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
        """An address that the provider gives; like its own, https but on loopback."""
        url = document.get(name)
        if url is None and not needed:
            return ""
        try:
            parts = urlsplit(url if isinstance(url, str) and url.isprintable() else "")
        except ValueError:  # half a pair of brackets
            parts = urlsplit("")
        if parts.scheme not in {"https", urlsplit(self._openid.issuer).scheme} or not parts.hostname:
            raise self._away(f"gives no usable {name}")
        return parts.geturl()

    async def _key_set(self, http: httpx.AsyncClient, description: Description, *, anew: bool = False) -> KeySet:
        if self._keys is None or anew:
            self._keys = KeySet.import_key_set(await self._json(http, "GET", description.jwks_uri))  # type: ignore[arg-type]
        return self._keys

    async def _json(
        self, http: httpx.AsyncClient, method: str, url: str, *, refusals: tuple[int, ...] = (), **request: Any
    ) -> dict[str, Any]:
        """The JSON object that the provider answers."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):  # a client's own limits are those of single reads
                answer = await http.request(method, url, **request)
            body = answer.json() if answer.status_code in (200, *refusals) else None
        except TimeoutError as error:
            raise self._away("does not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._away(f"does not answer ({type(error).__name__})") from error
        except ValueError as error:
            raise self._away("answers with something other than JSON") from error
        if not isinstance(body, dict):
            raise self._away(f"answers with status {answer.status_code} at {urlsplit(url).path[:200]}")
        return body

    def _client(self, description: Description) -> OAuth2Client:
        return OAuth2Client(
            session=None,
            client_id=self._openid.client_id,
            client_secret=self._openid.client_secret,
            token_endpoint_auth_method=description.auth_method,
            scope=" ".join(self._openid.scopes),
            redirect_uri=self._openid.callback,
            code_challenge_method="S256",
        )

    def _away(self, what: str) -> LoginProviderAway:
        return LoginProviderAway(f"The login provider {self._openid.provider} {what}. Log in with a key, or try again.")
