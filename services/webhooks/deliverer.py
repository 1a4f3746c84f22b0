"""Empties the outbox: claims what is due, sends it, writes how that went. Several may run over one database."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence

import structlog

from shoal.services.errors import StoreAway
from shoal.services.events import LogEvent
from shoal.services.store.database.batching import Batcher
from shoal.services.store.ids import delivery_id
from shoal.services.store.records import Delivered, DeliveryRow, DeliveryState
from shoal.services.store.store import Store
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.retry import DeliveryAnswer, delivery_after
from shoal.services.webhooks.sender import ATTEMPT_S
from shoal.services.webhooks.signature import signed_headers, tenant_secret

log = structlog.get_logger(__name__)

AT_ONCE = 32
"""Messages under way in one process."""
EACH = 8
"""Messages of one tenant under way. Where slow receivers of several tenants hold all places, the next that is free goes
to a tenant that holds fewest."""
_LEASE_S = 4 * ATTEMPT_S
"""An attempt without a result by then was lost with its process."""
_LOOK_S = 30.0
"""Longest pause between two looks, should nothing wake us."""
_AT_MOST_EVERY_S = 0.2
"""Pause between two looks, so that a busy store is not asked after every commit."""
_PRUNE_EVERY_S = 600.0
DELIVERED_KEPT_S = 7 * 86_400.0
DEAD_KEPT_S = 30 * 86_400.0


class Deliverer:
    """Sends messages until it is canceled. What it holds may be lost: the store gives it out again."""

    def __init__(self, store: Store, notifier: Notifier, secrets: tuple[str, ...], *, seed: int | None = None) -> None:
        """`secrets`: the cluster's, newest first; each message is signed with all of them."""
        self._store = store
        self._notifier = notifier
        self._sender = notifier.sender
        self._secrets = secrets
        self._dice = random.Random(seed)
        self._flights: dict[asyncio.Task[None], str] = {}  # with their tenants
        self._landings = Batcher(self._settle)  # those that end together are one transaction
        self._landed = asyncio.Event()  # a flight has ended: there is room, and perhaps another attempt to come
        self._pruned_at = float("-inf")

    async def run(self) -> None:
        """Sends what is due, for ever; ends with its flights when it is canceled."""
        try:
            while True:
                try:
                    await self._work()
                except StoreAway:  # the gateway's readiness and metrics say so
                    await asyncio.sleep(1.0)
                except Exception:  # the top of a loop
                    log.exception(LogEvent.LOOP_FAILED, loop="webhooks")
                    await asyncio.sleep(1.0)
        finally:
            for flight in self._flights:
                flight.cancel()
            await asyncio.gather(*self._flights, return_exceptions=True)

    async def _work(self) -> None:
        seen = await self._store.changed(0.0)
        while True:
            looked_at = time.monotonic()
            await self._prune()
            due_in_s = await self._store.next_delivery_in_s()
            if due_in_s == 0.0 and await self._depart():
                continue
            seen = await self._wait(min(_LOOK_S, due_in_s or _LOOK_S), seen)
            await asyncio.sleep(max(0.0, looked_at + _AT_MOST_EVERY_S - time.monotonic()))

    async def _wait(self, pause_s: float, seen: int) -> int:
        """Until something was committed, a message landed, or the time is over."""
        change = asyncio.create_task(self._store.changed(pause_s, since=seen))
        landing = asyncio.create_task(self._landed.wait())
        try:
            await asyncio.wait((change, landing), return_when=asyncio.FIRST_COMPLETED)
            self._landed.clear()
            return change.result() if change.done() else seen
        finally:
            change.cancel()
            landing.cancel()

    async def _depart(self) -> bool:
        """Claims and starts what there is room for; False when nothing was to be had."""
        room = AT_ONCE - len(self._flights)
        if room <= 0:
            return False
        under_way = Counter(self._flights.values())
        rows = await self._store.claim_deliveries(room, lease_s=_LEASE_S, each=EACH, under_way=under_way)
        for row in rows:
            flight = asyncio.create_task(self._fly(row), name=f"webhook-{row.id}")
            self._flights[flight] = row.tenant
            flight.add_done_callback(self._land)
        return bool(rows)

    def _land(self, flight: asyncio.Task[None]) -> None:
        del self._flights[flight]
        self._landed.set()
        if not flight.cancelled() and (error := flight.exception()) is not None:
            log.error(LogEvent.WEBHOOK_FAILED, exc_info=error)

    async def _fly(self, row: DeliveryRow) -> None:
        answer = await (self._notifier.send(row) if row.channel else self._send(row))
        done = delivery_after(row.id, row.attempts, answer, self._dice.random())
        if done.state is DeliveryState.DEAD:
            log.warning(
                LogEvent.WEBHOOK_FAILED, delivery=delivery_id(row.id), attempts=row.attempts, error=answer.error
            )
        await self._landings.add(done)

    async def _send(self, row: DeliveryRow) -> DeliveryAnswer:
        body = row.body.encode()
        name = delivery_id(row.id)
        secrets = [tenant_secret(master, row.tenant) for master in self._secrets]
        # The moment of the claim, by the store's clock: receivers refuse what a machine with a wrong clock signs.
        signed_at = int(row.due_at.timestamp() - _LEASE_S)
        headers = signed_headers(secrets, name, signed_at, body)
        return await self._sender.send(row.url, body, headers, tenant=row.tenant)

    async def _settle(self, landed: Sequence[Delivered]) -> Sequence[None]:
        await self._store.record_deliveries(landed)
        return [None] * len(landed)

    async def _prune(self) -> None:
        if time.monotonic() - self._pruned_at > _PRUNE_EVERY_S:
            self._pruned_at = time.monotonic()
            await self._store.prune_deliveries(delivered_s=DELIVERED_KEPT_S, dead_s=DEAD_KEPT_S)
