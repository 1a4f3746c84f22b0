"""Which addresses are opened, in all the ways in which browsers read them."""

from __future__ import annotations

import pytest

from shoal.agent.errors import AddressForbidden
from shoal.agent.support.sites.sites import is_led_elsewhere
from shoal.agent.support.web_addresses import (
    canonical_address,
    check_opened,
    clipped_address,
    forbidden_page,
    is_web,
    leads_astray,
    link_key,
    page_address,
    scheme_of,
)


@pytest.mark.parametrize(
    "url", ["http://a.example/", "HTTPS://a.example", " \x00https://a.example/", "ht\ttp:a.example", "about:blank"]
)
def test_the_web_and_the_blank_page_are_opened(url: str) -> None:
    check_opened(url)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "\x1ffi\nle:///etc/passwd",
        "view-source:https://a.example/",
        "about:version",
        "about:blank#x",
        "data:text/html,x",
        "javascript:1",
        "blob:https://a.example/1",
        "filesystem:https://a.example/temporary/1",
        "chrome://settings",
        "x-shop:open",
        "//a.example/",
        "/a",
        "",
    ],
)
def test_nothing_else_is_opened(url: str) -> None:
    with pytest.raises(AddressForbidden):
        check_opened(url)


def test_callers_may_open_pages_that_they_wrote() -> None:
    check_opened("data:text/html,x", ("data",))
    with pytest.raises(AddressForbidden):
        check_opened("file:///x", ("data",))


@pytest.mark.parametrize("url", ["", "https://a.example/", "about:blank#x", "about:srcdoc", "blob:https://a.example/1"])
def test_pages_lead_their_windows_to_what_they_write_themselves(url: str) -> None:
    assert forbidden_page(url) is None


@pytest.mark.parametrize("url", ["file:///x", "chrome://gpu/", "devtools://devtools/", "filesystem:https://a.example/"])
def test_nothing_is_looked_at_anywhere_else(url: str) -> None:
    assert isinstance(forbidden_page(url), AddressForbidden)


def test_links_that_do_something_do_not_lead_astray() -> None:
    assert not any(map(leads_astray, ["/a", "#", "", "?p=2", "https://a.example", "javascript:open()", "mailto:a@b"]))
    assert all(map(leads_astray, ["file:///x", "view-source:https://a.example", "ftp://a.example", "x-shop:open"]))
    assert (scheme_of("a/b:c"), is_web("httpx://a.example")) == ("", False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://shop.example/p/1", "https://shop.example/p/1#reviews"),
        ("https://shop.example/p/1", "https://SHOP.example/p/1?utm_source=mail&utm_medium=x&gclid=9#top"),
        ("https://shop.example/p?id=1&q=a%20b", "https://shop.example/p?id=1&fbclid=Zz&q=a%20b&PHPSESSID=9f"),
        ("https://shop.example/p/1?id=1", "https://shop.example/p/1;jsessionid=0A1B2C.node3?id=1"),
        ("https://shop.example/p/1", "https://shop.example/p/1?sid=8f14e45fceea167a5a36"),
        ("https://shop.example", "https://shop.example/"),
        ("https://app.example/#/item/1", "https://app.example/?utm_campaign=w#/item/1"),
    ],
)
def test_addresses_of_one_page_are_one(one: str, other: str) -> None:
    assert canonical_address(one) == canonical_address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://app.example/#/item/1", "https://app.example/#/item/2"),
        ("https://app.example/#!one", "https://app.example/#!two"),
        ("https://news.example/story?sid=17", "https://news.example/story?sid=18"),
        ("https://shop.example/p?id=1", "https://shop.example/p?id=2"),
        ("https://shop.example/p?a=1&b=2", "https://shop.example/p?a=1&b="),
        ("https://shop.example/p;v=1", "https://shop.example/p;v=2"),
        ("http://shop.example/p", "https://shop.example/p"),
    ],
)
def test_addresses_of_two_pages_are_two(one: str, other: str) -> None:
    assert canonical_address(one) != canonical_address(other)


def test_what_is_compared_may_be_no_address() -> None:
    assert canonical_address(" http://[#x ") == "http://[#x"
    assert page_address("https://a.example/b#c") == "https://a.example/b"
    assert page_address("https://a.example/b#/c") == "https://a.example/b#/c"
    assert link_key("https://a.example/b#c", "See") == "https://a.example/b See"
    assert link_key("https://a.example/b", "See") == link_key("https://a.example/b?utm_source=x", "Look")


@pytest.mark.parametrize(
    ("link", "landed", "elsewhere"),
    [
        ("http://shop.example/p/1", "https://shop.example/p/1", False),
        ("http://shop.example/p/1", "https://www.shop.example/p/1", False),
        ("https://www.shop.example/p/1", "https://m.shop.example/p/1", False),
        ("https://a.shop.co.uk/p/1", "https://b.shop.co.uk/p/1", False),
        ("https://a.co.uk/p/1", "https://b.co.uk/p/1", True),
        ("https://a.github.io/p/1", "https://b.github.io/p/1", True),
        ("https://shop.example/p/1", "https://parked.example.net/p/1", True),
        ("https://shop.example/out?url=https%3A%2F%2Fother.example.net%2F7", "https://www.example.net/7", False),
        ("https://shop.example/out?to=notother.net", "https://other.net/7", True),
        ("https://shop.example/p/1", "about:blank", False),
        ("http://127.0.0.1:8001/p/1", "http://127.0.0.1:8002/p/1", True),
        ("http://127.0.0.1:8001/p/1", "http://127.0.0.1:8001/login", False),
        ("http://wiki/p/1", "http://intranet/p/1", True),
    ],
)
def test_a_link_that_ends_on_a_site_that_it_does_not_name_led_elsewhere(
    link: str, landed: str, elsewhere: bool
) -> None:
    assert is_led_elsewhere(link, landed) is elsewhere


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://a.example/b?page=2", "https://a.example/b?page=2"),
        (f"https://a.example/b?key={'k' * 300}", "https://a.example/b…"),
        (f"https://a.example/{'k' * 300}", "https://a.example…"),
        (f"data:text/html,{'k' * 300}", "data:…"),
        ("k" * 300, "…"),
    ],
)
def test_a_long_address_is_told_without_a_part_of_a_value(url: str, told: str) -> None:
    assert clipped_address(url) == told
