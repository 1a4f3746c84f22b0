"""Files that pages may give: from the web, so many, and so much."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import Browser, ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.process.launch import launch
from shoal.agent.types import Download
from tests.security.world import Answer, Site, hostile_site

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLOOD = """<h1>Shop</h1><script>
  for (let n = 0; n < 30; n += 1) {
    const a = document.createElement('a');
    a.href = URL.createObjectURL(new Blob(['x'.repeat(100000)]));
    a.download = `file-${n}.txt`;
    document.body.append(a);
    a.click();
  }
</script>"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with hostile_site() as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    running = await launch()
    yield running
    await running.close()


async def gathered(context: ActingContext, *, until: int) -> tuple[list[Download], list[str]]:
    """Return what came, and what the observations said, once so many downloads have begun and none is under way."""
    files: list[Download] = []
    said: list[str] = []
    async with asyncio.timeout(60):
        while context.files.count < until or not context.files.idle:
            files += await context.downloads()
            said += (await context.observe()).console_errors
    files += await context.downloads()
    return files, [*said, *(await context.observe()).console_errors]


async def test_a_session_gets_so_many_files_and_no_more(browser: Browser, site: Site, tmp_path: Path) -> None:
    context = await browser.new_context(ContextOptions(downloads_dir=str(tmp_path), max_downloads=4))
    assert isinstance(context, ActingContext)
    await context.goto(site.page("/flood", FLOOD))
    files, said = await gathered(context, until=5)  # one more than are allowed
    assert (len(files), len(list(tmp_path.iterdir()))) == (4, 4)
    assert any("refused: a session may download 4 files" in line for line in said)
    await context.close()


async def test_a_session_gets_so_many_bytes_in_all(browser: Browser, site: Site, tmp_path: Path) -> None:
    context = await browser.new_context(ContextOptions(downloads_dir=str(tmp_path), max_downloaded_bytes=250_000))
    assert isinstance(context, ActingContext)
    await context.goto(site.page("/flood", FLOOD))
    files, said = await gathered(context, until=10)
    assert sum(file.bytes for file in files) <= 250_000 and files
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 250_000
    assert any("allowed" in line or "in all" in line for line in said)
    await context.close()


async def test_no_file_of_this_machine_is_a_download(browser: Browser, tmp_path: Path) -> None:
    """Even where something makes the browser open it: past all that keeps it from that."""
    secret = tmp_path / "shoal.db"
    secret.write_bytes(b"SQLite format 3\0\xff\xfe the secret")
    kept = tmp_path / "kept"
    context = await browser.new_context(ContextOptions(downloads_dir=str(kept)))
    assert isinstance(context, ActingContext)
    with pytest.raises(PlaywrightError):
        await context.tab.page.goto(secret.as_uri())
    assert not await context.downloads()
    assert not list(kept.iterdir()) if kept.exists() else True
    await context.close()


async def test_a_file_that_the_page_makes_is_one_as_before(browser: Browser, site: Site, tmp_path: Path) -> None:
    context = await browser.new_context(ContextOptions(downloads_dir=str(tmp_path)))
    assert isinstance(context, ActingContext)
    site.pages["/notes.txt"] = Answer("notes", headers={"Content-Disposition": "attachment"})
    page = site.page(
        "/three",
        "<a download=b.txt id=b>x</a><a download=d.txt id=d href='data:text/plain,data'>x</a>"
        "<a id=n href=/notes.txt>x</a>"
        "<script>onload = () => { b.href = URL.createObjectURL(new Blob(['blob'])); b.click(); d.click(); n.click() }"
        "</script>",
    )
    await context.goto(page)
    files, _ = await gathered(context, until=3)
    assert sorted(file.text for file in files) == ["blob", "data", "notes"]
    await context.close()
