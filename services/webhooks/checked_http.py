"""Calls to addresses that callers name, under the operator's rules for addresses.

The name is resolved here, its addresses are checked, and the connection goes to one of those that were checked: a name
that resolves differently a moment later leads nowhere else. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from shoal.agent.support.bounded_answers import PLAIN, AnswerUnreadable, beginning
from shoal.services.addresses import Reach
from shoal.services.names import HostNames
from shoal.services.trust import authorities

_TOLD_BYTES = 200
"""Bytes of an invalid address's fault that are told."""
_PORTS = {"http": 80, "https": 443}


def unsendable(url: str) -> str | None:
    """Why nothing can be sent to `url`, an http(s) URL; None when something could be."""
    try:
        target = httpx.URL(url)
        httpx.Request("POST", target)
        if target.scheme not in _PORTS or not target.host:
            return "is no http:// or https:// address with a host"
    except (httpx.InvalidURL, UnicodeError) as error:  # what is no name by IDNA is a UnicodeError
        return f"is no address that can be called: {str(error)[:_TOLD_BYTES]}"
    return None


class NotReached(Exception):
    """Nothing was answered; the message says why. `refused`: the rules forbid the address, or it is none."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A server's answer."""

    status_code: int
    body: bytes  # its beginning; empty where it cannot be read
    headers: Mapping[str, str] = field(default_factory=dict)  # by lower-case name

    @property
    def is_success(self) -> bool:
        """Return whether the status is one of 2xx."""
        return 200 <= self.status_code < 300

    @property
    def words(self) -> str:
        """The first words of the body, on one line."""
        return " ".join(self.body[:_TOLD_BYTES].decode(errors="replace").replace("\0", "").split())


class CheckedHttp:
    """An HTTP client for addresses that callers name. Close it when done."""

    def __init__(self, reach: Reach, names: HostNames) -> None:
        self._reach = reach
        self._names = names
        # No connection is kept: two hosts behind one address must not share one, since the certificate was the other's.
        self._http = httpx.AsyncClient(
            verify=authorities(),
            timeout=None,
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept-Encoding": PLAIN},
        )

    async def close(self) -> None:
        """Ends what is under way."""
        await self._http.aclose()

    async def place(self, host: str, port: int, tenant: str) -> str:
        """An address of `host` that was checked, to connect to.

        Raises:
            NotReached: the rules forbid it, or the name does not resolve.
        """
        addresses = await self._names.addresses(host, tenant)
        if reason := self._reach.refusal(host, port, addresses):
            raise NotReached(f"{host} is not allowed: the address is {reason}", refused=True)
        if not addresses:
            raise NotReached(f"{host} does not resolve, or not in time")
        return addresses[0]

    async def call(
        self,
        method: str,
        url: str,
        *,
        tenant: str,
        timeout_s: float,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        most: int = 0,
    ) -> HttpAnswer:
        """Return what `url` answers: with at most `most` bytes of its body,
        or with the first words of a refusal.

        Args:
            tenant: who asks; its share of the look-ups of names is used.

        Raises:
            NotReached: the rules forbid the address, it is none, or nothing answers within `timeout_s`.
        """
        if (reason := unsendable(url)) is not None:
            raise NotReached(reason, refused=True)
        target = httpx.URL(url)
        address = await self.place(target.host, target.port or _PORTS[target.scheme], tenant)
        request = self._http.build_request(
            method,
            target.copy_with(host=address),
            content=body,
            headers={**(headers or {}), "Host": target.netloc.decode("ascii")},
            extensions={
                "sni_hostname": target.raw_host.decode("ascii"),
                "timeout": httpx.Timeout(timeout_s, connect=5.0).as_dict(),
            },
        )
        try:
            async with asyncio.timeout(timeout_s):
                return await self._answered(request, most)
        except TimeoutError:
            raise NotReached(f"no answer within {timeout_s:g} s") from None
        except httpx.TransportError as error:
            raise NotReached(f"{type(error).__name__}: {error}".removesuffix(": ")) from error

    async def _answered(self, request: httpx.Request, most: int) -> HttpAnswer:
        answer = await self._http.send(request, stream=True)
        read, limit = b"", most if answer.is_success else max(most, _TOLD_BYTES)
        try:
            if limit:
                encoding = answer.headers.get("content-encoding", "")
                read, _more = await beginning(answer.aiter_raw(), encoding, limit)
        except AnswerUnreadable:  # the status is told, which is what counts
            pass
        finally:
            await answer.aclose()
        return HttpAnswer(answer.status_code, read, {name.lower(): value for name, value in answer.headers.items()})
