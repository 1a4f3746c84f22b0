"""Empties the outbox: claims what is due, sends it, writes how that went. Several may run over one database."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence

import structlog

from shoal.services.events import LogEvent
from shoal.services.store.database.batching import Batcher
from shoal.services.store.ids import delivery_id
from shoal.services.store.records import Delivered, DeliveryRow, DeliveryState
from shoal.services.store.store import Store
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.outbox_loop import OutboxLoop
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
_PRUNE_EVERY_S = 600.0
DELIVERED_KEPT_S = 7 * 86_400.0
DEAD_KEPT_S = 30 * 86_400.0


class Deliverer(OutboxLoop[DeliveryRow]):
    """Sends messages until it is canceled. What it holds may be lost: the store gives it out again."""

    def __init__(self, store: Store, notifier: Notifier, secrets: tuple[str, ...], *, seed: int | None = None) -> None:
        """`secrets`: the cluster's, newest first; each message is signed with all of them."""
        super().__init__(store, "webhooks", AT_ONCE, LogEvent.WEBHOOK_FAILED)
        self._notifier = notifier
        self._sender = notifier.sender
        self._secrets = secrets
        self._dice = random.Random(seed)
        self._landings = Batcher(self._settle)  # those that end together are one transaction
        self._pruned_at = float("-inf")

    async def _due_in_s(self) -> float | None:
        return await self._store.next_delivery_in_s()

    async def _claim(self, room: int, under_way: Mapping[str, int]) -> Sequence[DeliveryRow]:
        return await self._store.claim_deliveries(room, lease_s=_LEASE_S, each=EACH, under_way=under_way)

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

    async def _between(self) -> None:
        if time.monotonic() - self._pruned_at > _PRUNE_EVERY_S:
            self._pruned_at = time.monotonic()
            await self._store.prune_deliveries(delivered_s=DELIVERED_KEPT_S, dead_s=DEAD_KEPT_S)
