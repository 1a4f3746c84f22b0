"""The outbox of webhooks: messages that `announce` wrote, claimed to be sent, and shown to their owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from shoal.services.errors import NotFound
from shoal.services.store.database import codec
from shoal.services.store.database.states import DELIVERY_STATES
from shoal.services.store.database.tables import delivery
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import delivery_id
from shoal.services.store.read.reading import when
from shoal.services.store.records import Delivered, DeliveryFilter, DeliveryRow, DeliveryState

_SECRET = "webhook-secret"


# --- sent ------------------------------------------------------------------------------------------------


def claim_deliveries(tx: Tx, n: int, *, lease_s: float, each: int, under_way: Mapping[str, int]) -> list[DeliveryRow]:
    """Up to `n` messages whose time has come; with those `under_way` by tenant, at most `each` of one tenant.

    First come tenants that have least under way; equals take turns by chance, for the age of a message would give each
    place to the longest backlog.

    An attempt that is not settled within `lease_s` counts as lost, and the message is given out again.
    """
    flying = codec.dump_json(dict(under_way))
    claimed = tx.rows("claim_deliveries", n=n, each=each, under_way=flying, now=tx.now, until=tx.now + lease_s)
    return [_row(row) for row in sorted(claimed, key=lambda row: row.id)]


def record_deliveries(tx: Tx, group: Sequence[Delivered]) -> None:
    """Writes how attempts went; one whose message was given out again meanwhile changes nothing."""
    tx.each(
        "record_delivery",
        [
            {
                "id": delivered.id,
                "attempts": delivered.attempts,
                "state": DELIVERY_STATES.index(delivered.state),
                "due_at": tx.now + delivered.again_in_s,
                "ended_at": None if delivered.state is DeliveryState.WAITING else tx.now,
                "status_code": delivered.status_code,
                "error": delivered.error,
            }
            for delivered in sorted(group, key=lambda delivered: delivered.id)  # two senders lock in the same order
        ],
    )


def next_delivery_in_s(tx: Tx) -> float | None:
    """Seconds until the next message is due; None when none waits."""
    due_at = tx.run("next_delivery").scalar_one()
    return None if due_at is None else max(0.0, due_at - tx.now)


def prune_deliveries(tx: Tx, *, delivered_s: float, dead_s: float) -> int:
    """Forgets messages that ended longer ago than this."""
    return tx.run("prune_deliveries", delivered=tx.now - delivered_s, dead=tx.now - dead_s).rowcount


def webhook_secret(tx: Tx, fresh: str) -> str:
    """The secret that all gateways over this database sign with; `fresh` becomes it where there is none yet."""
    tx.run("keep_state", name=_SECRET, data=codec.dump_json({"secret": fresh}), at=tx.now)
    return str(codec.load_json(tx.run("one_state", name=_SECRET).scalar_one())["secret"])


# --- looked at by their owners ---------------------------------------------------------------------------


def list_deliveries(tx: Tx, delivery_filter: DeliveryFilter) -> list[DeliveryRow]:
    """Messages that match, newest first."""
    query = select(delivery).order_by(delivery.c.id.desc()).limit(delivery_filter.limit)
    if delivery_filter.tenant is not None:
        query = query.where(delivery.c.tenant == delivery_filter.tenant)
    if delivery_filter.states:
        query = query.where(delivery.c.state.in_([DELIVERY_STATES.index(state) for state in delivery_filter.states]))
    if delivery_filter.job is not None:
        query = query.where(delivery.c.job == delivery_filter.job)
    if delivery_filter.before is not None:
        query = query.where(delivery.c.id < delivery_filter.before)
    return [_row(row) for row in tx.conn.execute(query)]


def one_delivery(tx: Tx, number: int, tenant: str | None) -> DeliveryRow:
    """One message.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    row = tx.conn.execute(select(delivery).where(delivery.c.id == number)).one_or_none()
    if row is None or (tenant is not None and row.tenant != tenant):
        raise NotFound(f"there is no webhook delivery {delivery_id(number)}", delivery=number)
    return _row(row)


def resend(tx: Tx, number: int, tenant: str | None) -> DeliveryRow:
    """Makes a message due now; one that had ended begins anew with all its attempts.

    Raises:
        NotFound: it does not exist, or belongs to another tenant.
    """
    one_delivery(tx, number, tenant)
    tx.run("resend", id=number, now=tx.now)
    return one_delivery(tx, number, tenant)


def resend_dead(tx: Tx, tenant: str | None) -> int:
    """Makes every message due that was given up; says how many."""
    return tx.run("resend_dead", tenant=tenant, now=tx.now).rowcount


def count_deliveries(tx: Tx, tenant: str | None) -> dict[DeliveryState, int]:
    """Messages that wait and that were given up; delivered ones are not counted, there may be many."""
    return {DELIVERY_STATES[row.state]: int(row.n) for row in tx.rows("count_deliveries", tenant=tenant)}


def _row(row: Row[Any]) -> DeliveryRow:
    return DeliveryRow(
        id=row.id,
        tenant=row.tenant,
        job=row.job,
        event=row.event,
        url=row.url,
        body=row.body,
        state=DELIVERY_STATES[row.state],
        attempts=row.attempts,
        due_at=when(row.due_at),
        created_at=when(row.created_at),
        ended_at=None if row.ended_at is None else when(row.ended_at),
        status_code=row.status_code,
        error=row.error,
        channel=row.channel,
    )
