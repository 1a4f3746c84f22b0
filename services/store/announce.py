"""Messages for webhooks, written in the same transaction as the change that they tell of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agent.spec import JobSpec
from services.store import codec
from services.store.ids import job_id
from services.store.records import DeliveryState
from services.store.tables import delivery
from services.store.tx import Tx

Json = Any

DELIVERY_STATES = tuple(DeliveryState)
"""By the number that their column holds."""


def announce(tx: Tx, job: int, tenant: str, spec: JobSpec, event: str, data: Mapping[str, Json]) -> None:
    """Puts a message into the outbox, if the job's owner asked to be told of this kind of event."""
    if spec.webhook is None or event not in spec.webhook.events:
        return
    body = {
        "type": event,
        "at": datetime.fromtimestamp(tx.now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "job": job_id(job),
        "labels": spec.labels,
        **data,
    }
    tx.conn.execute(
        delivery.insert().values(
            tenant=tenant,
            job=job,
            event=event,
            url=spec.webhook.url,
            body=codec.dump_json(body),
            state=DELIVERY_STATES.index(DeliveryState.WAITING),
            due_at=tx.now,
            created_at=tx.now,
        )
    )
