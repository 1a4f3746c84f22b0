"""Repairs are tested on kept pages: what was read well is read alike, what taught the repair as its baseline did."""

from __future__ import annotations

import zlib

import pytest

from shoal.agent.documents.kept_pages import checked, stored_pages
from shoal.agent.spec import FieldPlace
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode, Signature
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.judging.phase import LearningStep, Phase
from shoal.agent.workflows.judging.promotion import VersionFigures
from shoal.agent.workflows.judging.repair import with_branch
from shoal.agent.workflows.learning.evidence import SessionEvidence
from shoal.agent.workflows.learning.page_sample import PageSample
from shoal.services.dispatch.learned_step import checked_step
from shoal.services.store.learning.records import LearningDue

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "sku": {"type": "string"}},
    "required": ["name", "sku"],
}
OLD = "<html lang=en><head></head><body><main><h1>{}</h1><p class=sku>{}</p><p class=part>P-0</p></main></body></html>"
NEW = "<html lang=en><head></head><body><article><h1>{}</h1><b class=part>{}</b></article></body></html>"


def places(selector: str) -> tuple[Channel, ...]:
    return (
        Channel(family="css", place=FieldPlace(select=selector)),
        Channel(family="structure", place=FieldPlace(select=f"body {selector}")),
    )


def branch(name: str, inside: str, sku: str) -> Branch:
    """A branch for pages that have one element, with the selector of the second field."""
    return Branch(
        id=name,
        signature=Signature(url="https://shop.example/p/{}", required=(inside,)),
        fields=(
            FieldNode(name="name", channels=places("h1"), is_label=True),
            FieldNode(name="sku", channels=places(sku)),
        ),
    )


FIRST = Version(
    number=1,
    state="active",
    nodes=(ExtractNode(id="read"),),
    branches=(branch("item", "main", ".sku"),),
    record_schema=SCHEMA,
)


def kept(n: int, html: str, *, said: str = "", head: str = "") -> tuple[str, bytes, bytes]:
    """A page of item `n`, and the evidence of the session that read it; `said`: what its baseline read."""
    url, name, sku = f"https://shop.example/p/{n}", f"Stool {n}", f"S-{n}"
    sample = PageSample(url=url, record={"name": name, "sku": said or sku}, channels={}, snapshot=f"page{n}")
    run = SessionEvidence(item=url, label=name, is_link=True, pages=(sample,))
    page = html.format(name, sku).replace("<head>", f"<head>{head}")
    return f"page{n}", zlib.compress(page.encode()), run.packed()


@pytest.mark.parametrize(
    ("added", "pages", "right", "wrong"),
    [
        (branch("new", "article", ".part"), [kept(1, OLD), kept(2, OLD), kept(3, NEW)], 3, ""),
        (branch("new", "h1", ".part"), [kept(1, OLD), kept(3, NEW)], 1, "it was read, and is no more: branches"),
        (branch("new", "article", ".part"), [kept(1, OLD), kept(3, NEW, said="S-4")], 1, "sku is read otherwise"),
        (branch("new", "article", ".none"), [kept(1, OLD), kept(3, NEW)], 1, ""),
        (branch("new", "article", ".part"), [kept(1, OLD, head="<meta http-equiv=refresh content=1>")], 0, ""),
    ],
    ids=[
        "right",
        "it reads an old page, too",
        "it reads a new page wrong",
        "it cannot be seen",
        "only a browser tells",
    ],
)
def test_a_repair_is_tested_on_pages_that_its_version_and_its_own_samples_have_kept(
    added: Branch, pages: list[tuple[str, bytes, bytes]], right: int, wrong: str
) -> None:
    test = checked(FIRST, with_branch(FIRST, added), stored_pages(pages), SCHEMA)
    assert test.tested == right, test
    assert len(test.wrong) == bool(wrong) and all(wrong in told for told in test.wrong), test


def due(ended: int = 3) -> LearningDue:
    return LearningDue(1, Phase.ITEMS, (), ended, VersionFigures(), 1, FIRST, SCHEMA)


def repaired(added: Branch) -> LearningStep:
    return LearningStep(Phase.SHADOW, "repaired with 3 items", 5, with_branch(FIRST, added), "shadow")


def test_a_repair_that_loses_a_page_is_refused_and_more_items_teach() -> None:
    pages = [kept(1, OLD), kept(3, NEW)]
    good = checked_step(due(), repaired(branch("new", "article", ".part")), pages)
    assert (good.phase, good.version is not None) == (Phase.SHADOW, True)
    assert good.why == "repaired with 3 items; 2 kept pages are read as they were"
    bad = checked_step(due(), repaired(branch("new", "h1", ".part")), pages)
    assert (bad.phase, bad.let_go, bad.version) == (Phase.ITEMS, 2, None)
    assert bad.why.startswith("the repair is refused: of kept pages, https://shop.example/p/1: it was read")
    last = checked_step(due(9), repaired(branch("new", "h1", ".part")), pages)
    assert (last.phase, last.version) == (Phase.REPLAY, None), "the version that there was goes on"


def test_what_says_nothing_tests_nothing(caplog: pytest.LogCaptureFixture) -> None:
    page, html, run = kept(1, OLD)
    assert stored_pages([(page, b"no page", run), (page, html, b"no evidence"), ("another", html, run)]) == []
    assert caplog.text.count("a kept page cannot be read") == 2, "told, not passed over in silence"
