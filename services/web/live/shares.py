"""TenantShares of tenants in what a gateway keeps open. Each tenant has its own, so none can take up another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sse_starlette import EventSourceResponse
from sse_starlette.sse import ContentStream
from starlette.types import Receive, Scope, Send

from shoal.services.errors import QuotaExceeded

MOST_STREAMS = 300
"""Event streams of one tenant at one gateway, live views among them."""
_RETRY_AFTER_S = 30


class TenantShares:
    """Counts what each tenant has open.

    Args:
        most: that one tenant may have.
        what: it is, in words; the refusal names it with `most`.
    """

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken: Counter[str] = Counter()

    def count_of(self, tenant: str) -> int:
        """Return how many a tenant has."""
        return self._taken[tenant]

    def admit(self, tenant: str) -> None:
        """Returns when a tenant may have one more.

        Raises:
            QuotaExceeded: it has as many as it may.
        """
        if self._taken[tenant] >= self._most:
            raise QuotaExceeded(
                f"This tenant has {self._most} {self._what} already, which is the most.", retry_after_s=_RETRY_AFTER_S
            )

    @contextmanager
    def one(self, tenant: str) -> Iterator[None]:
        """While a tenant has one more.

        Raises:
            QuotaExceeded: it has as many as it may.
        """
        self.admit(tenant)
        self._taken[tenant] += 1
        try:
            yield
        finally:
            self._taken[tenant] -= 1
            if not self._taken[tenant]:
                del self._taken[tenant]


class SharedStream(EventSourceResponse):
    """Server-sent events that take a share when they are sent, and give it back however they end."""

    def __init__(self, content: ContentStream, share: AbstractContextManager[None], *, ping: int) -> None:
        super().__init__(content, ping=ping)
        self._share = share

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream."""
        with self._share:
            await super().__call__(scope, receive, send)
