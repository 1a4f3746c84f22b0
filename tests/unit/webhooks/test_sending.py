"""From the end of a job to the receiver: signed, repeated, given up, sent again; never to a forbidden address."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from email.utils import formatdate
from typing import Any

import pytest

from shoal.services.addresses import Reach
from shoal.services.errors import NotAllowed
from shoal.services.store.records import Delivered, DeliveryFilter, DeliveryState
from shoal.services.webhooks import deliverer as module
from shoal.services.webhooks.deliverer import Deliverer
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.retry import PAUSES_S, DeliveryAnswer, delivery_after
from shoal.services.webhooks.sender import Sender
from shoal.services.webhooks.signature import signed_headers, tenant_secret, verify
from tests.gateway_world import FixedNames, World, completed, world
from tests.patience import soon
from tests.receiver import Receiver, receiving

MASTER = "m" * 32
NAMES = {"hooks.example": ["127.0.0.1"], "split.example": ["8.8.8.8", "10.0.0.1"]}


@asynccontextmanager
async def delivering(w: World, reach: Reach | None = None) -> AsyncIterator[None]:
    sender = Sender(reach or Reach(exceptions=("127.0.0.0/8",)), FixedNames(NAMES))
    task = asyncio.create_task(Deliverer(w.store, Notifier(sender), (MASTER,), seed=1).run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await sender.close()


async def until(w: World, state: DeliveryState, n: int = 1) -> None:
    async with soon(28):
        while len(await w.store.deliveries(DeliveryFilter(states=(state,)))) < n:
            await asyncio.sleep(0.01)


async def test_a_finished_job_is_told_to_its_receiver_and_the_signature_holds() -> None:
    async with receiving() as receiver, world(names=NAMES, rules=_rules()) as w, delivering(w):
        job = await w.submit(webhook={"url": f"{receiver.url}/in?team=a"})
        await w.run(lambda work: completed({"n": 1}))
        await until(w, DeliveryState.DELIVERED)
        ((headers, body),) = receiver.got
        assert headers["host"].startswith("hooks.example:") and headers["content-type"] == "application/json"
        told = json.loads(body)
        assert (told["type"], told["job"], told["status"]) == ("job.finished", job, "completed")
        assert verify(tenant_secret(MASTER, "default"), headers, body, time.time()) == "w1"
        with pytest.raises(NotAllowed):
            verify(tenant_secret(MASTER, "other"), headers, body, time.time())


async def test_a_gateway_whose_clock_is_wrong_signs_by_the_store_s() -> None:
    """Receivers refuse what was signed more than five minutes ago, or ahead."""

    def true_time() -> float:
        return time.time() - 600  # this machine is ten minutes ahead

    async with receiving() as receiver, world(names=NAMES, rules=_rules(), clock=true_time) as w, delivering(w):
        await w.submit(webhook={"url": receiver.url})
        await w.run(lambda work: completed())
        await until(w, DeliveryState.DELIVERED)
        ((headers, body),) = receiver.got
        assert verify(tenant_secret(MASTER, "default"), headers, body, true_time(), tolerance_s=5) == "w1"


async def test_a_failed_attempt_is_repeated_with_the_same_id_and_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.webhooks.retry.PAUSES_S", (0.01, 0.01))
    async with receiving() as receiver, world(names=NAMES, rules=_rules()) as w, delivering(w):
        receiver.answers = [500, 302, 200]
        await w.submit(webhook={"url": receiver.url})
        await w.run(lambda work: completed())
        await until(w, DeliveryState.DELIVERED)
        assert len(receiver.got) == 3
        assert len({(headers["webhook-id"], body) for headers, body in receiver.got}) == 1


async def test_a_dead_letter_is_seen_and_sent_again_over_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.webhooks.retry.PAUSES_S", ())
    async with receiving() as receiver, world(names=NAMES, rules=_rules()) as w, delivering(w):
        receiver.answers = [500]
        job = await w.submit(webhook={"url": receiver.url})
        await w.run(lambda work: completed())
        await until(w, DeliveryState.DEAD)
        (dead,) = (await w.client.get("/v1/webhooks", params={"state": "dead", "job": job})).json()["deliveries"]
        assert (dead["error"], dead["status_code"], dead["attempts"]) == ("HTTP 500: not today", 500, 1)
        assert "job.finished" in (await w.client.get(f"/v1/webhooks/{dead['id']}")).json()["body"]
        receiver.answers = [200]
        again = await w.client.post(f"/v1/webhooks/{dead['id']}/resend")
        assert again.status_code == 200 and again.json()["state"] == "waiting"
        await until(w, DeliveryState.DELIVERED)


@pytest.mark.parametrize("host", ["127.0.0.1", "split.example", "metadata.google.internal", "[::1]"])
async def test_a_forbidden_address_is_not_even_tried(host: str) -> None:
    sender = Sender(Reach(), FixedNames({**NAMES, "127.0.0.1": ["127.0.0.1"], "::1": ["::1"]}))
    answer = await sender.send(f"http://{host}:9/", b"{}", {})
    await sender.close()
    assert answer.refused and "is not allowed" in answer.error
    assert delivery_after(1, 1, answer, 0.5).state is DeliveryState.DEAD


async def test_a_name_that_does_not_resolve_or_answer_is_tried_again() -> None:
    sender = Sender(Reach(allow_private=True), FixedNames({"closed.example": ["127.0.0.1"]}))
    nowhere = await sender.send("https://nowhere.example/", b"{}", {})
    closed = await sender.send("http://closed.example:1/", b"{}", {})
    await sender.close()
    assert nowhere == DeliveryAnswer(error="nowhere.example does not resolve, or not in time")
    assert closed.error.startswith("ConnectError") and closed.status_code is None
    assert {delivery_after(1, 1, one, 0.5).state for one in (nowhere, closed)} == {DeliveryState.WAITING}


async def test_a_receiver_that_hangs_holds_up_its_own_tenant_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EACH", 2)
    async with receiving() as slow, receiving() as quick, world(names=NAMES, rules=_rules(), auth=True) as w:
        slow.hold = asyncio.Semaphore(0)
        await _tell(w, "loud", slow, 6)
        await _tell(w, "quiet", quick, 1)
        async with delivering(w):
            await until(w, DeliveryState.DELIVERED)
            assert len(quick.got) == 1 and len(slow.got) <= 2
            _answer(slow, 6)
            await until(w, DeliveryState.DELIVERED, 7)


async def test_the_first_place_that_hanging_receivers_leave_is_a_quiet_tenants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EACH", 2)
    monkeypatch.setattr(module, "AT_ONCE", 4)
    async with receiving() as slow, receiving() as quick, world(names=NAMES, rules=_rules(), auth=True) as w:
        slow.hold = asyncio.Semaphore(0)
        for tenant in ("loud", "noisy"):
            await _tell(w, tenant, slow, 6)
        async with delivering(w):
            await _reached(slow, 4)
            await _tell(w, "quiet", quick, 1)
            _answer(slow, 1)
            await until(w, DeliveryState.DELIVERED, 2)
            assert len(quick.got) == 1
            _answer(slow, 11)
            await until(w, DeliveryState.DELIVERED, 13)


async def test_messages_that_land_while_others_are_written_share_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    answered, groups = 0, list[int]()
    send = Sender.send

    async def noted(self: Sender, *message: Any, tenant: str = "") -> DeliveryAnswer:
        nonlocal answered
        answer = await send(self, *message)
        answered += 1
        return answer

    monkeypatch.setattr(Sender, "send", noted)
    async with receiving() as receiver, world(names=NAMES, rules=_rules(), auth=True) as w:
        settle = w.store.record_deliveries

        async def slow(group: Sequence[Delivered]) -> None:
            groups.append(len(group))
            while answered < 6:
                await asyncio.sleep(0.01)
            await settle(group)

        monkeypatch.setattr(w.store, "record_deliveries", slow)
        await _tell(w, "acme", receiver, 6)
        async with delivering(w):
            await until(w, DeliveryState.DELIVERED, 6)
        assert sum(groups) == 6 and len(groups) <= 2


async def _tell(w: World, tenant: str, receiver: Receiver, jobs: int) -> None:
    """So many of a tenant's jobs end, each with a message for its receiver."""
    key = await w.key("submit", tenant=tenant)
    for _ in range(jobs):
        spec = {"url": "https://shop.example/", "goal": "look", "webhook": {"url": receiver.url}}
        answer = await w.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 201, answer.text
    await w.run(lambda work: completed())


async def _reached(receiver: Receiver, messages: int) -> None:
    async with soon(28):
        while len(receiver.got) < messages:
            await asyncio.sleep(0.01)


def _answer(receiver: Receiver, times: int) -> None:
    assert receiver.hold is not None
    for _ in range(times):
        receiver.hold.release()


async def test_a_receiver_may_name_a_date_to_come_back_at() -> None:
    sender = Sender(Reach(exceptions=("127.0.0.0/8",)), FixedNames(NAMES))
    async with receiving() as receiver:
        receiver.answers = [503]
        receiver.headers = [(b"retry-after", formatdate(time.time() + 600, usegmt=True).encode())]
        answer = await sender.send(receiver.url, b"{}", {})
        receiver.headers = [(b"retry-after", b"soon")]
        other = await sender.send(receiver.url, b"{}", {})
    await sender.close()
    # Dates are whole seconds: the receiver's own may be one behind.
    assert 590 < answer.retry_after_s <= 602
    assert other.retry_after_s == 0.0


def test_pauses_grow_until_the_message_is_dead() -> None:
    down = DeliveryAnswer(503, "HTTP 503")
    pauses = [delivery_after(1, attempts, down, 0.5).again_in_s for attempts in range(1, len(PAUSES_S) + 1)]
    assert pauses == pytest.approx(list(PAUSES_S))
    last = delivery_after(1, len(PAUSES_S) + 1, down, 0.5)
    assert (last.state, last.error, last.status_code) == (DeliveryState.DEAD, "HTTP 503", 503)
    assert delivery_after(1, 1, DeliveryAnswer(410, "HTTP 410"), 0.5).state is DeliveryState.DEAD
    assert delivery_after(1, 1, DeliveryAnswer(429, "HTTP 429", retry_after_s=90), 0.0).again_in_s == 90
    assert delivery_after(1, 1, DeliveryAnswer(429, "HTTP 429", retry_after_s=1e6), 0.0).again_in_s == 3600


@pytest.mark.parametrize("spoil", ["body", "webhook-id", "webhook-timestamp", "webhook-signature", "age"])
def test_what_was_changed_or_is_old_does_not_verify(spoil: str) -> None:
    old, new = tenant_secret("o" * 32, "t"), tenant_secret("n" * 32, "t")
    headers = signed_headers([new, old], "w7", 1000, b"{}")
    assert verify(old, headers, b"{}", 1010.0) == verify(new, headers, b"{}", 1010.0) == "w7"
    body, now = b"{}", 1010.0
    if spoil == "body":
        body = b"[]"
    elif spoil == "age":
        now = 1301.0
    else:
        headers[spoil] = headers[spoil].replace("1", "2").replace("7", "8").replace("v", "w")
    with pytest.raises(NotAllowed):
        verify(new, headers, body, now)


def _rules() -> Any:
    from shoal.services.web.specs.specs import SpecRules

    return SpecRules(Reach(exceptions=("127.0.0.0/8",)))
