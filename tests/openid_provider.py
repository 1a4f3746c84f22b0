"""A provider of OpenID Connect that errs or attacks as a test says. Signatures are real; logins ask nothing."""

from __future__ import annotations

import asyncio
import hashlib
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse, StreamingResponse
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from shoal.services.cluster.serving import listening, served

CLIENT, SECRET = "shoal", "s3cret-of-the-client"
Claims = dict[str, Any]


@dataclass
class FaultyProvider:
    """The provider's answers; a test changes them. Codes are for one use, and need the verifier of their challenge."""

    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k1", "use": "sig"}))
    listed: Any = None  # what stands at the address of keys; None: `key`
    claims: Claims = field(default_factory=lambda: {"sub": "u1", "groups": ["ops"]})
    token_changes: Claims = field(default_factory=dict)  # of the ID token; None takes a claim away
    sign: Callable[[FaultyProvider, Claims], Any] | None = None  # in place of an honest signature
    userinfo: Claims | None = None
    metadata: Claims = field(default_factory=dict)  # changes of its description
    drips: bool = False  # its keys come a byte at a time
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    given: int = 0  # codes
    asked: list[str] = field(default_factory=list)  # paths

    def id_token(self, nonce: str) -> Any:
        now = int(time.time())
        told = {"iss": self.issuer, "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": nonce}
        merged = {**told, **self.claims, **self.token_changes}
        kept = {name: value for name, value in merged.items() if value is not None}
        if self.sign is not None:
            return self.sign(self, kept)
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, kept, self.key)


def unsigned(provider: FaultyProvider, claims: Claims) -> str:
    """`alg: none`."""
    parts = (orjson.dumps({"alg": "none"}), orjson.dumps(claims))
    return ".".join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def by_hmac_of_the_public_key(provider: FaultyProvider, claims: Claims) -> str:
    """HS256, with what all know as the secret."""
    public = OctKey.import_key(orjson.dumps(provider.key.as_dict(private=False)))
    return jwt.encode({"alg": "HS256", "kid": provider.key.kid}, claims, public)


def by_another_key(provider: FaultyProvider, claims: Claims) -> str:
    """Signed by someone else under the provider's key id."""
    return jwt.encode({"alg": "RS256", "kid": provider.key.kid}, claims, RSAKey.generate_key(2048))


async def dripping() -> AsyncIterator[bytes]:
    """A body that goes on for as long as it is read, each piece soon after the last."""
    while True:
        yield b" "
        await asyncio.sleep(0.05)


def app_of(provider: FaultyProvider) -> FastAPI:
    """The provider's addresses."""
    app = FastAPI()

    @app.middleware("http")
    async def noted(request: Request, following: Any) -> Response:
        provider.asked.append(request.url.path)
        answer: Response = await following(request)
        return answer

    @app.get("/.well-known/openid-configuration")
    async def description() -> Response:
        here = provider.issuer
        told = {
            "issuer": here,
            "authorization_endpoint": f"{here}/authorize",
            "token_endpoint": f"{here}/token",
            "jwks_uri": f"{here}/keys",
            "id_token_signing_alg_values_supported": ["none", "HS256", "RS256"],
            **({"userinfo_endpoint": f"{here}/userinfo"} if provider.userinfo is not None else {}),
        }
        return JSONResponse({**told, **provider.metadata})

    @app.get("/authorize")
    async def authorize(request: Request) -> Response:
        asked = dict(request.query_params)
        provider.given += 1
        code = f"code-{provider.given}"
        provider.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    @app.post("/token")
    async def token(request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = provider.codes.pop(form["code"], None)
        challenge = urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        credentials = b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        if tuple(map(unquote_plus, credentials.split(":"))) != (CLIENT, SECRET):
            return JSONResponse({"error": "invalid_client"}, 401)
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        id_token = provider.id_token(asked["nonce"])
        return JSONResponse({"access_token": "at", "token_type": "Bearer", "id_token": id_token})

    @app.get("/keys")
    async def keys() -> Response:
        if provider.drips:
            return StreamingResponse(dripping(), media_type="application/json")
        listed = {"keys": [provider.key.as_dict(private=False)]} if provider.listed is None else provider.listed
        return JSONResponse(listed)

    @app.get("/userinfo")
    async def userinfo(request: Request) -> Response:
        known = request.headers.get("authorization") == "Bearer at"
        return JSONResponse(provider.userinfo if known else {}, 200 if known else 401)

    return app


@asynccontextmanager
async def faulty_provider() -> AsyncIterator[FaultyProvider]:
    """One that listens on loopback."""
    provider = FaultyProvider()
    with listening("127.0.0.1", 0) as listener:
        async with served(app_of(provider), listener, "provider") as url:
            provider.issuer = url.rstrip("/")
            yield provider
