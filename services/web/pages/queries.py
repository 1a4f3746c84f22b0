"""The queries in the addresses of pages, as the API's own records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from shoal.agent.status import Status
from shoal.services.errors import BadInput
from shoal.services.store.records import JobFilter
from shoal.services.web.api.jobs import labels_of

T = TypeVar("T", bound=str)

LONGEST = 300
"""Characters of one part of a query."""


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs a list shows, as an address says it; "" is no limit."""

    q: str = ""  # words of name, goal, address and labels
    status: str = ""
    site: str = ""  # host
    label: str = ""  # name:value
    since: str = ""  # a day, UTC: submitted then or later
    until: str = ""  # a day, UTC: submitted then or earlier

    @classmethod
    def of_text(cls, text: str) -> JobQuery:
        """The query of an address; what is no part of one is left out."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value[:LONGEST] for name, value in parse_qsl(text) if name in known})

    @property
    def has_filters(self) -> bool:
        """Return whether it limits anything."""
        return any(asdict(self).values())

    def address(self, **changes: str) -> str:
        """The address of the list that shows what this asks for, but for `changes`."""
        query = {name: text for name, text in {**asdict(self), **changes}.items() if text}
        return "/?" + urlencode(query) if query else "/"

    def filter(self, tenant: str | None, before: int | None, limit: int) -> JobFilter:
        """The same for the store.

        Raises:
            BadInput: a status, label or day is none.
        """
        until = day_of(self.until, "until")
        return JobFilter(
            tenant=tenant,
            statuses=statuses_of(self.status, "status"),
            labels=labels_of([self.label]) if self.label else {},
            text=self.q.replace("\0", ""),
            site=self.site.strip().replace("\0", ""),
            since=day_of(self.since, "since"),
            until=until and until + timedelta(days=1),
            before=before,
            limit=limit,
        )


def statuses_of(text: str, field: str) -> tuple[Status, ...]:
    """Return what a page is narrowed to;
    empty: all.

    Raises:
        BadInput: there is no such status.
    """
    if not text:
        return ()
    return (one_of(text, tuple(Status), field, "status"),)


def one_of(text: str, known: Sequence[T], field: str, noun: str = "") -> T:
    """The one of `known` that `text` names; `noun` says what they are, where `field` does not.

    Raises:
        BadInput: it names none.
    """
    for choice in known:
        if choice == text:
            return choice
    reason = f"must be one of {', '.join(known)}"
    raise BadInput(f"There is no {noun or field} {text!r}: {reason}.", errors=[{"field": field, "reason": reason}])


def day_of(text: str, field: str) -> datetime | None:
    """The beginning of a day, UTC; None where none is given.

    Raises:
        BadInput: it is none.
    """
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
        if not 1970 <= day.year < 9999:
            raise ValueError
    except ValueError:
        reason = "must be a day, such as 2026-11-24"
        raise BadInput(f"{field}: {reason}.", errors=[{"field": field, "reason": reason}]) from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
