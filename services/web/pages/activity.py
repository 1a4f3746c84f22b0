"""Jobs and items that ended of late: throughput, success and cost by hour, day or week, as charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from shoal.services.store.records import ActivitySpan
from shoal.services.web.deps import GatewayDeps, Prices
from shoal.services.web.http.api_keys import Caller
from shoal.services.web.pages.login import LoginCheck
from shoal.services.web.pages.queries import one_of
from shoal.services.web.pages.rendering import Pages, let_in

HEIGHT, STEP, BAR = 100, 10, 8
"""Of a chart, in its own units: how high it is, and from one bar to the next, and how wide a bar is."""


@dataclass(frozen=True, slots=True)
class Range:
    """The time that a page looks back, and its steps."""

    name: str  # in addresses
    title: str
    span_s: int
    spans: int


RANGES: Mapping[str, Range] = {
    span.name: span
    for span in (
        Range("hour", "last hour", 60, 60),
        Range("day", "last day", 1800, 48),
        Range("week", "last week", 4 * 3600, 42),
    )
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One span of time in a chart; lengths in the chart's own units."""

    x: int
    good: float
    bad: float  # stands on top of `good`
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars over time."""

    title: str
    total: str  # of all spans, in words
    most: str  # what a bar of full height stands for
    bars: Sequence[Bar]

    @property
    def width(self) -> int:
        """Of the whole chart, in its own units."""
        return STEP * len(self.bars)


def add_activity(router: APIRouter, deps: GatewayDeps, login_check: LoginCheck, pages: Pages) -> None:
    """Adds the page of charts."""

    @router.get("/activity", response_class=HTMLResponse)
    async def activity(
        request: Request,
        caller: Caller = Depends(let_in(login_check, "read")),
        over: str = Query("day", max_length=20, alias="range"),
    ) -> Response:
        chosen = RANGES[one_of(over, tuple(RANGES), "range")]
        spans = await deps.store.activity(tenant=caller.sees, span_s=chosen.span_s, spans=chosen.spans)
        return pages.page(
            request,
            "activity.html",
            caller=caller,
            chosen=chosen,
            ranges=RANGES.values(),
            charts=charts(spans, deps.options.prices),
            spans=[span for span in reversed(spans) if span.jobs],
        )


def charts(spans: Sequence[ActivitySpan], prices: Prices = Prices()) -> list[Chart]:
    """The charts of some spans, the oldest first."""
    items, good = sum(span.items for span in spans), sum(span.items_completed for span in spans)
    tried = items - sum(span.items_canceled for span in spans)
    tokens, calls = sum(map(_tokens, spans)), sum(span.model_calls for span in spans)
    pages = sum(span.pages for span in spans)
    cost = prices.money(sum(span.prompt_tokens for span in spans), sum(span.completion_tokens for span in spans))
    in_calls = f"{tokens:,} tokens in {calls:,} model calls"
    return [
        _stacked("Items that ended", f"{items:,} items of {sum(span.jobs for span in spans):,} jobs", spans),
        _shares("Success", f"{100 * good / tried:.1f} % of {tried:,} items" if tried else "no items", spans),
        _amounts("Tokens", ", ".join(filter(None, (in_calls, cost))), spans, _tokens),
        _amounts("Pages", f"{pages:,} pages opened", spans, lambda span: span.pages),
    ]


def _stacked(title: str, total: str, spans: Sequence[ActivitySpan]) -> Chart:
    most = max((span.items for span in spans), default=0)
    bars = [
        Bar(
            STEP * n,
            _part(span.items_completed, most),
            _part(span.items - span.items_completed, most),
            f"{_when(span)}: {span.items_completed:,} completed, {span.items - span.items_completed:,} not",
        )
        for n, span in enumerate(spans)
    ]
    return Chart(title, total, f"{most:,}", bars)


def _shares(title: str, total: str, spans: Sequence[ActivitySpan]) -> Chart:
    bars = []
    for n, span in enumerate(spans):
        if span.success is None:
            bars.append(Bar(STEP * n, 0, 0, f"{_when(span)}: nothing ended"))
        else:
            good = round(HEIGHT * span.success, 2)
            bars.append(Bar(STEP * n, good, HEIGHT - good, f"{_when(span)}: {100 * span.success:.1f} %"))
    return Chart(title, total, "100 %", bars)


def _amounts(title: str, total: str, spans: Sequence[ActivitySpan], amount: Callable[[ActivitySpan], int]) -> Chart:
    most = max(map(amount, spans), default=0)
    bars = [
        Bar(STEP * n, _part(amount(span), most), 0, f"{_when(span)}: {amount(span):,}") for n, span in enumerate(spans)
    ]
    return Chart(title, total, f"{most:,}", bars)


def _part(amount: int, most: int) -> float:
    return round(HEIGHT * amount / most, 2) if most else 0.0


def _tokens(span: ActivitySpan) -> int:
    return span.prompt_tokens + span.completion_tokens


def _when(span: ActivitySpan) -> str:
    return span.since.strftime("%Y-%m-%d %H:%M UTC")
