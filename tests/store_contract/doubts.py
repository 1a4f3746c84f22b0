"""Sessions that did what must not be done twice: none of them is ever told as failed."""

from __future__ import annotations

import json

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Checkpoint, Outcome
from shoal.services.store.records import Finish
from tests.store_contract.leases import lose_until_over
from tests.store_world import World

S = Status
SENT = Checkpoint(url="https://shop.example/thanks", confirmed=("click on https://shop.example/order",))


async def test_a_session_that_sent_something_is_never_failed(w: World) -> None:
    """Whatever ends it for good: its last worker's death, its last error, one that is final, or the job's deadline."""
    gone = ErrorInfo("PageMissing", "page_missing", "https://shop.example/thanks answered 404", retryable=False)
    for end in ("lost", "given up", "own checkpoint", "deadline, running", "deadline, delayed"):
        late = {"deadline_s": 30} if end.startswith("deadline") else {}
        hook = {"url": "https://hooks.example/in", "events": ["session.unsure"]}
        job = await w.submit(max_attempts=1 + bool(late), repeatable=False, webhook=hook, **late)
        (held,) = await w.claim(job=job)
        session, fence = held.work.session, held.work.fence
        assert await w.store.checkpoint(session, fence, SENT)
        if end == "lost":
            await lose_until_over(w, held)
        elif end == "given up":
            await w.finish((held, Outcome(S.FAILED, error=gone)))
        elif end == "own checkpoint":
            await w.finish((held, Outcome(S.FAILED, error=gone, checkpoint=SENT)))
        else:
            if end == "deadline, delayed":
                again = Finish(session, fence, Outcome(S.QUEUED, error=gone), ready_in_s=1000)
                await w.report(again)
            w.clock.now += 31
            await w.store.expire_deadlines()
        row = await w.check_sums(job)
        assert (row.status, row.counts.unsure, row.counts.failed) == (S.UNSURE, 1, 0), end
        outcome = (await w.store.session(session)).row.outcome
        assert outcome is not None and outcome.error is not None
        assert outcome.error.code == "unsure_action" and "click on https://shop.example/order" in outcome.reason, end
        (told,) = [row for row in await w.store.claim_deliveries(100, lease_s=3600.0, each=100) if row.job == job]
        message = json.loads(told.body)
        assert (told.event, message["sessions"]) == ("session.unsure", [{"id": f"s{session}"}]), end
        await w.store.resolve_unsure(session, "again")
        if not late:
            (again_held,) = await w.claim(job=job)
            known = again_held.work.checkpoint
            assert known is not None and (known.pending_action, known.confirmed, known.steps) == ("", (), ())


async def test_a_session_that_the_site_refused_fails(w: World) -> None:
    job = await w.submit(max_attempts=1, repeatable=False)
    held = await w.claim_one()
    assert await w.store.checkpoint(held.work.session, held.work.fence, SENT)
    refused = ErrorInfo("FormRefused", "form_incomplete", "the form was not accepted", retryable=False)
    await w.finish((held, Outcome(S.FAILED, error=refused, checkpoint=Checkpoint())))
    assert (await w.check_sums(job)).status is S.FAILED
