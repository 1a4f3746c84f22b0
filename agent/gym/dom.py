"""The documents of a page in the form of Chromium's DOM snapshots, with the ids of an observation as `bid`.

The page itself is left as it is: BrowserGym writes its ids into it before it takes a snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.support.page_names import script_by_names

_COPY = script_by_names(Path(__file__).with_name("dom.js").read_text(encoding="utf-8"))
_TEXT = 3
_COLUMNS = ("parentIndex", "nodeType", "nodeName", "nodeValue", "backendNodeId", "attributes")


@dataclass(frozen=True, slots=True)
class FrameCopy:
    """The nodes of one frame's document, as `dom.js` gives them."""

    frame: str  # id of the frame's element in the document around it; "" for the page's own document
    nodes: list[Any]


async def frame_copies(context: ActingContext) -> Mapping[str, FrameCopy]:
    """The documents of the frames that were observed, each by what the ids in it begin with, outer ones first.

    Raises:
        ActionError: the page went elsewhere meanwhile.
        BrowserError: a document is gone, or cannot be read.
    """
    copies: dict[str, FrameCopy] = {}
    async with context.limits.looking(context.options.look_s, "copying the page"):
        look = await context.tab.look()
        for prefix, path in sorted(look.paths.items(), key=lambda frame: len(frame[1])):
            world = look.world_of(prefix) if prefix else await context.tab.main_world()
            if world is not None:
                copies[prefix] = FrameCopy(path[-1] if path else "", await world.call(_COPY))
    return copies


class _Snapshot:
    """A DOM snapshot in the making: one document per frame, strings by number."""

    def __init__(self, bids: Collection[str]) -> None:
        self.strings: list[str] = []
        self.documents: list[dict[str, Any]] = []
        self._bids = bids
        self._numbers: dict[str, int] = {}
        self._frames: dict[str, tuple[dict[str, Any], int]] = {}  # id of a frame's element to where it stands

    def string(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def add(self, prefix: str, copy: FrameCopy) -> None:
        """Adds a frame's document, and says so where the frame stands."""
        nodes: dict[str, Any] = {**{name: [] for name in _COLUMNS}, "contentDocumentIndex": {"index": [], "value": []}}
        if copy.frame in self._frames:
            around, at = self._frames[copy.frame]
            around["contentDocumentIndex"]["index"].append(at)
            around["contentDocumentIndex"]["value"].append(len(self.documents))
        self.documents.append({"nodes": nodes})
        for at, (parent, kind, name, text, attributes, number) in enumerate(copy.nodes):
            bid = f"{prefix}{abs(number)}" if number else ""
            self._frames[bid] = (nodes, at)
            all_attributes = [*(("bid", bid) if bid in self._bids else ()), *attributes]
            nodes["parentIndex"].append(parent)
            nodes["nodeType"].append(kind)
            nodes["nodeName"].append(self.string(name))
            nodes["nodeValue"].append(self.string(text) if kind == _TEXT else -1)
            nodes["backendNodeId"].append(at + 1)
            nodes["attributes"].append([self.string(part) for part in all_attributes])


def hidden_elements(copies: Mapping[str, FrameCopy]) -> dict[str, str]:
    """The tags, in small letters, of elements that cannot be seen, by id."""
    return {
        f"{prefix}{-number}": name.lower()
        for prefix, copy in copies.items()
        for _, _, name, _, _, number in copy.nodes
        if number < 0
    }


def snapshot(copies: Mapping[str, FrameCopy], bids: Collection[str]) -> dict[str, Any]:
    """The documents as a DOM snapshot; elements with an id of `bids` have it as their attribute `bid`."""
    made = _Snapshot(bids)
    for prefix, copy in copies.items():
        made.add(prefix, copy)
    return {"documents": made.documents, "strings": made.strings}
