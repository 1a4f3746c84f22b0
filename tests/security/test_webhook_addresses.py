"""Addresses that nobody can call are refused at the gate by their field, and dead at once where they are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shoal.agent.errors import HelpMissing
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.spec import JobSpec
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.network.robots_file import RobotsClient, RobotsState
from shoal.services.browsers.session_parts.webhook_helper import WebhookHelper
from shoal.services.store.records import DeliveryFilter, DeliveryRow, DeliveryState, NewJob
from shoal.services.webhooks.deliverer import Deliverer
from shoal.services.webhooks.notifier import Notifier
from shoal.services.webhooks.sender import Sender
from tests.gateway_world import World, completed
from tests.served_gateway import Served, served_gateway

UNCALLABLE = [
    "http://💩.example/",
    "http://xn--ls8h.example/",
    "http://256.1.1.1/",
    "http://09.1.1.1/",
    "http://a.example/" + "x" * 65_536,
    "http://xn--/",
    "http://ａ.example/",
    "http://a.example:0/",
]
UNOPENABLE = ["http://256.1.1.1/", "http://1.2.3.4.5/", "http://a.0x/", "http://a.example:0/", "http://a..b/"]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with served_gateway() as made:
        yield made


def refusal(served: Served, **spec: Any) -> list[str]:
    """The fields that are at fault."""
    answer = httpx.post(f"{served.url}/v1/jobs", json={"url": "http://shop.example/", "goal": "look", **spec})
    assert answer.status_code == 400, answer.text
    return [fault["field"] for fault in answer.json()["errors"]]


@pytest.mark.parametrize("url", UNCALLABLE)
def test_the_gate_refuses_what_cannot_be_called(served: Served, url: str) -> None:
    assert refusal(served, webhook={"url": url}) == ["webhook.url"]
    assert refusal(served, help={"webhook": url}) == ["help.webhook"]


@pytest.mark.parametrize("url", UNOPENABLE)
def test_the_gate_refuses_what_no_browser_opens(served: Served, url: str) -> None:
    assert refusal(served, url=url) == ["url"]
    assert refusal(served, loop={"values": ["http://shop.example/1", url]}) == ["loop.values[1]"]


def test_other_addresses_are_taken(served: Served) -> None:
    for url in ("http://bücher.example/", "http://a_b.example./", "http://[2606:4700::1111]/", "http://1.2.3/"):
        spec = {"url": url, "goal": "look", "webhook": {"url": url}}
        answer = httpx.post(f"{served.url}/v1/jobs", json=spec)
        assert answer.status_code == 201, answer.text
    # Browsers know names that IDNA 2008 does not.
    answer = httpx.post(f"{served.url}/v1/jobs", json={"url": "http://💩.example/", "goal": "look"})
    assert answer.status_code == 201, answer.text


def test_those_that_were_stored_before_are_dead_after_one_attempt(served: Served) -> None:
    urls = UNCALLABLE[:-1]

    async def deliver(here: World) -> list[DeliveryRow]:
        specs = [{"url": "http://shop.example/", "goal": "look", "webhook": {"url": url}} for url in urls]
        jobs = [NewJob("stored", JobSpec.model_validate(spec), "shop.example") for spec in specs]
        await here.store.submit(jobs)
        await here.run(lambda work: completed({"a": 1}))
        sender = Sender(Reach(), here.names)
        delivering = asyncio.create_task(Deliverer(here.store, Notifier(sender), ("m" * 32,)).run())
        dead = DeliveryFilter(tenant="stored", states=(DeliveryState.DEAD,))
        async with asyncio.timeout(60):
            while len(await here.store.deliveries(dead)) < len(urls):
                await asyncio.sleep(0.02)
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
        await sender.close()
        return await here.store.deliveries(dead)

    rows = served.do(deliver)
    assert {row.url for row in rows} == set(urls)
    assert {row.attempts for row in rows} == {1}
    assert all("is no address that can be called" in row.error for row in rows)


async def test_a_helper_with_such_an_address_says_so() -> None:
    spec = JobSpec.model_validate({"url": "http://shop.example/", "goal": "look"})
    async with httpx.AsyncClient() as http:
        helper = WebhookHelper("http://💩.example/", Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None), http)
        with pytest.raises(HelpMissing, match="cannot be called"):
            async with asyncio.timeout(60):
                await helper(Question("code", "Which?", "http://shop.example/", 5.0))


@pytest.mark.parametrize("url", ["http://💩.example", "http://xn--ls8h.example", "http://256.1.1.1"])
async def test_robots_of_a_host_that_only_browsers_know_are_none(url: str) -> None:
    client = RobotsClient()
    try:
        assert (await client.fetch(url)).state is RobotsState.NONE
    finally:
        await client.close()
