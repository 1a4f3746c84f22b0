"""robots.txt as RFC 9309 reads it, over real connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from email.utils import formatdate

import pytest

from shoal.agent.errors import AddressForbidden, HostUnreachable, ServerBusy, ServerFailed
from shoal.services.addresses import Reach
from shoal.services.browsers.network.egress import EgressProxy
from shoal.services.browsers.network.robots import Robots
from tests.robots_site import RULES, Site
from tests.store_world import Clock


@pytest.fixture
async def robots(clock: Clock) -> AsyncIterator[Robots]:
    opened = Robots(clock=clock)
    yield opened
    await opened.close()


async def test_rules_of_the_token_hold_and_the_longest_wins(site: Site, robots: Robots) -> None:
    site.body = RULES
    allowed = {
        path: await robots.allowed(site.url + path)
        for path in ("/", "/private", "/private/open/x", "/a.pdf", "/a.pdf?x", "/robots.txt")
    }
    assert allowed == {
        "/": True,
        "/private": False,
        "/private/open/x": True,
        "/a.pdf": False,
        "/a.pdf?x": True,
        "/robots.txt": True,
    }
    assert await robots.allowed(site.url + "/", "Other") is False
    assert await robots.crawl_delay(site.url + "/") == 1.5
    assert await robots.crawl_delay(site.url + "/", "Other") is None
    assert site.asked == ["/robots.txt"]


async def test_many_waiting_sessions_cause_one_fetch(site: Site, robots: Robots) -> None:
    site.body = RULES
    site.open.clear()
    waiting = [asyncio.create_task(robots.allowed(f"{site.url}/private/{n}")) for n in range(200)]
    async with asyncio.timeout(60):
        while not site.asked:
            await asyncio.sleep(0.005)
    waiting[0].cancel()  # the one that began the fetch gives up; the others still get their answer
    site.open.set()
    answers = await asyncio.gather(*waiting[1:])
    assert answers == [False] * 199
    assert site.asked == ["/robots.txt"]


@pytest.mark.parametrize("status", ["404 Not Found", "401 Unauthorized", "403 Forbidden", "410 Gone"])
async def test_no_robots_txt_allows_everything(site: Site, robots: Robots, status: str) -> None:
    site.status, site.body = status, b"User-agent: *\nDisallow: /"
    assert await robots.allowed(site.url + "/x") is True


async def test_a_robots_txt_that_hangs_is_told_as_that_not_as_a_host_that_is_away(
    site: Site, robots: Robots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.services.browsers.network.robots_file.FETCH_S", 1.0)
    site.open.clear()
    with pytest.raises(HostUnreachable, match=r"/robots\.txt was not answered to its end within 1 s") as caught:
        await robots.allowed(site.url + "/x")
    assert "cannot be reached" not in str(caught.value)
    site.open.set()


async def test_a_site_may_name_a_date_to_come_back_at(site: Site, robots: Robots) -> None:
    site.status = "503 Service Unavailable"
    site.fields = f"Retry-After: {formatdate(time.time() + 600, usegmt=True)}\r\n"
    with pytest.raises(ServerBusy) as caught:
        await robots.allowed(site.url + "/x")
    assert 590 < float(str(caught.value.details["retry_after_s"])) <= 600


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("500 Internal Server Error", ServerFailed),
        ("503 Service Unavailable", ServerBusy),
        ("429 Too Many Requests", ServerBusy),
    ],
)
async def test_a_site_that_cannot_answer_is_left_alone_and_asked_again_later(
    site: Site, robots: Robots, clock: Clock, status: str, error: type[Exception]
) -> None:
    site.status, site.fields = status, "Retry-After: 7\r\n"
    for _ in range(2):
        with pytest.raises(error) as caught:
            await robots.allowed(site.url + "/x")
        assert caught.value.details["retry_after_s"] == 7  # type: ignore[attr-defined]
    assert len(site.asked) == 1
    clock.now += 61
    site.status = "200 OK"
    assert await robots.allowed(site.url + "/x") is True
    assert len(site.asked) == 2


async def test_a_host_that_is_not_there_is_unreachable_not_forbidden(site: Site, robots: Robots) -> None:
    with pytest.raises(HostUnreachable, match=r"^http://127\.0\.0\.1:1 cannot be reached"):
        await robots.allowed("http://127.0.0.1:1/x")
    with pytest.raises(HostUnreachable):
        await robots.allowed("http://name.invalid/x")


@pytest.mark.parametrize(
    ("cache_control", "kept_s"),
    [("", 3600), ("max-age=7200", 7200), ("public, max-age=1", 300), ("max-age=31536000", 86400), ("no-store", 3600)],
)
async def test_rules_are_kept_as_long_as_the_site_says_within_bounds(
    site: Site, robots: Robots, clock: Clock, cache_control: str, kept_s: float
) -> None:
    site.fields = f"Cache-Control: {cache_control}\r\n" if cache_control else ""
    await robots.allowed(site.url)
    clock.now += kept_s - 1
    await robots.allowed(site.url)
    assert len(site.asked) == 1
    clock.now += 2
    await robots.allowed(site.url)
    assert len(site.asked) == 2


async def test_a_huge_file_is_read_to_the_limit_and_no_line_is_cut(site: Site, robots: Robots) -> None:
    line = b"Disallow: /private-%06d\n"
    site.body = b"User-agent: *\n" + b"".join(line % number for number in range(40_000))
    assert len(site.body) > 2 * 500 * 1024
    assert await robots.allowed(site.url + "/private-000000") is False
    assert await robots.allowed(site.url + "/private-039999") is True, "beyond the limit"
    last = (500 * 1024 - len(b"User-agent: *\n")) // len(line % 0)
    assert await robots.allowed(f"{site.url}/private-{last - 1:06d}") is False
    assert await robots.allowed(f"{site.url}/private-{last:06d}") is True, "a cut rule would be a wider one"


async def test_a_redirect_is_followed_and_a_loop_counts_as_no_file(site: Site, robots: Robots) -> None:
    site.status, site.fields = "302 Found", f"Location: {site.url}/robots.txt\r\n"
    assert await robots.allowed(site.url + "/x") is True
    assert len(site.asked) == 6, "the first and five more"


async def test_odd_bytes_and_pages_in_its_place_do_no_harm(site: Site, robots: Robots) -> None:
    site.body = b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xff\xfe\n<html>not found</html>\nDisallow: /x"
    assert await robots.allowed(site.url + "/x") is False
    assert await robots.allowed(site.url + "/y") is True


async def test_addresses_without_robots_txt_are_allowed(robots: Robots) -> None:
    assert await robots.allowed("about:blank") is True
    assert await robots.allowed("data:text/html,x") is True


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_behind_the_egress_proxy_a_forbidden_host_is_named_as_such(site: Site, scheme: str) -> None:
    async with EgressProxy(Reach()) as proxy:
        robots = Robots(proxy=proxy.url)
        with pytest.raises(AddressForbidden):
            await robots.allowed(site.url.replace("http", scheme))
        await robots.close()
    assert site.asked == []


async def test_behind_the_egress_proxy_an_allowed_host_is_read(site: Site) -> None:
    site.body = RULES
    async with EgressProxy(Reach(exceptions=("127.0.0.0/8",))) as proxy:
        robots = Robots(proxy=proxy.url)
        assert await robots.allowed(site.url + "/private") is False
        with pytest.raises(HostUnreachable):
            await robots.allowed("https://127.0.0.1:1/")
        with pytest.raises(HostUnreachable):
            await robots.allowed("http://127.0.0.1:1/")
        await robots.close()
