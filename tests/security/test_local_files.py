"""No page, item, checkpoint or action makes a browser open what is not on the web: this machine's files above all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.acting.acting_context import ActingContext
from shoal.agent.chromium.process import fence
from shoal.agent.chromium.process.launch import LaunchOptions, launch
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.status import Status
from shoal.agent.support.web_addresses import WEB
from shoal.agent.types import Action, Checkpoint, LoopItem
from tests.full_disk import small_disk
from tests.security.world import Answer, Site, Visitors, hostile_site, visitors

SECRET = "the-webhook-master-secret"
EXTRACT = {"schema": {"type": "object", "properties": {"title": {"type": "string"}}}}
SHOTS = {"screenshots": "all"}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this machine with a page, a text, and a file that a browser takes as a download."""
    folder = tmp_path_factory.mktemp("private")
    (folder / "shoal.db").write_bytes(b"SQLite format 3\0\xff\xfe" + SECRET.encode())
    (folder / "notes.txt").write_text(SECRET)
    links = "".join(f"<li><a href=notes.txt?{n}>{SECRET} {n}</a>" for n in range(5))
    (folder / "page.html").write_text(f"<title>{SECRET}</title><h1>{SECRET}</h1><ul>{links}</ul>")
    return folder


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with hostile_site() as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tenant(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitors]:
    async with visitors(tmp_path_factory.mktemp("worker")) as one:
        yield one


pytestmark = pytest.mark.asyncio(loop_scope="module")


def spellings(folder: Path) -> list[str]:
    """Addresses that lead off the web, as a page may write them."""
    db, page = folder / "shoal.db", folder / "page.html"
    return [
        f"file://{db}",
        f"file://{page}",
        f"file://localhost{db}",
        f"file:{db}",
        f"FILE://{db}",
        f"  file://{db}",
        f"fi\tle://{page}",
        f"fi\nle://{db}",
        f"\x01file://{db}",
        f"view-source:file://{page}",
        f"View-Source:file://{db}",
        "view-source:http://127.0.0.1/",
        f"filesystem:file://{db}",
        "chrome://version/",
        "chrome://net-export/",
        "devtools://devtools/bundled/inspector.html",
        "about:version",
        f"data:text/html,<title>{SECRET}</title>",
        f"javascript:document.title='{SECRET}'",
        "blob:null/8b1a0b0c-0000-4000-8000-000000000000",
        "ftp://127.0.0.1/shoal.db",
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/x.html",
        "intent://scan/#Intent;scheme=file;end",
        "x-shoal:open",
        "//",
        "",
    ]


def attribute(address: str) -> str:
    return "".join(f"&#{ord(letter)};" for letter in address)


async def test_a_loop_takes_no_item_from_a_link_that_leaves_the_web(
    site: Site, tenant: Visitors, secrets: Path
) -> None:
    hostile = [one for one in spellings(secrets) if one.strip() and one != "//"]
    rows = "".join(f'<li><a class=one href="{attribute(one)}">Offer {n}</a>' for n, one in enumerate(hostile))
    good = "".join(f"<li><a class=one href=/offer-{n}>Good offer {n}</a>" for n in range(30))
    page = site.page("/list", f"<ul>{rows}{good}</ul>")
    for n in range(30):
        site.page(f"/offer-{n}", f"<h1>Offer {n}</h1>")
    for select in ("a.one", "offers"):
        spec = {"url": page, "loop": {"from": {"select": select}}, "extract": EXTRACT, "artifacts": SHOTS}
        outcome = await tenant.run(spec)
        assert outcome.status is Status.WAITING and outcome.fan_out is not None, outcome.error
        items = outcome.fan_out.items
        assert {item.value for item in items if item.is_link} == {f"{site.url}/offer-{n}" for n in range(30)}
        assert not [item for item in items if not item.is_link]
        result = outcome.fan_out.checkpoint.history[-1].result
        # One is a script, which a list does not open in any case: it says that the page does something. Two are the
        # same without the control character that one begins with, which no tree of a page holds.
        assert result["left_out"] == len({one.lstrip("\x01") for one in hostile}) - 1, "a person can see how many"
    assert SECRET.encode() not in tenant.artifact_bytes()


async def test_the_next_page_is_one_of_the_web(site: Site, tenant: Visitors, secrets: Path) -> None:
    for n, turn in enumerate(
        [
            f'<link rel=next href="{attribute(f"file://{secrets}/page.html")}">',
            f'<a rel=next href="{attribute(f"FILE://{secrets}/page.html")}">Next</a>',
            f'<a href="{attribute(f"view-source:file://{secrets}/page.html")}">Next page</a>',
        ]
    ):
        page = site.page(f"/turn-{n}", f"{turn}<ul><li><a href=/offer-1>One</a><li><a href=/offer-2>Two</a></ul>")
        outcome = await tenant.run(
            {"url": page, "loop": {"from": {"select": "li a", "next": None}, "max_items": 50}, "extract": EXTRACT}
        )
        assert outcome.fan_out is not None, outcome.error
        assert [item.value for item in outcome.fan_out.items] == [f"{site.url}/offer-1", f"{site.url}/offer-2"]


async def test_an_item_opens_only_the_web(site: Site, tenant: Visitors, secrets: Path) -> None:
    page = site.page("/start", "<h1>Start</h1>")
    for address in spellings(secrets):
        item = LoopItem(0, address, is_link=True)
        spec = {"url": page, "loop": {"from": {"select": "a"}}, "extract": EXTRACT, "artifacts": SHOTS}
        outcome = await tenant.run(spec, item=item)
        assert outcome.error is not None and outcome.error.code == "address_forbidden", (address, outcome)
        assert not outcome.records and not outcome.artifacts, address
    assert SECRET.encode() not in tenant.artifact_bytes()


async def test_a_resumed_checkpoint_opens_only_the_web(site: Site, tenant: Visitors, secrets: Path) -> None:
    page = site.page("/start", "<h1>Start</h1>")
    for address in spellings(secrets)[:12]:
        spec = {"url": page, "extract": EXTRACT, "artifacts": SHOTS}
        outcome = await tenant.run(spec, checkpoint=Checkpoint(url=address))
        assert outcome.error is not None and outcome.error.code == "address_forbidden", (address, outcome)
    assert SECRET.encode() not in tenant.artifact_bytes()


async def test_no_page_leads_its_own_window_off_the_web(site: Site, tenant: Visitors, secrets: Path) -> None:
    """Redirects, refreshes, scripts, frames, new windows: what is read afterwards is the site's own, or an error."""
    target = f"file://{secrets}/page.html"
    tricks = {
        "refresh": f'<meta http-equiv=refresh content="0;url={target}">',
        "script": f"<script>location.href = '{target}'</script>",
        "source": f"<script>location.href = 'view-source:{target}'</script>",
        "window": f"<script>open('{target}')</script>",
        "blob": f"<script>open(URL.createObjectURL(new Blob(['<iframe src={target}>'], {{type: 'text/html'}})))"
        "</script>",
        "click": f"<a id=a target=_blank href='{target}'>x</a><script>document.getElementById('a').click()</script>",
        "frame": f"<iframe src='{target}' width=500 height=500></iframe>",
        "srcdoc": f'<iframe srcdoc="<iframe src={target}></iframe>"></iframe>',
        "object": f"<object data='{target}' type='text/html' width=500 height=500></object>",
        "fetch": f"<script>fetch('{target}').then(r => r.text()).then(t => document.body.append(t))</script>",
        "form": f"<form action='{target}'></form><script>document.forms[0].submit()</script>",
        "download": f"<a id=a download href='file://{secrets}/shoal.db'>x</a>"
        "<script>document.getElementById('a').click()</script>",
    }
    addresses = [site.page(f"/trick-{name}", f"<h1>Shop</h1>{html}") for name, html in tricks.items()]
    for status in (301, 302, 303, 307, 308):
        site.pages[f"/away-{status}"] = Answer(status=status, headers={"Location": target})
        addresses.append(f"{site.url}/away-{status}")
    site.pages["/header"] = Answer("<h1>Shop</h1>", headers={"Refresh": f"0;url={target}"})
    addresses.append(f"{site.url}/header")
    jobs = [tenant.run({"url": address, "extract": EXTRACT, "artifacts": SHOTS}) for address in addresses]
    for address, outcome in zip(addresses, await asyncio.gather(*jobs), strict=True):
        assert SECRET not in repr(outcome.records), address
        assert not outcome.url.startswith(("file", "view-source")), address
    assert SECRET.encode() not in tenant.artifact_bytes()


@pytest.mark.parametrize("programs", [True, False], ids=["", "noexec"])
async def test_chromium_itself_reads_none_of_this_machines_files(programs: bool, tmp_path: Path, secrets: Path) -> None:
    """The second wall: past every check of ours, by Playwright's own hand. A temporary folder that holds no programs
    takes nothing from it."""
    assert fence.version(), "this kernel has no Landlock: nothing can be shown here"
    with small_disk(tmp_path / "temp", 64, programs=programs):
        await _reads_nothing(tmp_path, secrets)


_TEXT = "(document.documentElement && document.documentElement.innerText) || ''"


def _assert_no_secret(text: str, address: str) -> None:
    assert SECRET not in text and "notes.txt" not in text, address


async def _reads_nothing(tmp_path: Path, secrets: Path) -> None:
    browser = await launch(LaunchOptions(fenced=True, temp_dir=str(tmp_path / "temp")))
    context = await browser.new_context(ContextOptions(schemes=(*WEB, "file"), downloads_dir=str(tmp_path / "kept")))
    assert isinstance(context, ActingContext)
    page = context.tab.page
    for address in (*spellings(secrets)[:12], "file:///proc/1/environ"):
        with contextlib.suppress(PlaywrightError):  # most say that they may not be read
            await page.goto(address)
        await page.wait_for_function("document.readyState === 'complete'")
        _assert_no_secret(await page.evaluate(_TEXT), address)
    # Chromium sometimes leaves the listing of a folder that it may not read unfinished for ever.
    for wait in (page.goto(f"file://{secrets}/"), page.wait_for_function("document.readyState === 'complete'")):
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(8):
                await wait
    _assert_no_secret(await page.evaluate(_TEXT), "the folder")
    assert not await context.downloads()
    assert not list((tmp_path / "kept").rglob("*"))
    await browser.close()


async def test_files_that_are_meant_for_pages_reach_them_all_the_same(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "Bericht ü 1.txt"
    file.write_text("for the page")
    browser = await launch(LaunchOptions(fenced=True, temp_dir=str(tmp_path / "temp")))
    context = await browser.new_context(ContextOptions(upload_dirs=(str(tmp_path),)))
    page = "<input type=file aria-label=File onchange='this.files[0].text().then(t => { document.title = t })'>"
    await context.goto(site.page("/upload", page))
    (field,) = clickable_elements((await context.observe()).elements)
    result = await context.act(Action("upload_file", {"bid": field.bid, "file": str(file)}))
    assert (result.error, result.effect.value) == (None, file.name)
    await context.settle()
    assert (await context.observe()).title == "for the page"
    await browser.close()


async def test_frames_without_an_address_still_work(site: Site, tenant: Visitors) -> None:
    """about:blank and srcdoc are how honest pages write their own frames."""
    page = site.page(
        "/frames",
        "<h1>Shop</h1><iframe srcdoc='<p>inside srcdoc</p>'></iframe><iframe id=b></iframe>"
        "<script>document.getElementById('b').contentDocument.body.textContent = 'inside blank'</script>",
    )
    outcome = await tenant.run({"url": page, "extract": EXTRACT})
    assert outcome.status is Status.COMPLETED, outcome.error
