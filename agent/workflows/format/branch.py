"""One kind of page, by its signature, and the fields that are read from it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

from pydantic import Field, model_validator

from shoal.agent.browser import WANTED_HEADERS
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_paths import path_fault
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.absence import Absence
from shoal.agent.workflows.format.page_parts import parts_in
from shoal.agent.workflows.format.param import NAME
from shoal.agent.workflows.format.part import WorkflowPart

ChannelFamily = Literal["json_ld", "microdata", "json", "css", "structure", "label", "column", "attribute", "meta"]
"""Families of channels, by the means that they find a value with. Two channels of one family break together, so that
they are one witness only.
"""


class Channel(WorkflowPart):
    """One way to read a field: a place, as `extract.fields` of a job spells it."""

    family: ChannelFamily = Field(description="what it goes by")
    place: FieldPlace = Field(description="where the value stands, and by which reader it is read")
    shapes: tuple[str, ...] = Field(
        (),
        description="the shapes of the raw text on the pages that were learned from, such as `€ 9,9.9`: digits "
        "are one 9, letters one a, other signs stand for themselves; `struck out ` is before that of a text that is "
        "struck through; a raw text of another shape is a miss",
    )
    shown: bool = Field(True, description="the place can be seen on the page")
    agreed_on: int = Field(0, ge=0, description="on how many pages that were learned from it gave the value")


class FieldNode(WorkflowPart):
    """One field of the record."""

    name: str = Field(min_length=1, description="as the schema calls it")
    channels: tuple[Channel, ...] = Field(min_length=1, description="the ways to read it, best first")
    known: tuple[Json, ...] = Field(
        (),
        description="the values on the pages that were learned from, where they were all the same: such pages teach "
        "too little, and another value is a miss",
    )
    is_label: bool = Field(
        False, description="on all pages that were learned from it was what the list calls the item: else it is a miss"
    )
    weak: str = Field(
        "",
        description="why it is less sure than others, and is audited more; empty: it is not weak",
    )
    may_be_null: bool = Field(False, description="the record may lack it, where `absent` or `without` says so")
    absent: str = Field("", description="CSS selector of the positive sign that the page has no such value")
    without: Absence | None = Field(None, description="what the pages look like that lack it: learned from such pages")
    proof: bool = Field(True, description="the value has to be stated by the visible page")
    weakest: Literal[1, 2] = Field(2, description="so many channels of different families have to agree")

    @model_validator(mode="after")
    def _witnesses(self) -> FieldNode:
        if len(self.families) < self.weakest:
            raise ValueError(
                f"needs channels of {self.weakest} families, and has {', '.join(sorted(self.families))} only"
            )
        if self.may_be_null and not self.absent and self.without is None:
            raise ValueError("`may_be_null` needs `absent` or `without`, the signs that the page has no such value")
        return self

    @property
    def families(self) -> frozenset[ChannelFamily]:
        """The independent witnesses that it has."""
        return frozenset(channel.family for channel in self.channels)


class Signature(WorkflowPart):
    """The conditions that a page must meet for a branch to be used on it."""

    url: str = Field(
        "",
        description="template of the address: `{}` is one part that differs, as in `https://shop.example/p/{}`; "
        "empty: any address",
    )
    status: tuple[int, ...] = Field((200,), description="HTTP statuses that are fine")
    required: tuple[str, ...] = Field((), description="CSS selectors that find something on it")
    forbidden: tuple[str, ...] = Field((), description="CSS selectors that find nothing visible on it")
    landmarks: tuple[str, ...] = Field((), description="roles of its landmarks, in order, without doubles")
    shape: str = Field("", description="hash of the outline of its document; told, and no guard by itself")
    locale: str = Field("", description="its language, as the document says")
    currency: tuple[str, ...] = Field((), description="the currencies that its prices may be in")
    item: tuple[Literal["link", "label", "value"], ...] = Field(
        (),
        description="by what the page shows that it is the item's: its address is the item's `link`, its title or "
        "heading has the item's `label`, or it says the item's `value`",
    )


_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,200}")


class OwnRequest(WorkflowPart):
    """The JSON that such a page requests itself, by GET and without a proof of who asks.

    It is read in the page's stead, once it was seen to say the same as three pages.
    """

    url: str = Field(
        description="template of its address, which is of the page's own origin: `{path 2}` is the second part of the "
        "path of the page's address, `{query id}` the value of `id` in its query"
    )
    headers: dict[str, str] = Field(default_factory=dict, description="by which the page says what it accepts")
    identity: dict[str, str] = Field(
        min_length=1,
        description="the JSONPath of each value that says whose the answer is, with the part of the page's address "
        "that it has to be; each part of the page's address that differs is among them, whether `url` takes it or not",
    )
    says_label: bool = Field(False, description="some text of the answer has to hold what the list calls the item")
    fields: tuple[FieldNode, ...] = Field(min_length=1, description="where the record's fields are in the answer")

    @model_validator(mode="after")
    def _is_traced(self) -> OwnRequest:
        taken = set(parts_in(self.url))
        if not taken or taken - set(self.identity.values()):
            raise ValueError("`url` takes parts of the page's address, and each of them is in `identity`")
        for name, value in self.headers.items():
            if name not in WANTED_HEADERS or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"`headers`: only {', '.join(sorted(WANTED_HEADERS))} are sent, not {name!r}")
        if any(channel.place.kind != "json" for field in self.fields for channel in field.channels):
            raise ValueError("the places in an answer are given by `json`")
        for path in self.identity:
            if (fault := path_fault(path)) is not None:
                raise ValueError(f"`identity`: {path} {fault}")
        return self


class Branch(WorkflowPart):
    """The fields of one kind of page."""

    id: str = Field(pattern=NAME, description="by which nodes refer to it")
    signature: Signature = Field(description="on which pages it is used")
    fields: tuple[FieldNode, ...] = Field(min_length=1, description="what is read")
    request: OwnRequest | None = Field(None, description="the JSON that may be read in the page's stead")
    learned_from: tuple[str, ...] = Field((), description="artifact ids of the pages that it was learned from")

    @property
    def key(self) -> str:
        """The same for two branches that read every page alike, whatever versions they are in: a hash."""
        read: dict[str, Json] = {
            "signature": self.signature.as_json(),
            "fields": [field.as_json() for field in self.fields],
        }
        if self.request is not None:
            read["request"] = self.request.as_json()
        return hashlib.sha256(json.dumps(read, sort_keys=True, default=str).encode()).hexdigest()[:16]
