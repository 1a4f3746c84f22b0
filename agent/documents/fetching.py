"""Fetching a document as the job's browser would: its redirects, its cookies, its words about itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from shoal.agent.documents.addresses import normal, resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import MOST_BYTES, RawDocument
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class FetchFailed(Exception):
    """No answer came, or not all of it. That says nothing of the document; the message says what happened."""


class DocumentClient(Protocol):
    """Asks sites for documents: one hop each, within the rules that hold for this job's browsers."""

    async def get(
        self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = MOST_BYTES
    ) -> RawDocument:
        """Return what the server answers, whatever its status;
        redirects are not followed.

        Of a body that is longer than `most_bytes`, one byte more comes.

        Raises:
            FetchFailed: no whole answer came in time, or the address may not be reached.
        """
        ...


@dataclass(frozen=True, slots=True)
class Visitor:
    """The headers by which the job's browser names itself."""

    user_agent: str
    languages: tuple[str, ...]
    accept: str  # the header Accept of its navigations; each version of Chromium has its own

    @property
    def accept_language(self) -> str:
        """The header Accept-Language, as Chromium makes it."""
        shares = ("", *(f";q={max(1, 9 - n) / 10:g}" for n in range(len(self.languages))))
        return ",".join(f"{language}{share}" for language, share in zip(self.languages, shares, strict=False))


async def fetched(
    client: DocumentClient,
    url: str,
    visitor: Visitor,
    own_headers: Mapping[str, str],
    cookies: Sequence[Mapping[str, Json]],
    timeout_s: float,
    most_bytes: int = MOST_BYTES,
) -> RawDocument:
    """The document at `url`, redirects within its host followed.

    Raises:
        FetchFailed: there was no answer.
        BeyondDocument: the site leads to another host, sets cookies on the way, or in circles.
    """
    fragment = url.partition("#")[2]
    at = normal(url.partition("#")[0])
    asked_at = utc_now()
    until = time.monotonic() + timeout_s
    for _ in range(_MOST_REDIRECTS + 1):
        headers = _headers(visitor, own_headers, cookies, at)
        answer = await client.get(at, headers, max(0.1, until - time.monotonic()), most_bytes)
        if answer.status not in _REDIRECTS or "location" not in answer.headers:
            return replace(answer, url=f"{at}#{fragment}" if fragment else at, asked_at=asked_at)
        if "set-cookie" in answer.headers:
            raise BeyondDocument("the site sets cookies while it leads on")
        onward = resolved(answer.headers["location"].strip(), at)
        if urlsplit(onward).hostname != urlsplit(at).hostname or (
            at.startswith("https") and onward.startswith("http:")
        ):
            raise BeyondDocument("the site leads to another host")
        at, _, onward_fragment = onward.partition("#")
        fragment = onward_fragment or fragment
    raise BeyondDocument("the site leads on and on")


def _headers(
    visitor: Visitor, own: Mapping[str, str], cookies: Sequence[Mapping[str, Json]], url: str
) -> dict[str, str]:
    usual = {
        "User-Agent": visitor.user_agent,
        "Accept": visitor.accept,
        "Accept-Language": visitor.accept_language,
        "Upgrade-Insecure-Requests": "1",
    }
    given = {name.lower() for name in own}
    headers = {name: value for name, value in usual.items() if name.lower() not in given} | dict(own)
    sent = cookie_header(cookies, url)
    if sent and "cookie" not in given:
        headers["Cookie"] = sent
    return headers


def cookie_header(cookies: Sequence[Mapping[str, Json]], url: str) -> str:
    """The cookies of a storage state (Playwright's format) that a browser sends to `url`, as a header; "" for none."""
    parts = urlsplit(url)
    host, path = parts.hostname or "", parts.path or "/"
    sent = [cookie for cookie in cookies if _goes_to(cookie, host, path, secure=parts.scheme == "https")]
    sent.sort(key=lambda cookie: -len(str(cookie.get("path") or "/")))  # as the standard orders them
    return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in sent)


def _goes_to(cookie: Mapping[str, Json], host: str, path: str, *, secure: bool) -> bool:
    domain = str(cookie.get("domain") or "").lower()
    at_host = host == domain or (domain.startswith(".") and (host == domain[1:] or host.endswith(domain)))
    below = str(cookie.get("path") or "/")
    at_path = path == below or (path.startswith(below) and (below.endswith("/") or path[len(below)] == "/"))
    expires = float(cookie.get("expires") or -1)
    alive = expires < 0 or expires > time.time()
    local = host in ("localhost", "127.0.0.1", "::1")
    return (
        at_host
        and at_path
        and alive
        and (secure or local or not cookie.get("secure"))
        and not cookie.get("partitionKey")
    )
