"""Webhook messages: written with the change that they tell of, given out once, kept until somebody has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.services.errors import NotFound
from shoal.services.store.records import Delivered, DeliveryFilter, DeliveryRow, DeliveryState, NewJob
from tests.store_world import BROKEN, DONE, World, links, loop, spec

HOOK = {"url": "https://hooks.example/in", "events": ["job.finished", "session.finished"]}


async def due(w: World, n: int = 100, **how: Any) -> list[DeliveryRow]:
    """Messages that are given out now."""
    return await w.store.claim_deliveries(n, lease_s=30.0, **{"each": 100, **how})


async def test_a_job_that_ends_leaves_its_message_and_one_for_its_items(w: World) -> None:
    job = await w.submit(webhook=HOOK, name="lamps", labels={"team": "a"})
    assert await w.store.next_delivery_in_s() is None
    await w.run_out()
    items, over = await due(w)
    assert (items.event, over.event) == ("session.finished", "job.finished")
    assert over.url == "https://hooks.example/in" and over.tenant == "acme" and over.job == job
    told = json.loads(over.body)
    assert (
        told["job"] == f"j{job}"
        and told["status"] == "completed"
        and (told["name"], told["labels"]) == ("lamps", {"team": "a"})
    )
    assert told["counts"]["completed"] == 1
    assert [one["status"] for one in json.loads(items.body)["sessions"]] == ["completed"]


async def test_items_that_end_in_one_commit_are_one_message(w: World) -> None:
    job = await w.submit(webhook={**HOOK, "events": ["session.finished"]})
    (root,) = await w.claim()
    await w.finish((root, loop(links(3))))
    held = await w.claim()
    await w.finish(*((one, BROKEN if one is held[0] else DONE) for one in held))
    (message,) = await due(w)
    assert message.job == job
    assert sorted(one["status"] for one in json.loads(message.body)["sessions"]) == ["completed", "completed", "failed"]


async def test_a_job_that_is_paused_says_so_once(w: World) -> None:
    job = await w.submit(webhook={**HOOK, "events": ["job.paused"]})
    await w.store.pause(job)
    await w.store.resume(job)
    (message,) = await due(w)
    told = json.loads(message.body)
    assert (message.event, told["job"], told["counts"]["completed"]) == ("job.paused", f"j{job}", 0)


async def test_nobody_is_told_who_did_not_ask(w: World) -> None:
    await w.submit()
    await w.submit(webhook={"url": "https://hooks.example/in", "events": ["session.finished"]})
    for claimed in await w.claim():
        await w.store.cancel(claimed.work.job)
    await w.run_out()
    assert [row.event for row in await due(w)] == []


async def test_sessions_that_end_unsure_in_one_commit_are_one_message(w: World) -> None:
    job = await w.submit(webhook={**HOOK, "events": ["session.unsure"]})
    (root,) = await w.claim()
    await w.finish((root, loop(links(4))))
    unsure, other, done, failed = await w.claim()
    doubt = Outcome(Status.UNSURE)
    await w.finish((unsure, doubt), (other, doubt), (done, DONE), (failed, BROKEN))
    (message,) = await due(w)
    assert (message.job, message.event) == (job, "session.unsure")
    told = [one["id"] for one in json.loads(message.body)["sessions"]]
    assert sorted(told) == sorted(f"s{held.work.session}" for held in (unsure, other))


async def test_a_question_is_told_once_and_only_to_who_asked_for_it(w: World) -> None:
    wants = await w.submit(webhook={**HOOK, "events": ["session.waiting"]})
    other = await w.submit("other", webhook=HOOK)
    gone = other + 1
    again = await w.another()
    for job, tenant in ((wants, "acme"), (other, "other"), (gone, "acme")):
        question = {"id": f"{job}" * 32, "kind": "code", "tenant": tenant, "job": f"j{job}", "session": "s1"}
        for store in (w.store, again, w.store):
            await store.put_question(
                f"question:{job}", {**question, "question": "Which code?", "page": "https://x/?k=1"}
            )
    assert len(await w.store.states("question:")) == 3
    (message,) = await due(w)
    assert (message.job, message.tenant, message.event) == (wants, "acme", "session.waiting")
    told = json.loads(message.body)
    assert {name: told[name] for name in ("session", "question", "kind")} == {
        "session": "s1",
        "question": f"{wants}" * 32,
        "kind": "code",
    }
    assert "Which code?" not in message.body and "https://x" not in message.body


async def test_a_question_that_is_still_asked_stays_open(w: World) -> None:
    job = await w.submit()
    question = {"id": "1", "kind": "code", "tenant": "acme", "job": f"j{job}", "session": "s1"}
    await w.store.put_question("question:1", question)
    w.clock.now += 20
    await w.store.put_question("question:1", {**question, "kind": "captcha"})
    w.clock.now += 20
    ((kept, age_s),) = (await w.store.states("question:")).values()
    assert (kept["kind"], age_s) == ("captcha", pytest.approx(20))


async def test_a_canceled_job_and_one_past_its_deadline_tell_too(w: World) -> None:
    canceled = await w.submit(webhook={"url": "https://hooks.example/in"})
    late = await w.submit(webhook={"url": "https://hooks.example/in"}, deadline_s=5)
    await w.store.cancel(canceled)
    w.clock.now += 6
    await w.store.expire_deadlines()
    told = {row.job: json.loads(row.body)["status"] for row in await due(w)}
    assert told == {canceled: "canceled", late: "failed"}


async def test_a_message_is_given_to_one_sender_and_again_when_that_one_is_lost(w: World) -> None:
    await _messages(w, 1)
    (first,) = await due(w)
    assert (first.attempts, first.state) == (1, DeliveryState.WAITING)
    other = await w.another()
    assert await other.claim_deliveries(10, lease_s=30.0, each=10) == []
    assert await w.store.next_delivery_in_s() == pytest.approx(30.0)
    w.clock.now += 31
    (second,) = await other.claim_deliveries(10, lease_s=30.0, each=10)
    assert (second.id, second.attempts) == (first.id, 2)
    # The lost one comes back: what it says does not count, for another attempt is under way.
    await w.store.record_deliveries([Delivered(first.id, first.attempts, DeliveryState.DELIVERED, status_code=200)])
    assert (await w.store.delivery(first.id)).state is DeliveryState.WAITING
    await w.store.record_deliveries([Delivered(first.id, 2, DeliveryState.DELIVERED, status_code=204)])
    row = await w.store.delivery(first.id)
    assert (row.state, row.status_code) == (DeliveryState.DELIVERED, 204) and row.ended_at is not None


async def test_a_failed_attempt_waits_and_a_dead_letter_can_be_sent_again(w: World) -> None:
    await _messages(w, 2)
    one, two = await due(w)
    await w.store.record_deliveries(
        [
            Delivered(one.id, 1, DeliveryState.WAITING, again_in_s=60.0, status_code=503, error="HTTP 503"),
            Delivered(two.id, 1, DeliveryState.DEAD, error="gone"),
        ]
    )
    assert await due(w) == []
    assert await w.store.count_deliveries(tenant="acme") == {DeliveryState.WAITING: 1, DeliveryState.DEAD: 1}
    assert await w.store.count_deliveries(tenant="other") == {}
    (dead,) = await w.store.deliveries(DeliveryFilter("acme", (DeliveryState.DEAD,)))
    assert (dead.id, dead.error) == (two.id, "gone")
    with pytest.raises(NotFound):
        await w.store.resend(two.id, tenant="other")
    again = await w.store.resend(two.id, tenant="acme")
    assert (again.state, again.attempts) == (DeliveryState.WAITING, 0)
    assert [row.id for row in await due(w)] == [two.id]
    w.clock.now += 61
    assert {row.id for row in await due(w)} == {one.id, two.id}
    await w.store.record_deliveries([Delivered(one.id, 2, DeliveryState.DEAD)])
    assert await w.store.resend_dead(tenant="other") == 0
    assert await w.store.resend_dead(tenant="acme") == 1
    assert [row.id for row in await due(w)] == [one.id]


async def test_one_tenants_flood_leaves_room_for_the_others(w: World) -> None:
    await _messages(w, 5, tenant="loud")
    await _messages(w, 1, tenant="quiet")
    assert [row.tenant for row in await due(w, 3, each=2)].count("loud") == 2
    assert [row.tenant for row in await due(w, 10, each=2, under_way={"loud": 2})] == []
    assert [row.tenant for row in await due(w, 10, each=2, under_way={"loud": 1})] == ["loud"]
    assert {row.tenant for row in await due(w, 10)} == {"loud"}


async def test_a_place_that_is_free_goes_to_the_tenant_that_has_least_under_way(w: World) -> None:
    for tenant in ("loud", "noisy"):
        await _messages(w, 4, tenant=tenant)
    w.clock.now += 1
    await _messages(w, 2, tenant="quiet")
    given = await due(w, 1, each=8, under_way={"loud": 7, "noisy": 7})
    assert [row.tenant for row in given] == ["quiet"]
    given = await due(w, 2, each=8, under_way={"loud": 6, "noisy": 7, "quiet": 1})
    assert {row.tenant for row in given} == {"quiet", "loud"}


async def test_a_backlog_hides_no_other_tenants_message(w: World) -> None:
    job = NewJob("loud", spec(webhook={"url": "https://hooks.example/in"}), "shop.example")
    await w.store.submit([job] * 600)
    await w.run_out()
    w.clock.now += 1
    await _messages(w, 1, tenant="quiet")
    given = await due(w, 1, each=8, under_way={"loud": 7})
    assert [row.tenant for row in given] == ["quiet"]


async def test_tenants_that_hold_the_same_take_turns_by_chance_and_not_by_age(w: World) -> None:
    await _messages(w, 40, tenant="loud")
    w.clock.now += 1
    await _messages(w, 40, tenant="quiet")
    first = [(await due(w, 1, each=8))[0].tenant for _ in range(40)]
    assert set(first) == {"loud", "quiet"}


async def test_messages_are_forgotten_after_their_time_or_with_their_job(w: World) -> None:
    await _messages(w, 3)
    done, dead, open_ = await due(w)
    await w.store.record_deliveries(
        [Delivered(done.id, 1, DeliveryState.DELIVERED), Delivered(dead.id, 1, DeliveryState.DEAD)]
    )
    w.clock.now += 100
    assert await w.store.prune_deliveries(delivered_s=50, dead_s=200) == 1
    assert {row.id for row in await w.store.deliveries(DeliveryFilter())} == {dead.id, open_.id}
    w.clock.now += 101
    assert await w.store.prune_deliveries(delivered_s=50, dead_s=200) == 1
    await w.store.delete(open_.job)
    assert await w.store.deliveries(DeliveryFilter()) == []


async def test_everybody_signs_with_the_secret_that_was_first(w: World) -> None:
    other = await w.another()
    assert await w.store.webhook_secret("mine") == "mine"
    assert await other.webhook_secret("theirs") == "mine"


async def _messages(w: World, n: int, *, tenant: str = "acme") -> None:
    """Jobs that ended, each with one message."""
    for _ in range(n):
        await w.submit(tenant, webhook={"url": "https://hooks.example/in"})
    await w.run_out()
