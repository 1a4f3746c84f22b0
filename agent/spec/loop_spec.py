"""The same work for each of many values."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field, model_validator

from shoal.agent.spec.part import HttpUrl, SpecPart


class LoopFrom(SpecPart):
    """Source of a loop's values."""

    select: str = Field(min_length=1, description="CSS selector of the items, or words that name them")
    next: str | None = Field(None, description="CSS selector or words of the link to the next page")
    max_pages: int = Field(100, ge=1, le=100_000, description="stop collecting after so many pages")


class SitemapSpec(SpecPart):
    """A site's own list of its pages, as sitemaps.org describes it: no page is opened to collect them."""

    url: HttpUrl = Field(
        description="address of a sitemap (XML, or a text with one address a line), or of an index of sitemaps; each "
        "may be gzip, with 50,000 entries and 50 MiB at most; 1,000 of them, and 1,000,000 entries, in all. No feeds"
    )
    contains: str = Field("", max_length=500, description="pages whose address contains this text; empty: all")


class LoopSpec(SpecPart):
    """The same work for each of many values, each in a session of its own."""

    values: tuple[str, ...] | None = Field(None, description="the values, in order", fail_fast=True)
    source: LoopFrom | None = Field(None, alias="from", description="where to collect the values")
    sitemap: SitemapSpec | None = Field(None, description="the sitemap whose pages are the items")
    is_link: bool | None = Field(
        None, description="the values are URLs to open; default: true for collected links and http(s) values"
    )
    max_items: int | None = Field(None, ge=1, description="stop collecting after so many items")
    concurrency: int | None = Field(None, ge=1, description="at most so many items at once")
    on_error: Literal["continue", "stop"] = Field(
        "continue", description="what a failed item does to the items that have not begun"
    )
    loop: LoopSpec | None = Field(None, description="each item is itself a loop: how its items are found")

    @cached_property  # asked before each action, of perhaps 100,000 values
    def has_rows(self) -> bool:
        """Return whether some of its values are details for forms: JSON objects, each of them one item's data."""
        own = any(value.lstrip().startswith("{") for value in self.sample or ())
        return own or (self.loop is not None and self.loop.has_rows)

    @cached_property
    def sample(self) -> tuple[str, ...] | None:
        """One of its values for all of them: the first that is a row, where there is one."""
        values = self.values
        return values and (next((value for value in values if value.lstrip().startswith("{")), values[0]),)

    def below(self, depth: int) -> LoopSpec:
        """Itself, with a sample for the values of its first `depth` levels."""
        if depth <= 0:
            return self
        return self.model_copy(update={"values": self.sample, "loop": self.loop and self.loop.below(depth - 1)})

    @model_validator(mode="after")
    def _one_source(self) -> LoopSpec:
        if [self.values, self.source, self.sitemap].count(None) != 2:
            raise ValueError("needs exactly one of `values`, `from` and `sitemap`")
        if self.values is not None and not self.values:
            raise ValueError("`values` is empty: the loop has nothing to do")
        return self
