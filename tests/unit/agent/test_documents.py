"""Documents without a browser: when they count, what they are asked with, and what is left to a browser."""

from __future__ import annotations

import random
from typing import Any

import pytest

from shoal.agent.documents.addresses import resolved
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument, ReadDocument
from shoal.agent.documents.fetching import Visitor, cookie_header, fetched
from shoal.agent.documents.serving import documents_serve
from shoal.agent.documents.trust import SAMPLES, DocumentTrust, Mode, TrustedSites
from shoal.agent.spec import JobSpec

HTML = "text/html; charset=utf-8"
PRICE = {"fields": {"price": {"kind": "select", "query": ".price", "attribute": None}}}


def raw(body: str | bytes, content_type: str = HTML, **headers: str) -> RawDocument:
    data = body.encode() if isinstance(body, str) else body
    return RawDocument("http://shop.example/p/1", 200, {"content-type": content_type, **headers}, data)


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def read(body: str, head: str = "") -> ReadDocument:
    return HtmlDocument(raw(page(body, head))).read(PRICE)


def stated(found: ReadDocument) -> list[Any]:
    return [one["t"] for one in found.view["records"][0]["f"]["price"]]


def trusting(*pages: ReadDocument) -> DocumentTrust:
    """A trust that has seen each of `pages` as often as is needed."""
    trust = DocumentTrust(random.Random(0))
    for one in pages:
        for _ in range(SAMPLES):
            trust.agreed(one)
    return trust


# --- what is left to a browser ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (raw(page("x"), "application/xhtml+xml"), "no HTML"),
        (raw(page("x"), "text/html"), "declares no encoding"),
        (raw(page("x").encode("utf-16")), "UTF-16"),
        (raw(b"<!doctype html><p>\xff\xfe\x00"), "encoding"),
        (raw("<html><body><p>old</body></html>"), "older rules"),
        (raw(page("x", '<meta http-equiv="Refresh" content="0; url=/b">')), "leads elsewhere"),
        (raw(page("x"), refresh="0; url=/b"), "leads elsewhere"),
        (raw(page("x"), **{"content-disposition": "attachment; filename=a.html"}), "a file"),
        (raw(page("a\0b")), "no text"),
    ],
)
def test_documents_that_only_a_browser_reads(document: RawDocument, why: str) -> None:
    with pytest.raises(BeyondDocument, match=why):
        HtmlDocument(document)


@pytest.mark.parametrize(
    "body",
    [
        '<b class="price" style="visibility:hidden">1</b>',
        '<details><b class="price">1</b></details>',
        '<select class="price"><option>1</select>',
        '<b class="price">1<ruby>a<rt>b</rt></ruby></b>',
        '<a class="price" href="http://ex ample/">1</a>',
        '<a class="price" href="javascript:go()">1</a>',
        '<b class="price"><picture><source srcset="b.png"><img src="a.png"></picture></b>',
    ],
)
def test_places_that_only_a_browser_reads(body: str) -> None:
    with pytest.raises(BeyondDocument):
        read(body)


@pytest.mark.parametrize("selector", ["p:hover", "a:link", "p::before", "svg|a", ".a\\:b", "p:lexbor-contains('x')"])
def test_selectors_that_only_a_browser_knows(selector: str) -> None:
    with pytest.raises(BeyondDocument):
        HtmlDocument(raw(page("<p>x"))).read(
            {"fields": {"a": {"kind": "select", "query": selector, "attribute": None}}}
        )


def test_a_noscript_says_nothing_as_in_a_browser_that_runs_scripts() -> None:
    assert stated(read('<noscript><b class="price">9</b></noscript><b class="price">5</b>')) == ["5"]


def test_a_base_address_counts_for_links_alone() -> None:
    found = HtmlDocument(raw(page('<a class="price" href="c">1</a>', '<base href="/a/b/">'))).read(PRICE)
    assert found.view["records"][0]["f"]["price"][0]["h"] == "http://shop.example/a/b/c"
    assert found.view["url"] == "http://shop.example/p/1"


def test_the_bytes_are_read_in_the_encoding_that_is_declared() -> None:
    body = page('<b class="price">£5</b>').encode("windows-1252")
    assert stated(HtmlDocument(raw(body, "text/html; charset=ISO-8859-1")).read(PRICE)) == ["£5"]
    meta = page('<b class="price">5 €</b>', '<meta charset="windows-1252">').encode("windows-1252")
    assert stated(HtmlDocument(raw(meta, "text/html")).read(PRICE)) == ["5 €"]


# --- when a document counts ---------------------------------------------------------------------------


def test_three_pages_have_to_agree_first() -> None:
    trust, one = DocumentTrust(random.Random(0)), read('<b class="price">5</b>')
    for _ in range(SAMPLES - 1):
        trust.agreed(one)
    assert not trust.knows(one)
    assert trust.begin() is Mode.SAMPLE
    trust.agreed(one)
    assert trust.knows(read('<b class="price">6</b>'))


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ('<b class="price sale">5</b>', ""),
        ('<b class="price" id="late">5</b>', ""),
        ('<b class="price">5 <i class="per">per unit</i></b>', ""),
        ('<div class="closed"><b class="price">5</b></div>', ""),
        ('<b class="price">5</b>', '<link rel="stylesheet" href="/sale.css">'),
        ('<b class="price">5</b>', "<style>.price{display:none}</style>"),
        ('<b class="price">5</b>', '<script src="/live.js"></script>'),
        ('<b class="price">5</b>', "<script>reload()</script>"),
        ('<b class="price" onclick="x()">5</b>', ""),
        ("", ""),
    ],
)
def test_a_page_of_another_build_is_left_to_a_browser(body: str, head: str) -> None:
    trust = trusting(read('<b class="price">5</b>'))
    assert not trust.knows(read(body, head))


def test_scripts_may_differ_in_texts_and_figures_but_in_nothing_else() -> None:
    script = "<script>window.item = {{id: {0}, name: '{1}'}};</script>"
    trust = trusting(read('<b class="price">5</b>', script.format(1, "kettle")))
    assert trust.knows(read('<b class="price">5</b>', script.format(27, "lamp")))
    assert not trust.knows(
        read('<b class="price">5</b>', "<script>window.item = {id: 1, name: 'a', sale: 2};</script>")
    )


@pytest.mark.parametrize("head", ['<script src="http://["></script>', '<link rel="stylesheet" href="//[x">'])
def test_what_is_no_address_is_a_part_of_a_page_like_another(head: str) -> None:
    trust = trusting(read('<b class="price">5</b>', head))
    assert trust.knows(read('<b class="price">6</b>', head))
    assert not trust.knows(read('<b class="price">6</b>'))


def test_what_scripts_may_take_hold_of_has_to_be_known() -> None:
    script = '<script src="/shop.js"></script>'
    trust = trusting(read('<b class="price">5</b><p data-item="1">x</p>', script))
    assert trust.knows(read('<b class="price">5</b><p data-item="2">x</p>', script))
    assert not trust.knows(read('<b class="price">5</b><p data-sale="2">x</p>', script))
    assert not trust.knows(read('<b class="price">5</b><live-price></live-price>', script))


def test_one_difference_ends_it_for_the_job_and_no_answer_ends_nothing() -> None:
    one = read('<b class="price">5</b>')
    trust = trusting(one)
    trust.unknown("no connection")
    assert trust.knows(one)
    trust.refuse("a document said something else than its page")
    assert not trust.knows(one)
    assert trust.begin() is Mode.PAGE


def test_documents_that_fail_again_and_again_are_left_alone() -> None:
    trust = trusting(read('<b class="price">5</b>'))
    for _ in range(5):
        trust.unknown("no connection")
    assert trust.begin() is Mode.PAGE


def test_a_site_whose_pages_mostly_differ_in_build_is_not_asked_twice_for_each() -> None:
    trust = trusting(read('<b class="price">5</b>'))
    for _ in range(20):
        trust.served(by_document=False)
    assert trust.begin() is Mode.PAGE


def test_readings_are_repeated_in_a_browser_often_at_first_and_never_less_than_a_share() -> None:
    trust = trusting(read('<b class="price">5</b>'))
    modes = []
    for _ in range(20_000):
        mode = trust.begin()
        trust.end(mode)
        if mode is Mode.DOCUMENT:
            trust.served(by_document=True)
        modes.append(mode)
    assert modes[:100].count(Mode.SAMPLE) > 3
    late = modes[10_000:].count(Mode.SAMPLE)
    assert 15 < late < 80
    assert set(modes) == {Mode.SAMPLE, Mode.DOCUMENT}


def test_a_page_that_is_audited_needs_no_sample_beside_it_and_counts_as_one() -> None:
    trust = trusting(read('<b class="price">5</b>'))
    assert {trust.begin(audited=True) for _ in range(20)} == {Mode.DOCUMENT}
    assert {trust.begin() for _ in range(100)} == {Mode.DOCUMENT}, "the audits are more than samples would be"
    untried = DocumentTrust(random.Random(0))
    assert untried.begin(audited=True) is Mode.SAMPLE, "no document stands for its page yet"


def test_not_all_sessions_sample_at_once() -> None:
    trust = DocumentTrust(random.Random(0))
    modes = [trust.begin() for _ in range(8)]
    assert modes.count(Mode.SAMPLE) == SAMPLES
    assert modes.count(Mode.PAGE) == 8 - SAMPLES


def test_jobs_and_sites_have_nothing_in_common() -> None:
    sites = TrustedSites()
    sites.of(1, "shop.example").refuse("different")
    assert sites.of(1, "other.example").refused == ""
    assert sites.of(2, "shop.example").refused == ""
    assert sites.of(1, "shop.example").refused == "different"


# --- asking -------------------------------------------------------------------------------------------


class Site:
    """A `DocumentClient` with given answers."""

    def __init__(self, answers: dict[str, RawDocument]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def get(self, url: str, headers: Any, timeout_s: float, most_bytes: int = 0) -> RawDocument:
        self.asked.append((url, dict(headers)))
        return self.answers[url]


VISITOR = Visitor("Agent/1", ("de-DE", "de", "en"), "text/html,image/new")
HOME = "http://shop.example/p/1"


def leading(to: str, **headers: str) -> RawDocument:
    return RawDocument(HOME, 302, {"location": to, **headers}, b"")


async def test_the_request_names_the_jobs_browser_and_carries_its_headers_and_cookies() -> None:
    site = Site({HOME: raw("x")})
    cookies = [{"name": "sid", "value": "7", "domain": "shop.example", "path": "/", "expires": -1}]
    found = await fetched(site, f"{HOME}#part", VISITOR, {"X-Key": "k", "accept-language": "fr"}, cookies, 5)
    (url, headers), *_ = site.asked
    assert url == HOME
    assert found.url == f"{HOME}#part"
    assert headers["User-Agent"] == "Agent/1"
    assert headers["Accept"] == "text/html,image/new"
    assert headers["X-Key"] == "k"
    assert headers["Cookie"] == "sid=7"
    assert "Accept-Language" not in headers
    assert VISITOR.accept_language == "de-DE,de;q=0.9,en;q=0.8"


@pytest.mark.parametrize(
    "answer",
    [
        leading("http://other.example/"),
        leading("/p/2", **{"set-cookie": "half=B"}),
        leading(HOME),
        leading("/a b"),
    ],
)
async def test_redirects_that_a_browser_would_take_otherwise_are_left_to_it(answer: RawDocument) -> None:
    with pytest.raises(BeyondDocument):
        await fetched(Site({HOME: answer}), HOME, VISITOR, {}, (), 5)


async def test_a_redirect_within_the_host_is_followed() -> None:
    end = "http://shop.example/p/1/"
    site = Site({HOME: leading("/p/1/"), end: raw("x")})
    assert (await fetched(site, HOME, VISITOR, {}, (), 5)).url == end


@pytest.mark.parametrize(
    ("cookie", "sent"),
    [
        ({"domain": "shop.example"}, True),
        ({"domain": ".example"}, True),
        ({"domain": ".shop.example"}, True),
        ({"domain": "hop.example"}, False),
        ({"domain": "other.example"}, False),
        ({"domain": "shop.example", "path": "/p"}, True),
        ({"domain": "shop.example", "path": "/pp"}, False),
        ({"domain": "shop.example", "secure": True}, False),
        ({"domain": "shop.example", "expires": 1.0}, False),
        ({"domain": "shop.example", "partitionKey": "https://top.example"}, False),
    ],
)
def test_a_cookie_goes_where_a_browser_sends_it(cookie: dict[str, Any], sent: bool) -> None:
    said = cookie_header([{"name": "a", "value": "1", "path": "/", "expires": -1, **cookie}], HOME)
    assert said == ("a=1" if sent else "")


@pytest.mark.parametrize(
    "text",
    [
        *("a b", "\\x", "javascript:x", "http://1.2/", "?", "ü", "http://host_x/", "%2e%2e/"),
        *("a|b", "a^b", "?l'eau", "#`", "//[x/", "http://[::1]/", "1a://[x"),
    ],
)
def test_addresses_that_a_browser_writes_otherwise(text: str) -> None:
    with pytest.raises(BeyondDocument):
        resolved(text, "http://shop.example/p/1?q")


@pytest.mark.parametrize("text", ["a[1]", "?q[]=1|2^`{}", "#l'eau[]|^{}", "./[x", "/a//[x"])
def test_addresses_that_a_browser_writes_as_they_are(text: str) -> None:
    assert resolved(text, "http://shop.example/") == f"http://shop.example/{text.removeprefix('.').removeprefix('/')}"


@pytest.mark.parametrize(
    ("text", "base"), [("a//b", "/p/1"), ("b", "/p//1"), ("../b", "/p//1"), ("//", "/"), ("http:///b", "/")]
)
def test_an_address_with_an_empty_part_is_never_another(text: str, base: str) -> None:
    """Python joins relative addresses without them."""
    with pytest.raises(BeyondDocument):
        resolved(text, f"http://shop.example{base}")


def test_what_page_a_document_is_is_told_without_its_text() -> None:
    head = "<title> A  lamp </title>"
    found = HtmlDocument(raw(page('<h1>Lamp</h1><h2 hidden>Not yet</h2><p class="gone" hidden>Gone</p>', head))).read(
        {"fields": {}, "selectors": ["h1", ".gone", ".none"]}
    )
    facts: Any = found.view["facts"]
    assert (facts["title"], facts["headings"], facts["text"]) == ("A lamp", ["Lamp"], "")
    assert (facts["present"], facts["visible"]) == (["h1", ".gone"], ["h1"])
    assert facts["document"] is True
    with pytest.raises(BeyondDocument):
        HtmlDocument(raw(page("<p>x"))).read({"fields": {}, "selectors": ["p:hover"]})


def test_a_site_whose_documents_are_never_enough_for_a_record_is_not_asked_twice_for_each() -> None:
    trust = trusting(read('<b class="price">5</b>'))
    for _ in range(20):
        trust.served(by_document=True)
        trust.took_back()
    assert trust.begin() is Mode.PAGE


@pytest.mark.parametrize(
    ("nodes", "policy", "learned", "serve"),
    [
        ([{"kind": "extract"}], "workflow:lamps@1", False, True),
        ([{"kind": "action"}, {"kind": "extract"}], "workflow:lamps@1", False, False),
        ([{"kind": "extract"}], "auto", False, False),
        ([{"kind": "extract"}], "auto", True, True),
        ([{"kind": "action"}, {"kind": "extract"}], "auto", True, False),
    ],
)
def test_documents_serve_a_workflow_that_does_nothing_on_the_page(
    nodes: list[dict[str, str]], policy: str, *, learned: bool, serve: bool
) -> None:
    spec = JobSpec.model_validate(
        {
            "url": "https://shop.example/",
            "extract": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "workflow": {"versions": [{"nodes": nodes}]},
            "policy": policy,
            "artifacts": {"evidence": "document"},
        }
    )
    assert documents_serve(spec, learned=learned) is serve
