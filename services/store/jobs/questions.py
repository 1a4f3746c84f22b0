"""Questions that running sessions ask people, kept as snapshots while they are asked."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.agent.support.json_value import Json
from shoal.services.store.database import codec
from shoal.services.store.database.transaction import Tx
from shoal.services.store.ids import parse_job
from shoal.services.store.jobs.rows import UNSAID, specs_of
from shoal.services.store.jobs.webhook_messages import SESSION_WAITING, WebhookMessage, announce
from shoal.services.store.read.snapshots import put_state


def put_question(tx: Tx, name: str, question: Mapping[str, Json]) -> None:
    """Keeps a question, or that it is still asked; the first time the job's owner is told, where they asked for it.

    The message holds neither the question nor its page: those are for callers who may see the session.
    """
    if not tx.rows("add_state", name=name, data=codec.dump_json(dict(question)), at=tx.now):
        put_state(tx, name, question)
        return
    job = parse_job(question["job"])
    data = {"session": question["session"], "question": question["id"], "kind": question["kind"]}
    spec = specs_of(tx, {job}).get(job, UNSAID)
    announce(tx, [WebhookMessage(job, question["tenant"], spec, SESSION_WAITING, data)])
