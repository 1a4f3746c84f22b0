"""An item keeps an earlier run's record only where the site, or the very document, says that its page is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import pytest

from shoal.agent.documents.context import DocumentReading
from shoal.agent.documents.document import RawDocument
from shoal.agent.documents.fetching import FetchFailed, Visitor
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.documents.trust import DocumentTrust
from shoal.agent.documents.unchanged import PageNow, page_now, version_of
from shoal.agent.errors import RobotsForbidden
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Box as Rectangle
from shoal.agent.types import CarriedOver, EarlierReading, LoopItem, PageVersion, Record, RecordPicture
from tests.doubles.browser_double import FakeBrowser, FakePage

URL = "http://shop.example/p/1"
OLD, NEW = b"<p>5</p>", b"<p>6</p>"
DIGEST = hashlib.sha256(OLD).hexdigest()
VERSION = PageVersion("key", URL, '"v1"', "Sat, 21 Nov 2026 10:00:00 GMT", DIGEST, "2026-11-22T10:00:00.000Z")
READ_AT = "2026-11-22T16:00:00.000Z"  # six hours later: sessions may last as long as their operator lets them
RECORD = Record({"price": 5}, {}, URL, READ_AT, tier="http", version=VERSION)
SPEC = JobSpec.model_validate({"url": URL, "extract": {"fields": {"price": {"select": "p"}}}})


class Site:
    """Answers one request, and says what was asked."""

    def __init__(self, *answers: RawDocument | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Mapping[str, str]] = []
        self.told: list[DocumentOutcome] = []
        self.trust = DocumentTrust()
        self.trust.visitor = Visitor("Agent/1", ("en",), "text/html")
        self.browser = FakeBrowser({URL: FakePage()})
        self.item = LoopItem(0, URL, is_link=True)

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = 0) -> RawDocument:
        self.asked.append(headers)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def guard(self, url: str) -> None:
        assert url == URL

    async def now(self, earlier: EarlierReading = EarlierReading("s7", (RECORD,))) -> PageNow:
        reading = DocumentReading(SPEC, self, self.trust, self.guard, self.told.append)
        return await page_now(self.browser, reading, self.item, earlier, None)


def answer(status: int, body: bytes = b"", url: str = URL, **headers: str) -> RawDocument:
    return RawDocument(url, status, headers, body)


async def test_the_site_says_that_nothing_changed() -> None:
    site = Site(answer(304))
    outcome = await site.now(
        EarlierReading("s7", (replace(RECORD, picture=RecordPicture("a", Rectangle(0, 0, 1, 1))),))
    )
    assert outcome.outcome is not None
    (record,) = outcome.outcome.records
    assert record.version is not None and record.version.asked_at > VERSION.asked_at, "a sitemap's day may lie between"
    asked = replace(VERSION, asked_at=record.version.asked_at)
    assert record == replace(RECORD, version=asked, carried_over=CarriedOver("s7", "not_modified"))
    assert (outcome.outcome.status, outcome.outcome.usage.carried_over, outcome.outcome.usage.pages) == (
        *(Status.COMPLETED, 1, 0),
    )
    assert site.asked[0]["If-None-Match"] == '"v1"' and site.asked[0]["If-Modified-Since"] == VERSION.modified
    assert (site.told, site.browser.visits) == ([DocumentOutcome.UNCHANGED], [])


async def test_the_document_is_the_same_and_the_first_reading_is_named() -> None:
    earlier = replace(RECORD, carried_over=CarriedOver("s3", "not_modified"))
    outcome = (await Site(answer(200, OLD, etag='"v2"')).now(EarlierReading("s7", (earlier,)))).outcome
    assert outcome is not None
    assert outcome.records[0].carried_over == CarriedOver("s3", "same_content")
    assert outcome.records[0].version is not None and outcome.records[0].version.etag == '"v2"'
    assert outcome.records[0].version.asked_at > VERSION.asked_at, "it was this one still when it was asked for"


@pytest.mark.parametrize(
    "said",
    [
        answer(200, NEW),
        answer(404),
        answer(500),
        FetchFailed("cut"),
    ],
)
async def test_any_other_answer_means_that_the_page_is_read(said: RawDocument | Exception) -> None:
    site = Site(said)
    now = await site.now()
    assert now.outcome is None and site.told == []
    assert now.document == (said if isinstance(said, RawDocument) and said.body == NEW else None)


@pytest.mark.parametrize("said", [answer(304), answer(200, OLD)])
async def test_a_page_that_lies_elsewhere_now_is_read(said: RawDocument) -> None:
    moved = replace(RECORD, version=replace(VERSION, url=URL + "/moved"))
    assert await Site(said).now(EarlierReading("s7", (moved,))) == PageNow()


@pytest.mark.parametrize("status", [403, 429, 503])
async def test_a_site_that_turns_the_request_away_is_asked_for_no_document_more(status: int) -> None:
    site = Site(answer(status))
    assert await site.now() == PageNow()
    assert site.trust.turned_away and site.told == [DocumentOutcome.TURNED_AWAY]


async def test_a_site_that_turned_requests_away_and_records_of_several_versions_are_not_asked_about() -> None:
    site = Site()
    site.trust.refuse("it does not want this", turned_away=True)
    assert await site.now() == PageNow()
    other = replace(RECORD, version=replace(VERSION, etag='"v2"'))
    assert await Site().now(EarlierReading("s7", (RECORD, other))) == PageNow()
    assert await Site().now(EarlierReading("s7", (replace(RECORD, version=None),))) == PageNow()


async def test_what_robots_txt_forbids_is_not_asked() -> None:
    site = Site()

    async def guard(url: str) -> None:
        raise RobotsForbidden(url)

    site.guard = guard  # type: ignore[method-assign]
    assert await site.now() == PageNow() and site.asked == []


@pytest.mark.parametrize(
    ("modified", "date", "kept"),
    [
        ("Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:01:00 GMT", True),
        ("Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:00:59 GMT", False),
        ("Sat, 21 Nov 2026 10:00:00 GMT", "", False),
        ("yesterday", "Sat, 21 Nov 2026 10:01:00 GMT", False),
        ("Sat, 21 Nov 2026 10:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 -0500", False),
    ],
)
def test_a_moment_tells_versions_apart_where_the_page_has_rested_since(modified: str, date: str, kept: bool) -> None:
    version = version_of("key", answer(200, OLD, **{"last-modified": modified, "date": date}))
    assert version == PageVersion("key", URL, "", modified if kept else "", DIGEST)


@pytest.mark.parametrize(
    ("modified", "kept"),
    [
        ("2026-11-22T08:59:59Z", True),
        ("2026-11-22T09:30:00Z", False),  # perhaps while the page was open
        ("2026-11-22T11:59:59+03:00", True),
        ("2026-11-21T20:00:00", True),
        ("2026-11-21T23:00:00", False),  # it names no time zone
        ("2026-11-20", True),
        ("2026-11-21", False),  # that day ends last at noon of the next
        ("2026-11-23", False),
        ("2026-11-22T13:59:59Z", False),  # after the page was asked for, long before its record was read
        ("9999-12-31", False),
        ("9999-12-31T23:59:59-05:00", False),
        ("9999-12-31T12:00:00", False),
        ("0001-01-01T00:00:00+05:00", False),
        ("2026-10", False),
        ("2026-W46", False),  # a week, which its last day may have changed; the format of sitemaps has none
        ("2026-W46-5", False),
        ("20261120", False),
        ("2026", False),
        ("yesterday", False),
        ("", False),
    ],
)
async def test_a_page_that_is_older_than_its_record_by_its_sitemap_is_not_asked_for(modified: str, kept: bool) -> None:
    site = Site(answer(304))
    site.item = replace(site.item, modified=modified)
    outcome = await site.now()
    assert outcome.outcome is not None and site.told == [DocumentOutcome.UNCHANGED]
    by = "sitemap" if kept else "not_modified"
    assert (outcome.outcome.records[0].carried_over, len(site.asked)) == (CarriedOver("s7", by), int(not kept))
    assert outcome.outcome.records[0].at == RECORD.at
