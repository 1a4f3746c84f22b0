"""Which addresses are opened, in all the ways in which browsers read them."""

from __future__ import annotations

import pytest

from shoal.agent.errors import AddressForbidden
from shoal.agent.support.web_addresses import check_opened, forbidden_page, is_web, leads_astray, scheme_of


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
