"""Parts of a page as `facts.js` sends them, with names in place of its short keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class Heading:
    """An element h1 to h6."""

    level: int  # 1 to 6
    text: str
    selector: str
    visible: bool
    region: str  # landmark around it, such as "nav"; "" in the page's own content
    in_fragment: bool  # within the part that the address names
    order: int  # place in the document
    link: str  # where it leads; "" without a link
    tip: str  # its tool tip, which may say in full what is shown cut off

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The heading that a script sent."""
        return cls(
            level=int(said["l"]),
            text=str(said["t"]),
            selector=str(said["s"]),
            visible=bool(said["v"]),
            region=str(said["r"]),
            in_fragment=bool(said.get("x")),
            order=int(said.get("o", 0)),
            link=str(said.get("h") or ""),
            tip=str(said.get("ti") or ""),
        )


@dataclass(frozen=True, slots=True)
class Anchor:
    """A section with an id."""

    id: str
    text: str  # its heading
    selector: str
    named: bool  # the address names this very section
    order: int  # place in the document

    @classmethod
    def of(cls, said: Mapping[str, Json]) -> Self:
        """The section that a script sent."""
        return cls(str(said["i"]), str(said["t"]), str(said["s"]), said.get("x", 0) == 2, int(said["o"]))
