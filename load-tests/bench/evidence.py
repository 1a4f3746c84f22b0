"""The cost of keeping evidence for learning: forms are sent and pages are read, with evidence and without.

Both run in turns in one browser, by a model that knows the truth and answers at once. So the share of a step's time
is the largest that there can be: with a model that thinks for a second it is a fraction of that.

    python load-tests/bench/evidence.py [--sessions 20] [--quick] [--json]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

from _report import Report, Target, arguments
from _site import demo_site

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))

from shop.drift import COLOURS, RECORD_SCHEMA, Drift, article

from shoal.agent.browser import Browser
from shoal.agent.chromium.process.launch import launch
from shoal.agent.hooks import Upload
from shoal.agent.models.openai_compatible import OpenAICompatible
from shoal.agent.models.settings import ModelSettings
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.sessions import attempt, session
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import ArtifactRef, Checkpoint, LoopItem
from shoal.agent.worker_messages import Work
from tests.embedded import oracle

SEED = 1
FORM, PAGE = "a form", "a page"


class Surroundings:
    """The services that a session is lent; artifacts are files, as a worker without an object store keeps them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __call__(self, url: str) -> None:
        """Every page may be opened."""

    async def keep(self, kind: str, data: bytes, content_type: str) -> ArtifactRef:
        key = uuid.uuid4().hex
        await asyncio.to_thread((self._folder / key).write_bytes, data)
        return ArtifactRef(key, kind, key, content_type, len(data))

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


async def took(browser: Browser, policy: ModelPolicy, folder: Path, spec: Json, item: LoopItem) -> tuple[float, int]:
    """The seconds of one session, and how many steps and readings it took."""
    around = Surroundings(folder)
    work = Work(1, 1, 1, "t", 1, 1, JobSpec.model_validate(spec), item, None, None, None)
    lent = SessionDependencies(
        browser=browser, policy=policy, navigation_guard=around, artifact_sink=around, journal=around, secrets=around
    )
    outcome = await session.run(work, lent)
    assert outcome.status is Status.COMPLETED, (outcome.error, outcome.reason)
    return outcome.seconds, sum(len(task.steps) + (task.type == "extract") for task in outcome.tasks)


def form_of(site: str, n: int) -> tuple[Json, LoopItem]:
    row = json.dumps({"name": f"Ada {n}", "email": f"ada{n}@example.org", "colour": COLOURS[1 + n % 2]})
    spec = {
        "url": f"{site}/drift/{SEED}/form",
        "goal": "Ask for a quote with the details of the row",
        "loop": {"values": [row]},
        "repeatable": False,
    }
    return spec, LoopItem(n, row, False)


def page_of(site: str, n: int) -> tuple[Json, LoopItem]:
    link = f"{site}/drift/{SEED}/{Drift.NONE}/i/{n}"
    spec = {"url": site, "loop": {"values": [link], "is_link": True}, "extract": {"schema": RECORD_SCHEMA}}
    return spec, LoopItem(n, link, True, article(SEED, n).name)


async def measure(site: str, url: str, sessions: int, folder: Path, report: Report) -> None:
    """Sessions with evidence and without, in turns."""
    browser = await launch()
    client = OpenAICompatible(ModelSettings(base_urls=(url,), model="oracle", timeout_s=10))
    policy = ModelPolicy(client, RulesPolicy())
    try:
        for kind, made in ((FORM, form_of), (PAGE, page_of)):
            await took(browser, policy, folder, *made(site, 0))  # it is warm
            for n in range(1, 1 + sessions):
                for kept in (True, False) if n % 2 else (False, True):
                    with patch.object(attempt, "teaches", lambda work, policy, kept=kept: kept):
                        seconds, steps = await took(browser, policy, folder, *made(site, n))
                    report.add(f"{kind}: ms a step, {'with' if kept else 'without'} evidence", 1000 * seconds / steps)
    finally:
        await client.close()
        await browser.close()


def main() -> None:
    """Measures and prints."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--sessions", type=int, default=20, help="of each kind")
    options = parser.parse_args()
    shares = {kind: f"{kind}: share of a step's time" for kind in (FORM, PAGE)}
    report = Report("evidence", {share: Target(0.05, at_least=False) for share in shares.values()})
    with demo_site() as site, oracle() as url, tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(site, url, 5 if options.quick else options.sessions, Path(folder), report))
    for kind, share in shares.items():
        bare, kept = (report.median(f"{kind}: ms a step, {how} evidence") for how in ("without", "with"))
        report.add(share, (kept - bare) / bare)
    report.notes.append(f"load {os.getloadavg()[0]:.1f}")
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
