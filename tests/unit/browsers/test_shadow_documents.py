"""Items in whose shadow a workflow reads are the first by which documents are held to their pages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shoal.agent.documents.context import VISITOR
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.documents.fetching import DocumentClient
from shoal.agent.documents.question import DocumentQuestion
from shoal.agent.documents.trust import SAMPLES
from shoal.agent.documents.unchanged import version_of
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.read.by_place.elements.page_reading import PLACES_JS
from shoal.agent.spec import FieldPlace, JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import page_key
from shoal.agent.types import EarlierReading, LoopItem, Outcome, Record
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.agent.workflows.format.branch import Branch, Channel, FieldNode, Signature
from shoal.agent.workflows.format.node import ExtractNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import Scope, Workflow, write_workflow
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.worker import Worker
from tests.doubles import FakeBrowser, FakePage
from tests.worker_world import FakeParts, PlainPolicy

pytestmark = pytest.mark.asyncio

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
VERSION = Version(
    nodes=(ExtractNode(id="read", branches=("item",)),),
    branches=(
        Branch(
            id="item",
            signature=Signature(url="https://shop.example/{}"),
            fields=(
                FieldNode(
                    name="name",
                    channels=(
                        Channel(family="css", place=FieldPlace(select="h1")),
                        Channel(family="structure", place=FieldPlace(select="main > h1")),
                    ),
                ),
            ),
        ),
    ),
    schema=SCHEMA,
)
KEPT = Workflow(name="w", scope=Scope(site="shop.example"), versions=(VERSION,))
WORKFLOW = json.loads(json.dumps(write_workflow(KEPT)))


def raw(url: str) -> RawDocument:
    name = url.rpartition("/")[2]
    body = f"<!doctype html><html lang=en><main><h1>Lamp {name}</h1></main>".encode()
    return RawDocument(url, 200, {"content-type": "text/html; charset=utf-8"}, body)


def page(url: str) -> FakePage:
    def answer(script: str, arg: Json) -> Json:
        if script == VISITOR:
            return ["Chrome", "en"]
        if script != PLACES_JS:
            return {"name": f"Lamp {url.rpartition('/')[2]}"}
        question = DocumentQuestion.of(script, arg, SPEC.extract)  # type: ignore[arg-type]
        assert question is not None
        told = dict(HtmlDocument(raw(url)).read(question.arg).view)
        return {**told, "facts": {**told["facts"], "document": False}}  # type: ignore[dict-item]

    return FakePage(read=answer)


URLS = [f"https://shop.example/{n}" for n in range(SAMPLES)]
SPEC = JobSpec.model_validate(
    {
        "url": URLS[0],
        "loop": {"values": URLS, "is_link": True},
        "extract": {"schema": SCHEMA},
        "artifacts": {"screenshots": "none"},
    }
)


class Rules(PlainPolicy):
    async def extract(self, state: SessionState) -> Extraction:
        return Extraction((Record(await state.page.read("facts")),))


class Asking(Rules):
    """As a model, which takes its time."""

    instant = False


@dataclass
class Client:
    asked: list[str] = field(default_factory=list)

    async def get(self, url: str, headers: Any, timeout_s: float, most_bytes: int = 0) -> RawDocument:
        self.asked.append(url)
        return raw(url)


async def compared(policy: Policy, *, read_before: bool = False) -> tuple[list[str], list[Outcome], bool]:
    """Requests for documents and the ends of shadowed items, as many as samples are wanted; whether documents count
    from then on."""
    client, browser = Client(), FakeBrowser({url: page(url) for url in URLS})

    class Parts(FakeParts):
        def documents(self, tenant: str) -> DocumentClient | None:
            return client

        def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
            return policy

    config = WorkerConfig(slots=1, artifacts_url="memory:")
    worker = Worker("w", config, Parts([], lambda: browser, config))
    spec = SPEC.below(1).model_copy(update={"workflow": WORKFLOW})
    outcomes: list[Outcome] = []
    seen = 0
    for n, url in enumerate(URLS):
        item = LoopItem(n, url, is_link=True)
        work = Work(n + 1, 1, 7, "t", 1, 1, spec, item, None, None, None, learned=LearnedUse.SHADOW)
        before = Record({"name": "Lamp"}, url=url, version=version_of(page_key(url), raw(url)))
        await worker.submit([replace(work, earlier=EarlierReading("s", (before,)) if read_before else None)])
        while len(outcomes) <= n:
            for report in (await worker.pull(seen, seen)).reports():
                seen = report.serial
                outcomes += [report.outcome] if report.outcome is not None else []
    counts = worker._sites.of(7, "shop.example").opened
    await worker.close()
    assert browser.visits == URLS
    return client.asked, outcomes, counts


async def test_documents_count_once_enough_items_that_the_rules_read_were_shadowed() -> None:
    asked, outcomes, counts = await compared(Rules())
    assert [outcome.status for outcome in outcomes] == [Status.COMPLETED] * SAMPLES
    assert [outcome.records[0].tier for outcome in outcomes] == ["page"] * SAMPLES
    assert all(outcome.replay is not None and outcome.replay.audit == "right" for outcome in outcomes)
    assert (asked, counts) == (URLS, True)


async def test_a_shadowed_item_is_read_though_its_page_has_not_changed() -> None:
    _, outcomes, counts = await compared(Rules(), read_before=True)
    assert all(outcome.replay is not None and outcome.replay.shadow for outcome in outcomes)
    assert [outcome.records[0].carried_over for outcome in outcomes] == [None] * SAMPLES and counts


async def test_a_model_reads_pages_in_whose_shadow_no_document_is_asked_for() -> None:
    asked, outcomes, counts = await compared(Asking())
    assert [outcome.status for outcome in outcomes] == [Status.COMPLETED] * SAMPLES
    assert (asked, counts) == ([], False)
