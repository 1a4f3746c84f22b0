"""The API's answer to a try of a workflow's version, page by page."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.support.json_value import Json
from shoal.services.web.api.views.base import ErrorView, UsageView, View

PageEnd = Literal["read", "done", "miss", "stopped", "failed", "unfinished"]


class TriedChannel(View):
    """The reading of one channel of a field."""

    family: str
    place: str = Field(description="kind and query, such as `select p.price`")
    value: Json = Field(description="null: nothing; a long one is cut")
    raw: str = Field(description="the text that stands there; a long one is cut")
    where: str = Field(description="selector of the element, or path in the page's JSON")
    fault: str = Field(description="why what stands there is no value; empty: it is one, or nothing stands there")


class TriedFieldOfVersion(View):
    """One field of one page."""

    value: Json = Field(description="that enough channels agree on; null: none; a long one is cut")
    agreed: list[str] = Field(description="the families that gave the value")
    channels: list[TriedChannel]


class TriedMiss(View):
    """One reason for which the version gave no record, or took another way."""

    reason: str
    where: str = Field(description="field, node or part of the signature")
    told: str


class TriedCount(View):
    """The number of elements on one page that one locator of a node, or one channel of a field, finds."""

    of: str = Field(description="the node, or the branch and its field, such as `product.price`")
    family: str
    value: str = Field(description="of a field: kind and query")
    count: int
    url: str = Field(description="the page: where the node was done, else where the try of this page ended")


class TriedAction(View):
    """The action that was next, and was not done, since it may send something or may run once only."""

    node: str
    action: str
    args: dict[str, Json]
    element: str = Field(description="what the page calls it")
    found_by: list[str] = Field(description="families of locators that agree on the element")


class TriedPage(View):
    """One page that the version was run on."""

    url: str = Field(description="as it was given")
    end: PageEnd = Field(
        description="`read`: it gave a record; `done`: all its nodes are done, and it reads nothing; `miss`: the page "
        "is not as the version knows it; `stopped`: before an action that is never rehearsed; `failed`: the page could "
        "not be opened or used; `unfinished`: the time was over"
    )
    opened: str = Field(description="the address where it ended; empty: none was opened")
    record: Json = Field(description="null: it gave none")
    tier: str = Field(description="by what it was read: http, page or session")
    branch: str = Field(description="whose signature the page has")
    fields: dict[str, TriedFieldOfVersion] = Field(description="empty where the page is of no branch's kind")
    misses: list[TriedMiss]
    done: list[str] = Field(description="the nodes that were done, in order")
    intended: TriedAction | None = Field(description="with `stopped`: what was next")
    counts: list[TriedCount] = Field(description="what each locator and each channel finds")
    error: ErrorView | None
    seconds: float


class VersionTryView(View):
    """The answer to a try of a version."""

    workflow: str
    version: int
    unchecked: list[str] = Field(description="guards that need the item of a loop, and were left out")
    finished: bool = Field(description="false: the time was over before all pages were done")
    pages: list[TriedPage] = Field(description="in the order in which they were given")
    error: ErrorView | None = Field(description="why the try as a whole gave nothing")
    spent: UsageView
    seconds: float = Field(description="from the request to the answer")
