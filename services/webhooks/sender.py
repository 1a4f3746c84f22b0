"""One attempt to hand a message over, to an address that was looked at before."""

from __future__ import annotations

import asyncio

import httpx

from shoal.agent.support.bounded_answers import PLAIN, AnswerUnreadable, beginning
from shoal.agent.support.retry_after import retry_after_seconds
from shoal.services.addresses import Reach
from shoal.services.names import HostNames
from shoal.services.trust import authorities
from shoal.services.webhooks.retry import DeliveryAnswer

ATTEMPT_S = 15.0
"""Time of one attempt: a receiver should take the message and work on it afterwards."""
_TOLD_BYTES = 200
"""How much of a refusal is kept for people to read."""
_PORTS = {"http": 80, "https": 443}


def unsendable(url: str) -> str | None:
    """Why no message can be sent to `url`, an http(s) URL; None when one could be."""
    try:
        target = httpx.URL(url)
        httpx.Request("POST", target)
        if target.scheme not in _PORTS or not target.host:
            return "is no http:// or https:// address with a host"
    except (httpx.InvalidURL, UnicodeError) as error:  # what is no name by IDNA is a UnicodeError
        return f"is no address that can be called: {str(error)[:_TOLD_BYTES]}"
    return None


class Sender:
    """Sends messages under the operator's rules for addresses.

    The name is resolved here, its addresses are checked, and the connection goes to one of those that were checked: a
    name that resolves differently a moment later leads nowhere else. Redirects are not followed.
    """

    def __init__(self, reach: Reach, names: HostNames) -> None:
        self._reach = reach
        self._names = names
        # No connection is kept: two hosts behind one address must not share one, since the certificate was the other's.
        self._http = httpx.AsyncClient(
            verify=authorities(),
            timeout=httpx.Timeout(ATTEMPT_S, connect=5.0),
            limits=httpx.Limits(max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept-Encoding": PLAIN},
        )

    async def close(self) -> None:
        """Ends what is under way."""
        await self._http.aclose()

    async def send(self, url: str, body: bytes, headers: dict[str, str], *, tenant: str = "") -> DeliveryAnswer:
        """Posts `body` for `tenant`, and says how that went."""
        if (reason := unsendable(url)) is not None:
            return DeliveryAnswer(error=reason, refused=True)
        target = httpx.URL(url)
        port = target.port or _PORTS[target.scheme]
        addresses = await self._names.addresses(target.host, tenant)
        if reason := self._reach.refusal(target.host, port, addresses):
            return DeliveryAnswer(error=f"{target.host} is not allowed: the address is {reason}", refused=True)
        if not addresses:
            return DeliveryAnswer(error=f"{target.host} does not resolve, or not in time")
        request = self._http.build_request(
            "POST",
            target.copy_with(host=addresses[0]),
            content=body,
            headers={**headers, "Host": target.netloc.decode("ascii"), "Content-Type": "application/json"},
            extensions={"sni_hostname": target.raw_host.decode("ascii")},
        )
        try:
            async with asyncio.timeout(ATTEMPT_S):
                return await self._sent(request)
        except TimeoutError:
            return DeliveryAnswer(error=f"no answer within {ATTEMPT_S:g} s")
        except httpx.TransportError as error:
            return DeliveryAnswer(error=f"{type(error).__name__}: {error}".removesuffix(": "))

    async def _sent(self, request: httpx.Request) -> DeliveryAnswer:
        answer = await self._http.send(request, stream=True)
        try:
            if answer.is_success:
                return DeliveryAnswer(answer.status_code)
            said = await _beginning(answer)
        finally:
            await answer.aclose()
        return DeliveryAnswer(
            answer.status_code,
            error=f"HTTP {answer.status_code}" + (f": {said}" if said else ""),
            retry_after_s=retry_after_seconds(answer.headers) or 0.0,
        )


async def _beginning(answer: httpx.Response) -> str:
    """The first words of an answer's body, on one line; "" where they cannot be read."""
    try:
        read, _more = await beginning(answer.aiter_raw(), answer.headers.get("content-encoding", ""), _TOLD_BYTES)
    except AnswerUnreadable:  # the status is told, which is what counts
        return ""
    return " ".join(read.decode(errors="replace").replace("\0", "").split())
