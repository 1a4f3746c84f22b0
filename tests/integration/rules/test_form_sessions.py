"""Whole sessions with forms: what is kept of one in doubt, that no password is stored, and files that are no pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.addresses import Reach
from shoal.services.browsers.config import WorkerConfig
from shoal.services.browsers.session_parts.real_parts import make_worker
from shoal.services.browsers.worker import Worker
from tests.integration.rules.test_form_outcomes import Accounts, _Handler
from tests.loopback import served
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.asyncio(loop_scope="module")

PASSWORD = "hunter-of-22-geese"
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"


class _WithFile(_Handler):
    def do_GET(self) -> None:
        if not self.path.endswith(".pdf"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "application/pdf")
        self.send_header("Content-Disposition", 'attachment; filename="report.pdf"')
        self.send_header("Content-Length", str(len(PDF)))
        self.end_headers()
        self.wfile.write(PDF)


@pytest.fixture
def club() -> Iterator[Accounts]:
    """The site with accounts, and a file."""
    here = Accounts()
    with served(type("Handler", (_WithFile,), {"site": here})) as here.url:
        yield here


@pytest_asyncio.fixture(loop_scope="module")
async def worker(tmp_path: Path) -> AsyncIterator[Worker]:
    """A worker with files as its artifact store."""
    config = WorkerConfig(
        slots=1, artifacts_url=(tmp_path / "artifacts").as_uri(), reach=Reach(True, ()), temp_dir=str(tmp_path)
    )
    made = await make_worker("w", config)
    yield made
    await made.close()


async def ends(worker: Worker, url: str, **spec: Any) -> Outcome:
    """Return how a session of this job ends."""
    job = JobSpec.model_validate({"url": url, "policy": "rules", "politeness": {"robots": False}, **spec})
    await worker.submit([Work(1, 1, 1, "t", 1, 0, job, None, None, None, None)])
    seen = 0
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for report in (await worker.pull(seen, seen)).reports():
                seen = report.serial
                if report.outcome is not None:
                    return report.outcome
                if report.wants_ack:
                    await worker.confirm(seen, frozenset(), {})


async def test_a_doubtful_form_leaves_both_pages(worker: Worker, club: Accounts, tmp_path: Path) -> None:
    evidence = {"screenshots": "errors"}
    outcome = await ends(worker, f"{club.url}/silent", goal="send the note", data={"name": "Ann"}, artifacts=evidence)
    assert outcome.status is Status.UNSURE, outcome
    kinds = [one.kind for one in outcome.artifacts]
    assert kinds.count("screenshot") == 2
    texts = [_file(tmp_path, one.key).read_text() for one in outcome.artifacts if one.kind == "page"]
    assert ["before it was sent" in text for text in texts] == [True, False]
    assert all("Note" in text for text in texts)


async def test_a_login_stores_no_password(worker: Worker, club: Accounts) -> None:
    club.accounts["ann"] = PASSWORD
    data = {"username": "ann", "password": PASSWORD}
    outcome = await ends(worker, f"{club.url}/both", goal="log in", data=data)
    assert outcome.status is Status.COMPLETED, outcome
    assert club.logins == ["ann"]
    assert PASSWORD not in repr(outcome)
    assert "(hidden)" in repr(outcome.tasks)


async def test_a_wrong_password_is_failed_and_not_in_doubt(worker: Worker, club: Accounts) -> None:
    outcome = await ends(worker, f"{club.url}/both", goal="log in", data={"username": "ann", "password": "wrong-1"})
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert "correct user name and password" in outcome.error.message
    assert not outcome.error.retryable


async def test_a_file_is_no_page_and_is_kept(worker: Worker, club: Accounts) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    outcome = await ends(worker, f"{club.url}/report.pdf", extract={"schema": schema})
    assert outcome.error is not None
    assert outcome.error.code == "not_a_page", outcome.error
    assert "download" in [one.kind for one in outcome.artifacts]


async def test_an_upload_that_is_refused_is_tried_once(worker: Worker, club: Accounts) -> None:
    data = {"name": "Ann", "message": "See file", "attachment": "/nowhere/plan.txt"}
    outcome = await ends(worker, f"{club.url}/upload", goal="send a message", data=data)
    assert outcome.error is not None
    assert outcome.error.code == "form_incomplete", outcome.error
    assert "attachment" in outcome.error.message and "/nowhere/plan.txt" in outcome.error.message
    tries = [r for task in outcome.tasks for step in task.steps for r in step.results if r.action.name == "upload_file"]
    assert len(tries) == 1
    assert club.posts == []


def _file(folder: Path, key: str) -> Path:
    return next(path for path in (folder / "artifacts").rglob("*") if str(path).endswith(key))
