"""Messages for webhooks and notices for people, written in the same transaction as the change that they tell of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, get_args

from pydantic import TypeAdapter

from shoal.agent.spec import JobSpec, NotifySpec
from shoal.agent.spec.notify_spec import NotifyEvent
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.services.events import JobEvent
from shoal.services.schedules.firing import RUN_KEY
from shoal.services.store.database import codec
from shoal.services.store.database.states import DELIVERY_STATES
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import job_id
from shoal.services.store.records import DeliveryState

SESSIONS_FINISHED = "session.finished"
"""Items of one job ended in one commit."""
SESSIONS_UNSURE = "session.unsure"
"""Sessions of one job ended in one commit, and a person has to say what became of them."""
JOB_FAILED = "job.failed"
"""To people alone: a job ended, and it or items of it are not completed."""
SESSION_WAITING = "session.waiting"
"""A session asks people something for the first time."""

OF_PEOPLE = frozenset(get_args(NotifyEvent))
"""Messages that people may be told of."""
TenantPeople: TypeAlias = Mapping[str, tuple[NotifySpec, ...]]
"""By tenant: who is told of jobs that do not say so themselves."""

_OF_TENANT = "notify:"
_PEOPLE = TypeAdapter(tuple[NotifySpec, ...])
_GATHER_S = 20.0
"""Seconds for which events after the first are told with it: a job's end comes with all that is known of it then."""
_MOST_EVENTS = 50
"""The last of so many are told of, and how many there were before."""


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """A message that a job's owner may want to get."""

    job: int
    tenant: str
    spec: JobSpec
    event: str
    data: Mapping[str, Json]


def announce(tx: Tx, messages: Iterable[WebhookMessage], default: TenantPeople | None = None) -> None:
    """Puts into the outbox what the jobs' owners asked for, in this order: messages, and notices for people.

    Args:
        default: whom tenants tell, where it was looked up already.
    """
    announced = list(messages)
    asked = ((message, message.spec.webhook) for message in announced)
    rows = (_row(tx, message, hook.url) for message, hook in asked if hook is not None and message.event in hook.events)
    tx.each("add_deliveries", [{"n": n, **row} for n, row in enumerate(rows)])
    of_people = [message for message in announced if message.event in OF_PEOPLE]
    if default is None:
        default = tenant_notify(tx, {message.tenant for message in of_people if message.spec.notify is None})
    for message in of_people:
        asked_by = message.spec.notify
        for people in default.get(message.tenant, ()) if asked_by is None else asked_by:
            if told_as := [event for event in _notice_events(message) if event in people.events]:
                _put_notice(tx, message, people, told_as[-1])


def tenant_notify(tx: Tx, tenants: Collection[str]) -> TenantPeople:
    """Whom tenants tell of jobs that do not say so themselves; tenants without any are left out."""
    rows = tx.rows("tenant_notify", names=tx.many(sorted(_OF_TENANT + name for name in tenants))) if tenants else ()
    kept = {row.name.removeprefix(_OF_TENANT): _PEOPLE.validate_json(row.data) for row in rows}
    return {tenant: people for tenant, people in kept.items() if people}


def set_tenant_notify(tx: Tx, tenant: str, people: tuple[NotifySpec, ...]) -> None:
    """Keeps whom a tenant tells of such jobs."""
    tx.run("put_state", name=_OF_TENANT + tenant, data=_PEOPLE.dump_json(people).decode(), at=tx.now)


def is_told(tx: Tx, tenant: str, spec: JobSpec, event: str) -> bool:
    """Return whether anyone is to be told of such an event of a job."""
    people = tenant_notify(tx, {tenant}).get(tenant, ()) if spec.notify is None else spec.notify
    hooks = () if spec.webhook is None else (spec.webhook,)
    return any(event in asked.events for asked in (*hooks, *people))


def _row(tx: Tx, message: WebhookMessage, url: str) -> dict[str, Json]:
    return {
        "tenant": message.tenant,
        "job": message.job,
        "event": message.event,
        "url": url,
        "body": codec.dump_json(_body(tx, message)),
        "state": DELIVERY_STATES.index(DeliveryState.WAITING),
        "at": tx.now,
    }


def _body(tx: Tx, message: WebhookMessage) -> dict[str, Json]:
    return {
        "type": message.event,
        "at": datetime.fromtimestamp(tx.now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "job": job_id(message.job),
        "name": message.spec.name,
        "labels": message.spec.labels,
        **message.data,
    }


def _notice_events(message: WebhookMessage) -> list[str]:
    """The names under which people may have asked for it, the gravest last."""
    if message.event != JobEvent.FINISHED.value:
        return [message.event]
    failed = message.data["status"] != Status.COMPLETED.value or message.data["counts"][Status.FAILED.value] > 0
    return [message.event, JOB_FAILED] if failed else [message.event]


def _work_of(message: WebhookMessage) -> str:
    """Equal for what is told together: all runs of one schedule, and all other jobs that do the same work."""
    key = message.spec.idempotency_key or ""
    if key.startswith(RUN_KEY):
        return ":".join(key.split(":")[:2])  # without the time of the run
    return codec.lineage_of(message.tenant, message.spec)


def _put_notice(tx: Tx, message: WebhookMessage, people: NotifySpec, event: str) -> None:
    """Adds to the notice about the same work that still waits, or begins another."""
    place = {"about": _work_of(message), "channel": people.by, "url": people.to}
    entry = {**_body(tx, message), "type": event, "about": message.spec.title}
    waiting = tx.run("waiting_notice", **place).one_or_none()
    if waiting is not None:
        body = codec.load_json(waiting.body)
        entries = [*body["events"], entry]
        body = {"events": entries[-_MOST_EVENTS:], "more": body["more"] + max(0, len(entries) - _MOST_EVENTS)}
        tx.run("add_to_notice", id=waiting.id, body=codec.dump_json(body), event=event, job=message.job)
        return
    last = tx.run("last_notice", **place).scalar()
    tx.run(
        "add_notice",
        **place,
        tenant=message.tenant,
        job=message.job,
        event=event,
        body=codec.dump_json({"events": [entry], "more": 0}),
        state=DELIVERY_STATES.index(DeliveryState.WAITING),
        due_at=max(tx.now + _GATHER_S, (last or 0.0) + people.every_s),
        at=tx.now,
    )
