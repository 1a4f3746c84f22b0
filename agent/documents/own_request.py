"""Reading of a page's own request in the page's stead, beside its document: for pages that scripts fill with JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import RawDocument, ReadDocument
from shoal.agent.documents.signature import ScriptSignature
from shoal.agent.read.by_place.page_json import Document
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import Branch, OwnRequest
from shoal.agent.workflows.format.page_parts import filled
from shoal.agent.workflows.reading.branch_reader import read_page
from shoal.agent.workflows.reading.own_answer import NoAnswer, answer_of, outline_of, words_of
from shoal.agent.workflows.reading.page_guards import PASSWORD
from shoal.agent.workflows.reading.page_view import places_of, view_from


@dataclass(frozen=True, slots=True)
class OwnReading:
    """The reading of one item from its page's own request."""

    branch: Branch
    request: OwnRequest
    item: LoopItem
    schema: Mapping[str, Json] | None
    locale: str

    @classmethod
    def of(cls, spec: JobSpec, item: LoopItem) -> Self | None:
        """The reading by the job's workflow; None where pages are of two kinds, or request nothing that is known."""
        if spec.workflow is None:
            return None
        (version,) = spec.workflow["versions"]
        branches = version.get("branches", [])
        branch = Branch.model_validate(branches[0]) if len(branches) == 1 else None
        if branch is None or branch.request is None:
            return None
        schema = spec.extract.record_schema if spec.extract is not None else version.get("schema")
        return cls(branch, branch.request, item, schema, spec.browser.locale or "")

    @property
    def page_parameters(self) -> dict[str, Any]:
        """Return the parameters for the page's document: whether it is there, and no login."""
        nothing: dict[str, Any] = {"fields": {}, "records": None, "many": False, "near": False, "json": False}
        return {**nothing, "selectors": [PASSWORD], "texts": False}

    def address(self, page_url: str) -> str:
        """Return what the page at `page_url` requests.

        Raises:
            BeyondDocument: its address has not the parts that the request takes.
        """
        address = filled(self.request.url, page_url)
        if not address:
            raise BeyondDocument("the page's address does not tell what the page requests")
        return address

    def with_answer(self, page: ReadDocument, asked: str, raw: RawDocument) -> ReadDocument:
        """The page's document and the answer to its own request, as one document. It gives the item's record.

        Args:
            page: what the page's document says.
            asked: the address that was asked for.
            raw: what came.

        Raises:
            BeyondDocument: the answer came from elsewhere, is no JSON, or does not give the record.
        """
        media = raw.headers.get("content-type", "").partition(";")[0].strip().lower()
        if raw.url != asked or not media.endswith("json"):
            raise BeyondDocument("the page's own request is answered by something else")
        try:
            answer = answer_of(raw.url, raw.body.decode("utf-8-sig"))
            words = words_of(answer, self._read)
        except (UnicodeDecodeError, NoAnswer) as error:
            raise BeyondDocument(str(error)) from error
        facts = page.view["facts"]
        assert isinstance(facts, Mapping)  # they were asked for
        view = {**page.view, "facts": {**facts, "answer": {"url": answer.where, "value": answer.value}}}
        if self.record(view) is None:
            raise BeyondDocument("the answer to the page's own request gives no record of the item")
        return replace(page, view=view, signature=self._signature(page, answer), words=words)

    @property
    def _read(self) -> frozenset[str]:
        return frozenset(channel.place.query for field in self.request.fields for channel in field.channels)

    def _signature(self, page: ReadDocument, answer: Document) -> ScriptSignature:
        """Of the page's scripts, of what is read by, and of what the answer is made of."""
        text = f"{page.signature.active} {self.branch.key} {outline_of(answer, self._read)}"
        return ScriptSignature(hashlib.sha256(text.encode()).hexdigest(), page.signature.hooks)

    def record(self, view: Mapping[str, Any]) -> Mapping[str, Json] | None:
        """The record that a view gives, of the page or of its own request; None where it gives none."""
        if "facts" not in view:
            return None
        seen = view_from(view, places_of([self.branch]))
        record = read_page(seen, (self.branch,), self.item, self.schema, locale=self.locale).record
        return record.value if record is not None and isinstance(record.value, Mapping) else None
