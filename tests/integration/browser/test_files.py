"""Files that pages give and take: none is lost, none is too large, and each is told and kept."""

from __future__ import annotations

import asyncio
import urllib.parse
from pathlib import Path

import pytest

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.chromium.acting import playwright_actions
from shoal.agent.hooks import Hooks, Upload
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action
from tests.integration.browser.conftest import WRITTEN, Site

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def ids(context: Context) -> dict[str, str]:
    return {element.name: element.bid for element in clickable_elements((await context.observe()).elements)}


async def test_a_file_is_told_by_the_next_observation_and_given_to_be_kept(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/acts")
    bid = (await ids(context))["Notes"]
    await context.act(Action("download", {"bid": bid}))
    (kept,) = await context.downloads()
    (told,) = (await context.observe()).downloads
    assert kept == told
    assert await context.downloads() == ()
    assert (await context.observe()).downloads == ()


async def test_a_file_that_opening_an_address_gives_is_kept(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/file/notes.txt")
    (kept,) = await context.downloads()
    assert Path(kept.path).read_text() == "some notes"
    assert [file.filename for file in (await context.observe()).downloads] == ["notes.txt"]


async def test_files_of_one_name_that_come_at_once_do_not_overwrite_each_other(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/second")
    give = """() => { for (let i = 0; i < 10; i++) {
      const link = Object.assign(document.createElement('a'), { download: 'same.txt',
        href: URL.createObjectURL(new Blob(['file ' + i])) });
      document.body.append(link); link.click();
    } }"""
    await context.read(give)
    files = []
    while len(files) < 10:  # each call waits for those under way
        files += await context.downloads()
    assert {Path(file.path).read_text() for file in files} == {f"file {i}" for i in range(10)}


async def test_a_download_that_its_server_is_slow_to_begin_is_waited_for(
    context: Context, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playwright_actions, "_BEGIN_S", 1.0)
    for link in ("<a href='/file/late.txt'>Late</a>", "<a href='/file/late.txt' download>Late</a>"):
        await context.goto(f"{site.url}/second")
        await context.read("html => { document.body.innerHTML = html }", link)
        result = await context.act(Action("download", {"bid": (await ids(context))["Late"]}))
        assert (result.error, (result.value or {}).get("text")) == (None, "late notes"), link


async def test_uploads_are_limited_wherever_they_come_from(
    browser: Browser, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playwright_actions, "_MAX_UPLOAD_BYTES", 1_000_000)

    async def fetch(reference: str) -> Upload:
        return Upload("stored.bin", b"x" * 1_000_001)

    context = await browser.new_context(ContextOptions(hooks=Hooks(fetch=fetch), schemes=WRITTEN))
    field = "data:text/html," + urllib.parse.quote("<input type=file aria-label=File>")
    await context.goto(field)
    bid = (await ids(context))["File"]
    large = tmp_path / "large.bin"
    large.write_bytes(b"x" * 1_000_001)
    for reference in (f"{site.url}/chunked", "artifact-7", "http://[", str(large)):
        result = await context.act(Action("upload_file", {"bid": bid, "file": reference}))
        assert result.error is not None and result.error.code == "action_refused", reference
    small = await context.act(Action("upload_file", {"bid": bid, "file": f"{site.url}/file/notes.txt"}))
    assert (small.error, small.effect.value, small.effect.new_tab) == (None, "notes.txt", False)
    missing = await context.act(Action("upload_file", {"bid": bid, "file": f"{site.url}/missing"}))
    assert missing.error is not None and "404" in missing.error.message
    away = await context.act(Action("upload_file", {"bid": bid, "file": "http://127.0.0.1:9/x"}))
    assert away.error is not None and "could not be fetched" in away.error.message
    assert len((await context.observe()).tabs) == 1
    await context.close()


async def test_an_upload_that_its_server_never_answers_leaves_nothing_behind(browser: Browser, site: Site) -> None:
    context = await browser.new_context(ContextOptions(action_timeout_s=3, schemes=WRITTEN))
    await context.goto("data:text/html,<input type=file aria-label=File>")
    field = (await ids(context))["File"]
    before = asyncio.all_tasks()
    result = await context.act(Action("upload_file", {"bid": field, "file": f"{site.url}/hang"}))
    assert result.error is not None and result.error.code == "action_timeout"
    left = [task.get_coro() for task in asyncio.all_tasks() - before]
    assert [one for one in left if getattr(one, "__qualname__", "") == "Queue.get"] == []
    await context.close()
