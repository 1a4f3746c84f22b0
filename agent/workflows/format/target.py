"""The element that a node is for, and the independent ways to find it again."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shoal.agent.workflows.format.part import WorkflowPart

Family = Literal["test_id", "role_name", "label", "placeholder", "text", "attribute", "css", "xpath", "structure"]
"""Best first. Two locators of one family break together, so that they are one witness only."""

FAMILIES: tuple[Family, ...] = (
    "test_id",
    "role_name",
    "label",
    "placeholder",
    "text",
    "attribute",
    "css",
    "xpath",
    "structure",
)


class Locator(WorkflowPart):
    """One way to find an element."""

    family: Family = Field(description="what it goes by")
    value: str = Field(
        min_length=1,
        description="the test id, the name, the label, the placeholder, the text, or the selector; of `attribute` "
        "a CSS selector; of `structure` the CSS path by position from the root or the nearest id",
    )
    role: str = Field("", description="with `role_name`: the ARIA role")
    unique_on: int = Field(0, ge=0, description="on how many of the pages that were learned from it found one element")


class Target(WorkflowPart):
    """One element of a page."""

    frame: tuple[str, ...] = Field((), description="CSS selectors of the frames around it, outermost first")
    origin: str = Field(
        "", description="of an element in a frame: the origin of the frame's document; left out: that of the page"
    )
    shadow: tuple[str, ...] = Field(
        (), description="CSS selectors of the shadow hosts around it in its document, outermost first"
    )
    role: str = Field("", description="its ARIA role")
    name: str = Field("", description="its accessible name, where that is the same in every run")
    purpose: str = Field("", description="what it is for, in words, for people and for a model that repairs")
    locators: tuple[Locator, ...] = Field(min_length=1, description="the ways to find it, best first")
    fingerprint: tuple[str, ...] = Field(
        (), description="what stood around it, such as `before: Street`: it proposes an element, and never decides"
    )

    @property
    def families(self) -> frozenset[Family]:
        """The independent witnesses that it has."""
        return frozenset(locator.family for locator in self.locators)
