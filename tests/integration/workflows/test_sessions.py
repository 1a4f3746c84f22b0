"""Whole sessions: a model works out the first items over real HTTP, and the rest is replayed without it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio
from shop.drift import COLOURS, RECORD_SCHEMA, START, Drift, truth
from shop.oracle import Oracle

from shoal.agent.browser import Browser, Context
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.hooks import Upload
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.policy import Policy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.sessions import session
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import ArtifactRef, Checkpoint, LoopItem, Outcome
from shoal.agent.worker_messages import LearnedUse, Work
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.format.workflow import read_workflow
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import SessionEvidence, unpacked
from tests.integration.workflows.learned import item_of, learn
from tests.model_server import ModelServer, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Surroundings:
    """The services that a session is lent, in memory; the artifacts are kept."""

    artifacts: dict[str, list[bytes]] = field(default_factory=dict)

    async def __call__(self, url: str) -> None:
        """Every page may be opened."""

    async def keep(self, kind: str, data: bytes, content_type: str) -> ArtifactRef:
        self.artifacts.setdefault(kind, []).append(data)
        return ArtifactRef(f"{len(self.artifacts[kind]):032x}", kind, "k", content_type, len(data))

    async def fetch(self, key: str) -> Upload:
        raise AssertionError(key)

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        """Nothing dies here."""

    async def items(self, at: int, items: object) -> None:
        raise AssertionError("no session here has a loop of its own")

    def resolve(self, value: object, url: str) -> object:
        return value

    def granted(self) -> Mapping[str, str]:
        return {}


@pytest_asyncio.fixture(loop_scope="session")
async def model() -> AsyncIterator[tuple[ModelPolicy, ModelServer]]:
    """The model policy, and the server behind it, which knows the truth."""
    async with serving(ModelServer(Oracle().reply)) as server:
        client = OpenAICompatible(ModelSettings(base_urls=(server.url,), model="oracle", timeout_s=60))
        yield ModelPolicy(client, RulesPolicy()), server
        await client.close()


async def run(
    browser: Browser, policy: Policy, spec: Json, item: LoopItem | None, *, learned: LearnedUse | None = None
) -> tuple[Outcome, Surroundings]:
    around = Surroundings()
    work = Work(1, 1, 1, "t", 1, 1, JobSpec.model_validate(spec), item, None, None, None, learned=learned)
    lent = SessionDependencies(
        browser=browser, policy=policy, navigation_guard=around, artifact_sink=around, journal=around, secrets=around
    )
    return await session.run(work, lent), around


def received(site: str) -> Json:
    """The forms that came, in order."""
    with urllib.request.urlopen(f"{site}/drift/77/forms") as answer:
        return json.load(answer)


def evidence(around: Surroundings) -> SessionEvidence:
    [packed] = around.artifacts["evidence"]
    return unpacked(packed)


async def test_pages_are_read_without_the_model_once_it_has_read_some(
    browser: Browser, site: str, model: tuple[ModelPolicy, ModelServer]
) -> None:
    policy, server = model
    spec: Json = {
        "url": f"{site}/drift/1/moved/",
        "extract": {"schema": RECORD_SCHEMA},
        "loop": {"from": {"select": "a.link"}},
        "artifacts": {"screenshots": "none"},
    }
    runs = []
    for n in range(4):
        outcome, around = await run(browser, policy, spec, item_of(site, 1, Drift.MOVED, n))
        assert outcome.status is Status.COMPLETED, outcome.error
        assert around.artifacts["snapshot"]
        runs.append(evidence(around))
    compiled = compile_version(runs, RECORD_SCHEMA)
    assert compiled.version is not None, compiled.open
    asked = len(server.requests)

    for n in range(4, START):
        replayed = WorkflowPolicy("drift", compiled.version)
        outcome, _ = await run(browser, replayed, spec, item_of(site, 1, Drift.MOVED, n))
        assert [one.value for one in outcome.records] == [truth(1, Drift.MOVED, n)], outcome.error
        assert (outcome.usage.model_calls, outcome.records[0].sources["price"].how) == (0, "workflow")
        assert replayed.report.done == ("read",)
        assert outcome.replay is not None and outcome.replay.branches == compiled.version.branches[0].key
    assert len(server.requests) == asked

    tried = WorkflowPolicy("drift", compiled.version)
    outcome, _ = await run(browser, tried, {**spec, "sample": 1}, item_of(site, 1, Drift.MOVED, 4))
    assert outcome.replay is not None and outcome.replay.detail is not None
    detail, record = outcome.replay.detail, truth(1, Drift.MOVED, 4)
    assert (detail.done, detail.misses, detail.intended) == (("read",), (), None)
    assert {name: field.value for name, field in detail.fields.items()} == record
    price = detail.fields["price"]
    assert len(price.agreed) >= 2 and price.agreed[0] in {channel.family for channel in price.channels}
    assert all(channel.value in (None, record["price"]) for channel in price.channels)

    missed = item_of(site, 1, Drift.MOVED, START)
    tried = WorkflowPolicy("drift", compiled.version)
    outcome, _ = await run(browser, tried, {**spec, "sample": 1}, missed)
    assert outcome.error is not None and outcome.error.code == "workflow_miss"
    assert outcome.replay is not None and outcome.replay.detail is not None and outcome.replay.detail.misses
    alone = WorkflowPolicy("drift", compiled.version)
    outcome, _ = await run(browser, alone, spec, missed)
    assert outcome.error is not None and outcome.error.code == "workflow_miss"
    assert alone.report.misses and outcome.records == ()

    backed = WorkflowPolicy("drift", compiled.version, policy)
    outcome, around = await run(browser, backed, spec, missed)
    assert [one.value for one in outcome.records] == [truth(1, Drift.MOVED, START)]
    assert backed.report.handed_over and outcome.usage.model_calls > 0
    assert evidence(around).pages, "what the model reads after a miss is what a repair learns from"


async def test_an_extraction_keeps_to_its_conditions_and_to_what_its_miss_leads_to(
    browser: Browser, site: str, model: tuple[ModelPolicy, ModelServer], page: Context
) -> None:
    policy, _ = model
    compiled = await learn(page, site, 1, Drift.MOVED)
    reading = {"url": f"{site}/drift/1/moved/", "goal": "Read it.", "extract": {"schema": RECORD_SCHEMA}}
    spec: Json = {**reading, "artifacts": {"screenshots": "none"}}

    def version(**node: Json) -> Version:
        given = {"nodes": [{"id": "read", "kind": "extract", **node}], "branches": compiled.branches}
        return Version.model_validate(given)

    early = version(pre=[{"kind": "text", "value": "no page says this"}])
    replayed = WorkflowPolicy("drift", early, policy)
    outcome, _ = await run(browser, replayed, spec, item_of(site, 1, Drift.MOVED, 4))
    assert [str(miss.reason) for miss in replayed.report.misses] == ["condition"]
    assert replayed.report.handed_over and outcome.usage.model_calls > 0

    replayed = WorkflowPolicy("drift", version(on_miss="fail"), policy)
    outcome, _ = await run(browser, replayed, spec, item_of(site, 1, Drift.MOVED, START))
    assert outcome.error is not None and outcome.error.code == "workflow_miss", outcome
    assert (outcome.usage.model_calls, outcome.records) == (0, ())


async def test_a_page_with_several_records_is_kept_and_teaches_nothing(browser: Browser, site: str) -> None:
    spec: Json = {
        "url": f"{site}/drift/1/none/?items=5",
        "extract": {"records": "li", "fields": {"name": {"select": "a.link"}}},
        "artifacts": {"screenshots": "none"},
    }
    outcome, around = await run(browser, RulesPolicy(), spec, None, learned=LearnedUse.TEACH)
    assert (outcome.status, len(outcome.records)) == (Status.COMPLETED, 5), outcome.error
    (kept,) = around.artifacts["snapshot"]
    assert zlib.decompress(kept).decode().count('class="link"') == 5
    assert "evidence" not in around.artifacts, "several records of one page are not learned"


async def test_a_try_does_not_do_what_may_run_once_only_though_it_sends_nothing(browser: Browser, site: str) -> None:
    nodes = [
        {"id": "open", "kind": "action", "action": "goto", "args": {"url": {"const": f"{site}/all"}}, "once": True}
    ]
    given = {
        "format": "shoal-workflow/1",
        "name": "once",
        "scope": {"site": "127.0.0.1"},
        "versions": [{"number": 1, "state": "draft", "by": "person", "nodes": nodes}],
    }
    (version,) = read_workflow(given).versions
    spec: Json = {"url": f"{site}/", "goal": "Open the list.", "artifacts": {"screenshots": "none"}}
    item = LoopItem(0, f"{site}/", is_link=True)

    tried, _ = await run(browser, WorkflowPolicy("once", version), {**spec, "sample": 1, "repeatable": False}, item)
    assert tried.error is not None and tried.error.code == "sample_sends_nothing", tried
    assert tried.url == f"{site}/"
    assert tried.replay is not None and tried.replay.detail is not None and tried.replay.detail.intended is not None
    assert (tried.replay.detail.intended.node, tried.replay.detail.done) == ("open", ())

    done, _ = await run(browser, WorkflowPolicy("once", version), spec, item)
    assert (done.status, done.url) == (Status.COMPLETED, f"{site}/all"), done.error


async def test_forms_are_filed_without_the_model_once_it_has_filed_two(
    browser: Browser, site: str, model: tuple[ModelPolicy, ModelServer], tmp_path: Path
) -> None:
    policy, server = model
    rows = [{"name": f"Ada {n}", "email": f"ada{n}@example.org", "colour": COLOURS[(n + 1) % 3]} for n in range(6)]
    spec: Json = {
        "url": f"{site}/drift/77/form",
        "goal": "Ask for a quote with the details of the row",
        "loop": {"values": [json.dumps(row) for row in rows]},
        "repeatable": False,
        "artifacts": {"screenshots": "none"},
    }
    items = [LoopItem(n, json.dumps(row), False) for n, row in enumerate(rows)]
    runs = []
    pictured = {**spec, "artifacts": {"screenshots": "all"}}
    for item in items[:2]:
        outcome, around = await run(browser, policy, pictured, item)
        assert outcome.status is Status.COMPLETED, (outcome.error, outcome.reason)
        runs.append(evidence(around))
    assert [one.origins["value"].kind for one in runs[0].actions if one.action == "fill"] == ["loop", "loop"]
    compiled = compile_version(runs, None)
    assert compiled.version is not None, compiled.open
    assert all(step.screenshot for node in compiled.version.nodes for step in node.evidence), "each has its picture"
    asked = len(server.requests)
    tried = WorkflowPolicy("quote", compiled.version)
    outcome, _ = await run(browser, tried, {**spec, "sample": 1}, items[2])
    assert outcome.error is not None and outcome.error.code == "sample_sends_nothing", outcome
    assert outcome.replay is not None and outcome.replay.detail is not None
    intended = outcome.replay.detail.intended
    assert intended is not None and compiled.version.node(intended.node).submits, outcome.replay.detail
    assert len(intended.found_by) >= 2
    assert len(outcome.replay.detail.done) >= 3, "all fields were filled before it"
    assert await asyncio.to_thread(received, site) == rows[:2], "nothing was sent"
    for item in items[2:]:
        outcome, _ = await run(browser, WorkflowPolicy("quote", compiled.version), spec, item)
        assert outcome.status is Status.COMPLETED, (outcome.error, outcome.reason)
    assert len(server.requests) == asked
    assert await asyncio.to_thread(received, site) == rows, "each row was received once, with its own values"

    by_script = {"name": "Eve", "email": "eve@example.org", "colour": "blue"}
    script = tmp_path / "quote.py"
    script.write_text(write_playwright(compiled.version, "quote").text)
    command = [sys.executable, str(script), json.dumps(by_script), f"{site}/drift/77/form"]
    env = {**os.environ, "CHROMIUM": str(find_chromium()), "NO_SANDBOX": "1"}
    done = await asyncio.to_thread(subprocess.run, command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout or "null")) == (0, {}), done.stderr
    rows.append(by_script)
    assert await asyncio.to_thread(received, site) == rows

    relabelled = {**spec, "url": f"{site}/drift/77/form?relabelled=1"}
    alone = WorkflowPolicy("quote", compiled.version)
    outcome, _ = await run(browser, alone, relabelled, LoopItem(9, json.dumps(rows[0]), False))
    assert outcome.status is not Status.COMPLETED or not alone.report.misses
    assert await asyncio.to_thread(received, site) in (rows, [*rows, rows[0]])
