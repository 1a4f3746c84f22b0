"""Files that pages give a session, and help that does not come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from shoal.agent.errors import HelpMissing
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.status import Status
from shoal.agent.types import Download, Step
from tests.doubles import FakePage
from tests.unit.session.test_session import URL, Clicks, run, work
from tests.worker_world import EXTRACT


class Looks(Clicks):
    """Notes which files observations tell of, and opens the page again before the second and third step."""

    seen: tuple[Download, ...] = ()

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        self.seen += (await state.observe()).downloads
        if steps:
            await state.page.goto(URL)
        return await super().step(state, goal, steps)


async def test_help_that_nobody_gives_ends_the_session_and_says_why() -> None:
    page = FakePage(refuses=HelpMissing("no person answered within 5 s"))
    outcome, browser, _ = await run(work(goal="click", repeatable=False), {URL: page}, policy=Clicks(times=9))
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert (outcome.error.code, outcome.reason) == ("help_missing", "no person answered within 5 s")
    assert len(browser.performed) == 1


async def test_files_of_every_page_become_artifacts_and_observations_name_them(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("a,b")
    page = FakePage(gives=(Download("../Price\u202elist.csv", URL, 3, path=str(path)),), actions={"fill 1": ""})
    policy = Looks(times=2)
    outcome, _, _ = await run(work(goal="click"), {URL: page}, policy=policy)
    kept = [one for one in outcome.artifacts if one.kind == "download"]
    assert {one.name for one in kept} == {"Pricelist.csv"}
    assert len(kept) == 3  # of its first page, which its first step leaves, and of the two that it opens in the others
    assert [file.artifact for file in policy.seen] == [None, kept[1].id]


@pytest.mark.parametrize("given", ["of 4711-geheim.csv", "of 4711\u200b-geheim.csv", "4711-geheim"])
async def test_a_files_name_shows_no_secret(given: str, tmp_path: Path) -> None:
    class Knows(Clicks):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            state.hidden.learn("<secret:code>", "4711-geheim")
            return await super().step(state, goal, steps)

    path = tmp_path / "list.csv"
    path.write_text("a,b")
    page = FakePage(gives=(Download(given, URL, 3, path=str(path)),), actions={"fill 1": ""})
    outcome, _, _ = await run(work(goal="click"), {URL: page}, policy=Knows(times=1))
    names = [kept.name for kept in outcome.artifacts if kept.kind == "download"]
    assert len(names) > 0
    assert all("secret" in name and "4711" not in name for name in names)


@pytest.mark.parametrize(("data", "parsed", "texts"), [(b"%PDF-1.7", "The code is 4711-geheim", 1), (b"a,b", "a,b", 0)])
async def test_the_text_of_a_pdf_is_kept_without_secrets(data: bytes, parsed: str, texts: int, tmp_path: Path) -> None:
    class Knows(Clicks):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            state.hidden.learn("<secret:code>", "4711-geheim")
            return await super().step(state, goal, steps)

    path = tmp_path / "Bill.pdf"
    path.write_bytes(data)
    given = Download("Bill.pdf", URL, 8, text=parsed, path=str(path))
    outcome, _, notes = await run(
        work(goal="click"), {URL: FakePage(gives=(given,), actions={"fill 1": ""})}, policy=Knows(times=1)
    )
    kept = [artifact for artifact in outcome.artifacts if artifact.kind == "download_text"]
    assert len(kept) == texts * len([artifact for artifact in outcome.artifacts if artifact.kind == "download"])
    for artifact in kept:
        assert (artifact.name, artifact.content_type) == ("Bill.pdf.txt", "text/plain; charset=utf-8")
    written = [text for kind, text in zip(notes.kept, notes.bytes_kept, strict=True) if kind == "download_text"]
    assert set(written) <= {b"The code is <secret:code>"} and bool(written) == bool(texts)


async def test_files_of_a_session_that_fails_are_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("a,b")
    page = FakePage(gives=(Download("list.csv", URL, 3, path=str(path)),))
    outcome, _, notes = await run(work(extract=EXTRACT), {URL: page})
    assert outcome.status is Status.FAILED
    assert "download" in notes.kept
