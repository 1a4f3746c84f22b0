"""Whole sessions with forms: what is kept of one in doubt, that no password is stored, and files that are no pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.agent.status import Status
from tests.integration.rules.conftest import Sessions
from tests.integration.rules.test_form_outcomes import Accounts, _Handler
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")

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


async def test_a_doubtful_form_leaves_both_pages(sessions: Sessions, club: Accounts) -> None:
    evidence = {"screenshots": "errors"}
    outcome = await sessions.end(f"{club.url}/silent", goal="send the note", data={"name": "Ann"}, artifacts=evidence)
    assert outcome.status is Status.UNSURE, outcome
    kinds = [one.kind for one in outcome.artifacts]
    assert kinds.count("screenshot") == 2
    texts = [sessions.file(one.key).read_text() for one in outcome.artifacts if one.kind == "page"]
    assert ["before it was sent" in text for text in texts] == [True, False]
    assert all("Note" in text for text in texts)


async def test_a_login_stores_no_password(sessions: Sessions, club: Accounts) -> None:
    club.accounts["ann"] = PASSWORD
    data = {"username": "ann", "password": PASSWORD}
    outcome = await sessions.end(f"{club.url}/both", goal="log in", data=data)
    assert outcome.status is Status.COMPLETED, outcome
    assert club.logins == ["ann"]
    assert PASSWORD not in repr(outcome)
    assert "(hidden)" in repr(outcome.tasks)


async def test_a_wrong_password_is_failed_and_not_in_doubt(sessions: Sessions, club: Accounts) -> None:
    outcome = await sessions.end(f"{club.url}/both", goal="log in", data={"username": "ann", "password": "wrong-1"})
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert "correct user name and password" in outcome.error.message
    assert not outcome.error.retryable


async def test_a_file_is_no_page_and_is_kept(sessions: Sessions, club: Accounts) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    outcome = await sessions.end(f"{club.url}/report.pdf", extract={"schema": schema})
    assert outcome.error is not None
    assert outcome.error.code == "not_a_page", outcome.error
    assert "download" in [one.kind for one in outcome.artifacts]


async def test_an_upload_that_is_refused_is_tried_once(sessions: Sessions, club: Accounts) -> None:
    data = {"name": "Ann", "message": "See file", "attachment": "/nowhere/plan.txt"}
    outcome = await sessions.end(f"{club.url}/upload", goal="send a message", data=data)
    assert outcome.error is not None
    assert outcome.error.code == "form_incomplete", outcome.error
    assert "attachment" in outcome.error.message and "/nowhere/plan.txt" in outcome.error.message
    tries = [r for task in outcome.tasks for step in task.steps for r in step.results if r.action.name == "upload_file"]
    assert len(tries) == 1
    assert club.posts == []
