"""Which hosts are refused, in every spelling that a browser takes."""

from __future__ import annotations

import asyncio
import socket

import pytest

from services.addresses import HostNames, Reach, forbidden_reason


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("127.0.0.1", "loopback"),
        ("127.1", "loopback"),
        ("2130706433", "loopback"),
        ("0x7f000001", "loopback"),
        ("0x7f.0.0.1", "loopback"),
        ("0177.0.0.1", "loopback"),
        ("017700000001", "loopback"),
        ("127.0.0.1.", "loopback"),
        ("%31%32%37.0.0.1", "loopback"),
        ("１２７.0.0.1", "loopback"),
        ("127。0。0。1", "loopback"),
        ("①②⑦.0.0.1", "loopback"),
        ("localhost", "loopback"),
        ("LOCALHOST.", "loopback"),
        ("local\u00adhost", "loopback"),
        ("app.localhost", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("0", "unspecified"),
        ("0x", "unspecified"),
        ("10.1.2.3", "private"),
        ("172.31.255.255", "private"),
        ("192.168.0.1", "private"),
        ("100.64.0.1", "shared with the carrier"),
        ("100.127.255.254", "shared with the carrier"),
        ("169.254.1.1", "link-local"),
        ("169.254.169.254", "a metadata service"),
        ("168.63.129.16", "a metadata service"),
        ("100.100.100.200", "a metadata service"),
        ("metadata.google.internal", "a metadata service"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("198.18.0.1", "reserved for benchmarks"),
        ("::1", "loopback"),
        ("[::1]", "loopback"),
        ("::", "unspecified"),
        ("[::ffff:127.0.0.1]", "loopback"),
        ("[::ffff:a9fe:a9fe]", "a metadata service"),
        ("::10.0.0.1", "private"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b:1::1", "private"),
        ("2002:7f00:1::", "loopback"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "a metadata service"),
        ("fe80::1%eth0", "link-local"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "reserved for documentation"),
    ],
)
def test_an_inner_address_is_refused_however_it_is_spelled(host: str, reason: str) -> None:
    assert forbidden_reason(host) == reason


@pytest.mark.parametrize(
    "host",
    [
        "93.184.216.34",
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "192.169.0.1",
        "11.0.0.1",
        "2606:4700::1111",
        "64:ff9b::808:808",
        "example.com",
        "10.example.com",
        "localhost.example.com",
        "my-localhost",
        "256.1.1.1.1",
        "09.1.1.1",
    ],
)
def test_public_addresses_and_plain_names_pass(host: str) -> None:
    assert forbidden_reason(host) is None


def test_one_forbidden_address_of_a_name_forbids_the_name() -> None:
    assert forbidden_reason("rebind.example", ["93.184.216.34", "10.0.0.7"]) == "private (10.0.0.7)"
    assert forbidden_reason("rebind.example", ["93.184.216.34", "fe80::1%2"]) == "link-local (fe80::1%2)"
    assert forbidden_reason("public.example", ["93.184.216.34"]) is None


@pytest.mark.parametrize(
    ("exceptions", "host", "port", "addresses", "reason"),
    [
        ((), "127.0.0.1", 80, (), "loopback"),
        (("127.0.0.1",), "127.0.0.1", 80, (), None),
        (("127.0.0.1",), "127.1", 80, (), None),
        (("127.0.0.1:8080",), "127.0.0.1", 8080, (), None),
        (("127.0.0.1:8080",), "127.0.0.1", 22, (), "loopback"),
        (("[::1]:8080",), "::1", 8080, (), None),
        (("::1",), "::1", 1, (), None),
        (("10.0.0.0/8",), "10.200.0.1", 80, (), None),
        (("10.0.0.0/8",), "192.168.0.1", 80, (), "private"),
        (("10.0.0.0/8",), "shop.corp", 80, ("10.0.0.9",), None),
        (("10.0.0.0/8",), "shop.corp", 80, ("10.0.0.9", "127.0.0.1"), "loopback (127.0.0.1)"),
        (("shop.corp",), "SHOP.corp.", 80, ("192.168.0.1",), None),
        (("127.0.0.0/8",), "localhost", 80, ("127.0.0.1",), None),
        (("127.0.0.0/8",), "localhost", 80, ("127.0.0.1", "::1"), "loopback"),
    ],
)
def test_the_operators_exceptions_open_what_they_name_and_no_more(
    exceptions: tuple[str, ...], host: str, port: int, addresses: tuple[str, ...], reason: str | None
) -> None:
    assert Reach(exceptions=exceptions).refusal(host, port, addresses) == reason
    assert Reach(allow_private=True).refusal(host, port, addresses) is None


async def test_many_who_want_one_name_ask_once_and_names_are_asked_for_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    now = most = 0
    loop = asyncio.get_running_loop()

    async def slow(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        nonlocal now, most
        asked.append(host)
        now += 1
        most = max(most, now)
        for _turn in range(3):
            await asyncio.sleep(0)
        now -= 1
        return [(socket.AF_INET, 1, 6, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(loop, "getaddrinfo", slow)
    names = HostNames(at_once=2)
    wanted = [f"h{n % 5}.example" for n in range(50)]
    assert await asyncio.gather(*map(names.addresses, wanted)) == [("10.0.0.7",)] * 50
    assert sorted(asked) == sorted(set(wanted))
    assert most == 2


async def test_a_caller_that_gives_up_leaves_the_answer_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asyncio.Event()

    async def held(*_: object, **__: object) -> list[tuple[object, ...]]:
        await answer.wait()
        return [(socket.AF_INET, 1, 6, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", held)
    names = HostNames()
    first, second = (asyncio.create_task(names.addresses("one.example")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    answer.set()
    assert await second == ("10.0.0.7",)


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
