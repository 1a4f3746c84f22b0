"""The outbox of webhook messages, and questions, which are told of through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.agent.spec import NotifySpec
from shoal.agent.support.json_value import Json
from shoal.services.store.jobs import questions, webhook_messages, webhook_outbox
from shoal.services.store.records import (
    Delivered,
    DeliveryFilter,
    DeliveryRow,
    DeliveryState,
    JobRow,
)
from shoal.services.store.roles.on_database import OnDatabase


class Deliveries(OnDatabase):
    """Webhook messages are given out, their attempts written down; questions of sessions are kept."""

    async def put_question(self, name: str, question: Mapping[str, Json]) -> None:
        """Keeps what a session asks people, under a name; the first time its job's owner is told, if they want that.

        Args:
            question: with at least `id`, `kind`, `tenant`, `job` and `session`.
        """
        await self._db.write(lambda tx: questions.put_question(tx, name, question))

    async def claim_deliveries(
        self, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int] | None = None
    ) -> list[DeliveryRow]:
        """Gives out up to `n` messages that are due, first to tenants that have least under way.

        Args:
            each: messages of one tenant, those `under_way` included.
            under_way: how many the asker holds already, by tenant.

        An attempt that is not settled within `lease_s` counts as lost: its message is given out again.
        """
        return await self._db.write(
            lambda tx: webhook_outbox.claim_deliveries(tx, n, lease_s=lease_s, each=each, under_way=under_way or {})
        )

    async def record_deliveries(self, group: Sequence[Delivered]) -> None:
        """Writes how attempts went; one whose message was given out again meanwhile changes nothing."""
        await self._db.write(lambda tx: webhook_outbox.record_deliveries(tx, group))

    async def next_delivery_in_s(self) -> float | None:
        """Seconds until the next message is due; None when none waits."""
        return await self._db.read(webhook_outbox.next_delivery_in_s)

    async def prune_deliveries(self, *, delivered_s: float, dead_s: float) -> int:
        """Forgets messages that ended longer ago than this; says how many."""
        return await self._db.write(
            lambda tx: webhook_outbox.prune_deliveries(tx, delivered_s=delivered_s, dead_s=dead_s)
        )

    async def webhook_secret(self, fresh: str) -> str:
        """The secret that all gateways over this database sign with; `fresh` becomes it where there is none yet."""
        return await self._db.write(lambda tx: webhook_outbox.webhook_secret(tx, fresh))

    async def tenant_notify(self, tenant: str) -> tuple[NotifySpec, ...]:
        """Whom a tenant tells of jobs that do not say so themselves."""
        return (await self._db.read(lambda tx: webhook_messages.tenant_notify(tx, {tenant}))).get(tenant, ())

    async def set_tenant_notify(self, tenant: str, people: tuple[NotifySpec, ...]) -> None:
        """Keeps whom a tenant tells of such jobs, those that run included."""
        await self._db.write(lambda tx: webhook_messages.set_tenant_notify(tx, tenant, people))

    async def is_told(self, job: JobRow, event: str) -> bool:
        """Return whether anyone is to be told of such an event of a job."""
        return await self._db.read(lambda tx: webhook_messages.is_told(tx, job.tenant, job.spec, event))

    async def deliveries(self, delivery_filter: DeliveryFilter) -> list[DeliveryRow]:
        return await self._db.read(lambda tx: webhook_outbox.list_deliveries(tx, delivery_filter))

    async def delivery(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        return await self._db.read(lambda tx: webhook_outbox.one_delivery(tx, number, tenant))

    async def resend(self, number: int, *, tenant: str | None = None) -> DeliveryRow:
        """Makes a message due now; one that had ended begins anew with all its attempts."""
        return await self._db.write(lambda tx: webhook_outbox.resend(tx, number, tenant))

    async def resend_dead(self, *, tenant: str | None = None) -> int:
        """Makes every message due that was given up; says how many."""
        return await self._db.write(lambda tx: webhook_outbox.resend_dead(tx, tenant))

    async def count_deliveries(self, *, tenant: str | None = None) -> dict[DeliveryState, int]:
        """Messages that wait and that were given up; delivered ones are not counted."""
        return await self._db.read(lambda tx: webhook_outbox.count_deliveries(tx, tenant))
