"""A gateway's answer to a try of a workflow's version, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from shoal.agent.support.json_value import Json
from shoal.records import Failure, Reply, Usage


class TriedChannel(Reply):
    """The reading of one channel of a field."""

    family: str
    place: str = Field(description="kind and query, such as `select p.price`")
    value: Json = Field(description="None: nothing; a long one is cut")
    raw: str = Field(description="the text that stands there; a long one is cut")
    where: str = Field(description="selector of the element, or path in the page's JSON")
    fault: str = Field(description="why what stands there is no value; empty: it is one, or nothing stands there")


class TriedFieldOfVersion(Reply):
    """One field of one page."""

    value: Json = Field(description="that enough channels agree on; None: none; a long one is cut")
    agreed: tuple[str, ...] = Field(description="the families that gave the value")
    channels: tuple[TriedChannel, ...]


class TriedMiss(Reply):
    """One reason for which the version gave no record, or took another way."""

    reason: str
    where: str = Field(description="field, node or part of the signature")
    told: str


class TriedCount(Reply):
    """The number of elements on one page that one locator of a node, or one channel of a field, finds."""

    of: str = Field(description="the node, or the branch and its field, such as `product.price`")
    family: str
    value: str = Field(description="of a field: kind and query")
    count: int
    url: str = Field(description="the page: where the node was done, else where the try of this page ended")


class TriedAction(Reply):
    """The action that was next, and was not done, since it may send something or may run once only."""

    node: str
    action: str
    args: Mapping[str, Json]
    element: str = Field(description="what the page calls it")
    found_by: tuple[str, ...] = Field(description="families of locators that agree on the element")


class TriedPage(Reply):
    """One page that a version was run on."""

    url: str = Field(description="as it was given")
    end: Literal["read", "done", "miss", "stopped", "failed", "unfinished"] = Field(
        description="`read`: it gave a record; `done`: all its nodes are done, and it reads nothing; `miss`: the page "
        "is not as the version knows it; `stopped`: before an action that is never rehearsed; `failed`: the page could "
        "not be opened or used; `unfinished`: the time was over"
    )
    opened: str = Field(description="the address where it ended; empty: none was opened")
    record: Json = Field(description="None: it gave none")
    tier: str = Field(description="by what it was read: http, page or session")
    branch: str = Field(description="whose signature the page has")
    fields: Mapping[str, TriedFieldOfVersion] = Field(description="empty where the page is of no branch's kind")
    misses: tuple[TriedMiss, ...]
    done: tuple[str, ...] = Field(description="the nodes that were done, in order")
    intended: TriedAction | None = Field(description="with `stopped`: what was next")
    counts: tuple[TriedCount, ...] = Field(description="what each locator and each channel finds")
    error: Failure | None
    seconds: float


class VersionTrial(Reply):
    """A version that was run on given pages, and of which nothing is kept."""

    workflow: str
    version: int
    unchecked: tuple[str, ...] = Field(description="guards that need the item of a loop, and were left out")
    finished: bool = Field(description="False: the time was over before all pages were done")
    pages: tuple[TriedPage, ...] = Field(description="in the order in which they were given")
    error: Failure | None = Field(description="why the try as a whole gave nothing")
    spent: Usage
    seconds: float = Field(description="from the request to the answer")
