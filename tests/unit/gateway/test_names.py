"""Names to addresses: asked once, remembered, and shared out so that nobody's slow names hold up anybody else."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from shoal.services.names import HostNames
from tests.patience import PATIENCE_S

HANGS_S = 2 * PATIENCE_S


class Resolver:
    """Names that begin with `slow` hang until `release` is set; others have one address."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked: list[str] = []
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, name: str) -> tuple[str, ...]:
        with self._lock:
            self.asked.append(name)
            self.now += 1
            self.most = max(self.most, self.now)
        if name.startswith("slow"):
            self.release.wait(HANGS_S)
        with self._lock:
            self.now -= 1
        return ("192.0.2.7",)


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    made = Resolver()
    yield made
    made.release.set()


async def until(met: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not met():
            await asyncio.sleep(0.005)


@contextmanager
def at_once(names: HostNames, owner: str, count: int) -> Iterator[None]:
    """`count` look-ups of an owner that hang."""
    tasks = [asyncio.create_task(names.addresses(f"slow{n}.{owner}.example", owner)) for n in range(count)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def test_many_who_want_one_name_ask_once_and_an_owner_alone_has_half_of_the_threads(resolver: Resolver) -> None:
    names = HostNames(at_once=4, resolve=resolver)
    wanted = [f"h{n % 5}.example" for n in range(50)]
    assert await asyncio.gather(*map(names.addresses, wanted)) == [("192.0.2.7",)] * 50
    assert sorted(resolver.asked) == sorted(set(wanted))
    with at_once(names, "one", 10):
        await until(lambda: resolver.now == 2)
    assert resolver.most == 2


async def test_names_that_hang_keep_nobody_elses_names_waiting(resolver: Resolver) -> None:
    """However many tenants do it: there is a thread for the next one."""
    names = HostNames(at_once=16, timeout_s=HANGS_S, resolve=resolver)
    with at_once(names, "a", 100), at_once(names, "b", 100), at_once(names, "c", 100):
        await until(lambda: resolver.now >= 10)
        began = time.monotonic()
        assert await names.addresses("shop.example", "good") == ("192.0.2.7",)
        assert time.monotonic() - began < PATIENCE_S, "not after the names that hang"
        assert "slow50.a.example" not in resolver.asked


async def test_a_name_that_waits_behind_anothers_slow_names_is_asked_for_at_once(resolver: Resolver) -> None:
    names = HostNames(at_once=4, timeout_s=HANGS_S, resolve=resolver)
    with at_once(names, "bad", 2):
        await until(lambda: resolver.now == 2)
        waiting = asyncio.create_task(names.addresses("shop.example", "bad"))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_S):
            assert await names.addresses("shop.example", "good") == ("192.0.2.7",)
            assert await waiting == ("192.0.2.7",)


async def test_a_share_is_given_back_when_the_resolver_gives_up_not_before(resolver: Resolver) -> None:
    names = HostNames(at_once=2, timeout_s=0.05, resolve=resolver)
    assert await names.addresses("slow.example", "a") == ()
    assert await names.addresses("other.example", "a") == (), "its only thread still hangs"
    resolver.release.set()
    await until(lambda: resolver.now == 0)
    assert await names.addresses("other.example", "a") == ("192.0.2.7",)
    assert await names.addresses("slow.example", "a") == ("192.0.2.7",), "an answer that came late is remembered"
    assert resolver.asked == ["slow.example", "other.example"]


async def test_nobody_waits_for_a_name_that_somebody_has_waited_for_in_vain(resolver: Resolver) -> None:
    names = HostNames(timeout_s=1, resolve=resolver)
    assert await names.addresses("slow.example") == ()
    began = time.monotonic()
    assert await asyncio.gather(*(names.addresses("slow.example") for _ in range(50))) == [()] * 50
    assert time.monotonic() - began < 0.9
    assert resolver.asked == ["slow.example"]


async def test_names_that_nobody_waits_for_any_more_are_not_asked_for(resolver: Resolver) -> None:
    names = HostNames(at_once=2, timeout_s=0.05, resolve=resolver)
    wanted = [f"slow{n}.example" for n in range(100)]
    assert await asyncio.gather(*(names.addresses(name) for name in wanted)) == [()] * 100
    resolver.release.set()
    await until(lambda: resolver.now == 0)
    assert resolver.asked == ["slow0.example"]


async def test_a_caller_that_gives_up_leaves_the_answer_to_the_others(resolver: Resolver) -> None:
    names = HostNames(resolve=resolver)
    first, second = (asyncio.create_task(names.addresses("slow.example")) for _ in range(2))
    await until(lambda: resolver.now == 1)
    first.cancel()
    resolver.release.set()
    assert await second == ("192.0.2.7",)


async def test_names_are_resolved_once_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fake_getaddrinfo(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        if host == "gone.example":
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, 1, 6, "", ("10.0.0.7", 0)), (socket.AF_INET, 1, 6, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", fake_getaddrinfo)
    names = HostNames(size=2)
    assert await names.addresses("Inner.example.") == ("10.0.0.7",)
    assert await names.addresses("inner.example") == ("10.0.0.7",)
    assert await names.addresses("gone.example") == ()
    assert await names.addresses("127.1") == ("127.1",)
    assert asked == ["inner.example", "gone.example"]
    await names.addresses("third.example")
    await names.addresses("inner.example")
    assert asked.count("inner.example") == 2, "the oldest name was forgotten when the memory was full"
