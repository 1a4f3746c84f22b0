"""Which hosts are refused, in every spelling that a browser takes."""

from __future__ import annotations

import pytest

from shoal.services.addresses import Reach, forbidden_reason


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
