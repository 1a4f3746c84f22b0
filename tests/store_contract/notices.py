"""Notices for people: what they asked for, one for all that happens meanwhile, and not more often than they want."""

from __future__ import annotations

import json
from typing import Any

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.store.records import Delivered, DeliveryRow, DeliveryState
from tests.store_world import BROKEN, DONE, World, links, loop

LETTER: dict[str, Any] = {"by": "email", "to": "ops@example.com", "every_s": 3600}
EVERYTHING = ["job.finished", "job.failed", "session.unsure"]
SOON_S = 60.0


async def _leaving(w: World) -> list[DeliveryRow]:
    """Notices that leave within a minute."""
    w.clock.now += SOON_S
    return await w.store.claim_deliveries(100, lease_s=7200.0, each=100)


def _event_types(row: DeliveryRow) -> list[str]:
    return [event["type"] for event in json.loads(row.body)["events"]]


async def test_people_are_told_what_they_asked_for_and_in_one_notice(w: World) -> None:
    job = await w.submit(notify=[{**LETTER, "events": EVERYTHING}, {**LETTER, "by": "slack", "to": "secret:hook"}])
    (root,) = await w.claim()
    await w.finish((root, loop(links(3))))
    done, failed, unsure = await w.claim()
    await w.finish((done, DONE))
    await w.finish((failed, BROKEN))
    await w.finish((unsure, Outcome(Status.UNSURE)))
    await w.run_out()
    assert await w.store.next_delivery_in_s() != 0.0, "what comes soon after it is told with it"
    letter, chat = sorted(await _leaving(w), key=lambda row: row.channel)
    assert (letter.channel, letter.url, letter.tenant, letter.job) == ("email", "ops@example.com", "acme", job)
    assert _event_types(letter) == ["session.unsure", "job.failed"]
    assert (chat.channel, chat.url, _event_types(chat)) == ("slack", "secret:hook", ["session.unsure", "job.failed"])
    over = json.loads(letter.body)["events"][-1]
    assert (over["job"], over["counts"]["failed"]) == (f"j{job}", 1) and over["about"]


async def test_a_job_that_is_well_is_told_only_to_who_wants_every_end(w: World) -> None:
    await w.submit(notify=[{**LETTER, "events": ["job.failed"]}, {**LETTER, "to": "a@b.example", "events": EVERYTHING}])
    await w.run_out()
    (row,) = await _leaving(w)
    assert (row.url, _event_types(row)) == ("a@b.example", ["job.finished"])


async def test_runs_of_the_same_work_are_no_flood(w: World) -> None:
    notify = [{**LETTER, "events": EVERYTHING}]
    await w.submit(notify=notify)
    await w.run_out()
    (first,) = await _leaving(w)
    await w.store.record_deliveries([Delivered(first.id, first.attempts, DeliveryState.DELIVERED)])
    for _ in range(60):
        await w.submit(notify=notify)
        await w.run_out()
    await w.submit("other", notify=notify)
    await w.run_out()
    (other,) = await _leaving(w)
    assert other.tenant == "other", "one tenant's notices are not another's"
    w.clock.now += 3600.0
    later = [row for row in await _leaving(w) if row.tenant == "acme"]
    assert [(len(_event_types(row)), json.loads(row.body)["more"]) for row in later] == [(50, 10)]


async def test_what_happens_while_a_notice_is_on_its_way_is_another(w: World) -> None:
    notify = [{**LETTER, "every_s": 0, "events": EVERYTHING}]
    await w.submit(notify=notify)
    await w.run_out()
    (first,) = await _leaving(w)
    await w.submit(notify=notify)
    await w.run_out()
    (second,) = await _leaving(w)
    assert second.id != first.id and _event_types(second) == ["job.finished"]


async def test_a_person_is_told_of_a_session_that_waits_for_one(w: World) -> None:
    job = await w.submit(notify=[{**LETTER, "events": ["session.waiting"]}])
    held = await w.claim_one()
    asked = {"id": "1", "kind": "code", "tenant": "acme", "job": f"j{job}", "session": f"s{held.work.session}"}
    for _ in range(2):
        await w.store.put_question("question:1", {**asked, "question": "Which code?", "page": "https://x/"})
    (letter,) = await _leaving(w)
    assert _event_types(letter) == ["session.waiting"]
    assert json.loads(letter.body)["events"][0]["session"] == f"s{held.work.session}"
