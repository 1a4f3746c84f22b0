"""One attempt to hand a message over, to an address that was looked at before."""

from __future__ import annotations

from shoal.agent.support.retry_after import retry_after_seconds
from shoal.services.addresses import Reach
from shoal.services.names import HostNames
from shoal.services.webhooks.checked_http import CheckedHttp, NotReached
from shoal.services.webhooks.retry import DeliveryAnswer

ATTEMPT_S = 15.0
"""Time of one attempt: a receiver should take the message and work on it afterwards."""


class Sender:
    """Sends messages under the operator's rules for addresses."""

    def __init__(self, reach: Reach, names: HostNames) -> None:
        self._http = CheckedHttp(reach, names)

    async def close(self) -> None:
        """Ends what is under way."""
        await self._http.close()

    async def send(self, url: str, body: bytes, headers: dict[str, str], *, tenant: str = "") -> DeliveryAnswer:
        """Posts `body` for `tenant`, and says how that went."""
        all_headers = {**headers, "Content-Type": "application/json"}
        try:
            answer = await self._http.call(
                "POST", url, tenant=tenant, timeout_s=ATTEMPT_S, body=body, headers=all_headers
            )
        except NotReached as error:
            return DeliveryAnswer(error=str(error), refused=error.refused)
        if answer.is_success:
            return DeliveryAnswer(answer.status_code)
        return DeliveryAnswer(
            answer.status_code,
            error=f"HTTP {answer.status_code}" + (f": {answer.words}" if answer.words else ""),
            retry_after_s=retry_after_seconds(answer.headers) or 0.0,
        )
