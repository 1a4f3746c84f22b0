"""Pages are watched for what they fetch where that is likely, and seldom elsewhere."""

from __future__ import annotations

from shoal.agent.chromium.devtools.fetching_sites import FetchingSites
from shoal.agent.support.web_addresses import address_parts, same_site


def test_a_site_that_fetches_nothing_is_watched_three_times_and_then_one_page_in_fifty() -> None:
    sites = FetchingSites()
    for _ in range(3):
        assert sites.watches("https://shop.example/a")
        sites.record_page("https://shop.example/a", fetched=False)
    watched = [sites.watches(f"https://shop.example/{n}") for n in range(200)]
    assert sum(watched) == 4
    assert sites.watches("https://other.example/")


def test_a_site_that_fetches_stays_watched_and_one_that_begins_to_is_watched_again() -> None:
    sites = FetchingSites()
    for n in range(20):
        assert sites.watches("https://shop.example/a")
        sites.record_page("https://shop.example/a", fetched=n % 3 == 0)
    for _ in range(3):
        sites.record_page("https://shop.example/a", fetched=False)
    assert not sites.watches("https://shop.example/a")
    sites.record_page("https://shop.example/a", fetched=True)
    assert sites.watches("https://shop.example/a")


def test_what_is_known_of_sites_is_bounded() -> None:
    sites = FetchingSites()
    for n in range(3_000):
        sites.record_page(f"https://{n}.example/", fetched=False)
    assert len(sites._sites) == 1_000


def test_a_site_is_its_host_and_what_lies_below() -> None:
    page = "https://www.shop.example/lamp"
    assert same_site(page, "https://www.shop.example/api")
    assert same_site(page, "https://shop.example/api")
    assert same_site(page, "https://api.shop.example/x")
    for other in (
        *("http://www.shop.example/api", "https://shop.example:8443/api", "https://notshop.example/api"),
        *("https://example/api", "https://other.example/api", "https://shop.example.evil.example/api", "data:,x"),
    ):
        assert not same_site(page, other), other
    assert not same_site("http://127.0.0.1:80/", "http://127.0.0.1:81/")
    assert not same_site("http://127.0.0.1/", "http://9.127.0.0.1/")
    assert not same_site("http://localhost/", "http://x.localhost/")


def test_what_a_page_writes_for_an_address_is_looked_at_without_a_fault() -> None:
    for text in ("http://[", "//[x", "https://shop:port/", "https://shop.example:99999/", ""):
        parts = address_parts(text)
        assert (parts.scheme, parts.netloc, parts.port) == ("", "", None), text
        assert FetchingSites().watches(text)
        assert not same_site("https://shop.example/", text)
        assert not same_site(text, "https://shop.example/")
