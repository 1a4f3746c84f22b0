"""Repairs that read pages are tested on kept pages, before anything is compared.

The pages are those that the version was learned from, and those that its repair was. Each is read without a browser,
so a page of which only a browser can tell proves nothing. The shadow and the canary prove the rest.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.judging.audit import differences
from shoal.agent.workflows.learning.evidence import unpacked
from shoal.agent.workflows.learning.page_sample import PageSample
from shoal.agent.workflows.reading.branch_reader import read_page
from shoal.agent.workflows.reading.page_view import PageView, places_of, selectors_of, view_from, view_parameters
from shoal.agent.workflows.verdict import PageRead

_log = logging.getLogger(__name__)

_DOCTYPE = b"<!doctype html>"
"""Kept pages are without theirs."""
_HTML = {"content-type": "text/html; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class KeptPage:
    """One page of which the record is known, as it was."""

    sample: PageSample
    item: LoopItem
    html: bytes


@dataclass(frozen=True, slots=True)
class RepairTest:
    """The result of a repair on the kept pages."""

    tested: int  # pages on which it was seen to be right
    wrong: tuple[str, ...]  # what it reads otherwise, in words

    def __str__(self) -> str:
        return f"{self.tested} kept pages are read as they were"


def stored_pages(kept: Iterable[tuple[str, bytes, bytes]]) -> list[KeptPage]:
    """The pages among what sessions have kept; what cannot be read says nothing.

    Args:
        kept: of each page its artifact's id, the page, and the evidence of its session.
    """
    pages: list[KeptPage] = []
    for name, page, evidence in kept:
        try:
            run, html = unpacked(evidence), zlib.decompress(page)
        except (ValueError, zlib.error):
            _log.warning("a kept page cannot be read, and no repair is tested on it: %s", name, exc_info=True)
            continue
        item = LoopItem(0, run.item, run.is_link, run.label)
        pages += [KeptPage(sample, item, html) for sample in run.pages if sample.snapshot == name]
    return pages


def checked(old: Version, new: Version, pages: Sequence[KeptPage], schema: Mapping[str, Json] | None) -> RepairTest:
    """Test that a repair reads pages as the version did, and those that it was learned from as the baseline did."""
    right, wrong = 0, []
    for page in pages:
        view = _view(page, new.branches)
        if view is None:
            continue
        before, after = (read_page(view, version.branches, page.item, schema) for version in (old, new))
        fault = _fault(page.sample, before, after)
        wrong += [f"{page.sample.url}: {fault}"] if fault else []
        right += not fault and after.record is not None
    return RepairTest(right, tuple(wrong))


def _fault(sample: PageSample, before: PageRead, after: PageRead) -> str:
    """Return what is wrong with how the repair reads a page, in words; "" where nothing is."""
    if after.record is None:
        lost = "; ".join(f"{miss.where}: {miss.detail}" for miss in after.misses)
        return f"it was read, and is no more: {lost}" if before.record is not None else ""
    known = sample.record if before.record is None else before.record.value
    assert isinstance(known, Mapping) and isinstance(after.record.value, Mapping)  # branches read objects
    fields = differences(after.record.value, known)
    return f"{', '.join(fields)} is read otherwise" if fields else ""


def _view(page: KeptPage, branches: Sequence[Branch]) -> PageView | None:
    """The page, seen without a browser; None where only a browser can tell."""
    places = places_of(branches)
    asked = view_parameters(places, selectors_of(branches))
    raw = RawDocument(page.sample.url, page.sample.status or 200, _HTML, _DOCTYPE + page.html)
    try:
        answer = HtmlDocument(raw).read(asked).view
    except BeyondDocument:
        return None
    return view_from(answer, places)
