"""Messages for webhooks, written in the same transaction as the change that they tell of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.services.store.database import codec
from shoal.services.store.database.states import DELIVERY_STATES
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.records import DeliveryState

SESSIONS_FINISHED = "session.finished"
"""Items of one job ended in one commit."""
SESSIONS_UNSURE = "session.unsure"
"""Sessions of one job ended in one commit, and a person has to say what became of them."""
SESSION_WAITING = "session.waiting"
"""A session asks people something for the first time."""


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """What a job's owner may want to be told."""

    job: int
    tenant: str
    spec: JobSpec
    event: str
    data: Mapping[str, Json]


def announce(tx: Tx, messages: Iterable[WebhookMessage]) -> None:
    """Puts those messages into the outbox that the jobs' owners asked for, in this order, by one statement."""
    asked = ((message, message.spec.webhook) for message in messages)
    rows = (_row(tx, message, hook.url) for message, hook in asked if hook is not None and message.event in hook.events)
    tx.each("add_deliveries", [{"n": n, **row} for n, row in enumerate(rows)])


def _row(tx: Tx, message: WebhookMessage, url: str) -> dict[str, Json]:
    body = {
        "type": message.event,
        "at": datetime.fromtimestamp(tx.now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "job": job_id(message.job),
        "labels": message.spec.labels,
        **message.data,
    }
    return {
        "tenant": message.tenant,
        "job": message.job,
        "event": message.event,
        "url": url,
        "body": codec.dump_json(body),
        "state": DELIVERY_STATES.index(DeliveryState.WAITING),
        "at": tx.now,
    }
