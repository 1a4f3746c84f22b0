"""Items of a loop that has learned from the rules: a document's record counts only to the letter of what they read."""

from __future__ import annotations

import pytest

from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.documents.question import DocumentQuestion
from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.workflow import DocumentPolicy
from shoal.agent.spec import FieldPlace, JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem, Record
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode, Signature
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import Version
from tests.doubles.browser_double import FakeBrowser, FakePage
from tests.worker_world import PlainPolicy

pytestmark = pytest.mark.asyncio

URL = "https://shop.example/p/7"
NAME, SKU = "Oak stool", "HR-12ab"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "sku": {"type": "string"}}}
JOB = JobSpec.model_validate({"url": URL, "extract": {"schema": SCHEMA}})
PAGE = f"<!doctype html><html lang=en><main><h1>{NAME}</h1><p class=sku>{SKU}</p></main>"


def read_by(select: str, same: str) -> tuple[Channel, ...]:
    return (
        Channel(family="css", place=FieldPlace(select=select)),
        Channel(family="structure", place=FieldPlace(select=same)),
    )


VERSION = Version(
    nodes=(ExtractNode(id="read", branches=("item",)),),
    branches=(
        Branch(
            id="item",
            signature=Signature(url="https://shop.example/p/{}"),
            fields=(
                FieldNode(name="name", channels=read_by("h1", "main > h1"), is_label=True),
                FieldNode(name="sku", channels=read_by(".sku", "main > p")),
            ),
        ),
    ),
    schema=SCHEMA,
)


class Rules(PlainPolicy):
    """Read the same of the page each time; None: the page states no field."""

    def __init__(self, sku: str | None) -> None:
        self.sku = sku
        self.readings = 0

    async def extract(self, state: SessionState) -> Extraction:
        self.readings += 1
        if self.sku is None:
            raise FieldsMissing("no field", fields=("sku",))
        return Extraction((Record({"name": NAME, "sku": self.sku}),))


def documents(document: str, page: str) -> FakeBrowser:
    """A browser whose one address has this document, which scripts turn into this page."""

    def answer(script: str, arg: Json) -> Json:
        assert JOB.extract is not None
        question = DocumentQuestion.of(script, arg, JOB.extract)
        assert question is not None, "a workflow asks for places"
        body = (page if question.rendered else document).encode()
        raw = RawDocument(URL, 200, {"content-type": "text/html; charset=utf-8"}, body)
        read = HtmlDocument(raw).read(question.arg)
        told = dict(read.view)
        return {**told, "facts": {**told["facts"], "document": not question.rendered}}

    return FakeBrowser({URL: FakePage(read=answer)})


async def outcome(rules: Rules, document: str = PAGE, *, audited: bool = True) -> tuple[DocumentPolicy, Json]:
    """The policy once it has read the item, and the record that it gave."""
    policy = DocumentPolicy("books", VERSION, rules, audited=audited)
    page = await documents(document, PAGE).new_context()
    await page.goto(URL)
    state = SessionState(spec=JOB, loop=None, item=LoopItem(7, URL, True, NAME), page=page)
    (record,) = (await policy.extract(state)).records
    return policy, record.value


async def test_a_document_that_says_what_the_rules_read_is_right() -> None:
    policy, record = await outcome(Rules(SKU))
    assert record == {"name": NAME, "sku": SKU}
    assert (policy.replay.audit, policy.replay.whole, policy.read_by) == ("right", True, "books@1")


@pytest.mark.parametrize("sku", [SKU.upper(), f"{SKU}  ", SKU.replace("a", "á"), SKU.replace("1", "１")])
async def test_a_document_that_only_spells_a_text_otherwise_than_the_rules_is_wrong(sku: str) -> None:
    policy, record = await outcome(Rules(sku))
    assert record == {"name": NAME, "sku": sku}, "the record is the rules'"
    assert (policy.replay.audit, policy.replay.differing) == ("wrong", ("sku",))
    assert (policy.replay.whole, policy.missed, policy.read_by) == (False, True, "")


async def test_a_page_that_a_browser_had_to_open_is_compared_to_the_letter_too() -> None:
    policy, record = await outcome(Rules(SKU.upper()), PAGE.replace(f">{SKU}<", "><"), audited=False)
    assert record == {"name": NAME, "sku": SKU.upper()}
    assert (policy.missed, policy.read_by) == (True, "")


async def test_the_rules_read_no_page_whose_document_is_enough_and_is_not_audited() -> None:
    rules = Rules("another")
    policy, record = await outcome(rules, audited=False)
    assert (record, rules.readings, policy.read_by) == ({"name": NAME, "sku": SKU}, 0, "books@1")


@pytest.mark.parametrize("told", [f"<s>{SKU}</s>", f"HR-34 <del>{SKU}</del>", "n/a", "—", ""])
async def test_a_document_that_is_not_audited_gives_nothing_that_the_rules_take_for_no_value(told: str) -> None:
    rules = Rules("HR-34")
    policy, record = await outcome(rules, PAGE.replace(SKU, told), audited=False)
    assert (record["sku"], policy.read_by, policy.missed) == ("HR-34", "", True)
    assert rules.readings, "the rules read the page instead"


async def test_what_the_rules_do_not_read_is_not_given_by_a_document_that_is_audited() -> None:
    with pytest.raises(FieldsMissing):
        await outcome(Rules(None))
