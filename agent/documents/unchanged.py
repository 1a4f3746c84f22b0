"""Conditional requests that tell, without a browser, that a page is still as an earlier run read it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.context import VISITOR, DocumentReading, turned_away
from shoal.agent.documents.document import RawDocument
from shoal.agent.documents.fetching import FetchFailed, Visitor, fetched
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.errors import AgentError
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.moments import utc_now
from shoal.agent.support.web_addresses import without_fragment
from shoal.agent.types import CarriedOver, EarlierReading, LoopItem, Outcome, PageVersion, Record, Usage

_STRONG = timedelta(seconds=60)
"""By so much Last-Modified must lie before Date: else the page may have changed in that moment (RFC 9110, 8.8.2)."""
_WEST = timedelta(hours=12)
"""So far the clocks of the last time zone are behind UTC."""
_CLOCKS = timedelta(hours=1)
"""So far a site's clock may be behind ours, by which it dates a change after a page was asked for before that."""
_ASK_S = 30.0
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class PageNow:
    """The answer to a conditional request for a page."""

    outcome: Outcome | None = None  # the item's, with the earlier records; None: the page has to be read
    document: RawDocument | None = None  # the page's document, where it came as it was asked about


def version_of(page: str, document: RawDocument) -> PageVersion:
    """By what a later run can tell that the page of this key still has this document."""
    headers = document.headers
    modified = headers.get("last-modified", "")
    return PageVersion(
        page,
        without_fragment(document.url),
        headers.get("etag", ""),
        modified if _is_strong(modified, headers.get("date", "")) else "",
        hashlib.sha256(document.body).hexdigest(),
        document.asked_at,
    )


def _is_strong(modified: str, date: str) -> bool:
    try:
        before, now = (parsedate_to_datetime(text).astimezone(UTC) for text in (modified, date))
    except (ValueError, OverflowError):
        return False
    return now - before >= _STRONG


async def page_now(
    browser: Browser, reading: DocumentReading, item: LoopItem, earlier: EarlierReading, storage_state: Json
) -> PageNow:
    """Asks the site whether the page of `item` is as it was when `earlier` was read; not where its sitemap says so.

    Any doubt means that the page is read as if nothing were known of it.
    """
    versions = {record.version for record in earlier.records}
    version = versions.pop() if len(versions) == 1 else None
    if version is None or reading.trust.refused:
        return PageNow()
    url = item.value
    changed = latest_moment(item.modified)
    if changed is not None and version.asked_at and changed <= datetime.fromisoformat(version.asked_at) - _CLOCKS:
        return PageNow(_carried(earlier, version, "sitemap", reading))
    try:
        if reading.trust.visitor is None:
            reading.trust.visitor = await visitor_of(browser, reading.spec)
        await reading.navigation_guard(url)
        answer = await fetched(
            reading.client,
            url,
            reading.trust.visitor,
            {**_conditions(version), **reading.spec.browser.headers},
            storage_state.get("cookies", ()) if isinstance(storage_state, Mapping) else (),
            _ASK_S,
        )
    except (AgentError, BeyondDocument, FetchFailed):
        return PageNow()  # the session that reads the page meets the same, and tells it
    if turned_away(reading, answer):
        return PageNow()
    same = without_fragment(answer.url) == version.url
    if same and answer.status == 304:
        return PageNow(_carried(earlier, replace(version, asked_at=answer.asked_at), "not_modified", reading))
    if not same or answer.status != 200:
        return PageNow()
    if hashlib.sha256(answer.body).hexdigest() == version.digest:
        return PageNow(_carried(earlier, version_of(version.page, answer), "same_content", reading))
    return PageNow(document=answer)


def latest_moment(text: str) -> datetime | None:
    """The latest moment that a sitemap's `lastmod` may mean, in any time zone where it names none; None: it is none."""
    if _DAY.match(text) is None:
        return None  # a month or a year is no answer; a week is no date of a sitemap, though Python reads it
    whole_day = timedelta(days=1) if "T" not in text else timedelta()
    try:
        moment = datetime.fromisoformat(text) + whole_day
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC) + _WEST
    except (ValueError, OverflowError):  # nor is a day that no clock shows
        return None


def _conditions(version: PageVersion) -> dict[str, str]:
    conditions = {"If-None-Match": version.etag, "If-Modified-Since": version.modified}
    return {name: value for name, value in conditions.items() if value}


async def visitor_of(browser: Browser, spec: JobSpec) -> Visitor:
    """Return how the job's browser names itself, told by a page of its own: no site is asked."""
    context = await browser.new_context(ContextOptions(browser=spec.browser))
    try:
        user_agent, *languages = await context.read(VISITOR)
    finally:
        await context.close()
    return Visitor(str(user_agent), tuple(map(str, languages)), await browser.navigation_accept())


def _carried(earlier: EarlierReading, version: PageVersion, by: str, reading: DocumentReading) -> Outcome:
    reading.on_outcome(DocumentOutcome.UNCHANGED)
    records = tuple(_as_carried(record, version, by, earlier.session) for record in earlier.records)
    return Outcome(
        Status.COMPLETED,
        records,
        reason=f"the page has not changed since {earlier.session} read it",
        url=records[0].url,
        at=utc_now(),
        usage=Usage(carried_over=1),
    )


def _as_carried(record: Record, version: PageVersion, by: str, session: str) -> Record:
    """The earlier record: it keeps where and when it was read, and says by which session; its picture is not kept."""
    first = record.carried_over.session if record.carried_over is not None else session
    return replace(record, version=version, carried_over=CarriedOver(first, by), picture=None)
