"""Elements in frames and in open shadow roots are learned and found again, there and nowhere else."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.observe.tree import walk_elements
from shoal.agent.status import Status
from shoal.agent.types import Action, LoopItem
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.elements.describing import Described, count, describe
from shoal.agent.workflows.elements.finding import find
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.format.node import ActionNode
from shoal.agent.workflows.format.target import Target
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.compile_version import Compiled, compile_version
from shoal.agent.workflows.learning.evidence import EvidenceBook, SessionEvidence, read_messages
from shoal.agent.workflows.learning.origin import Sources
from tests.integration.workflows.test_optional_step import replayed
from tests.loopback import served
from tests.model_server import until
from tests.patience import PATIENCE_S
from tests.sites.registry import serving
from tests.sites.registry.cache import Unreachable

pytestmark = pytest.mark.asyncio(loop_scope="session")

FORM = (
    '<label>Name <input class="name" name="name"></label> <button type="button" class="find">Find</button>'
    '<p class="typed"></p>'
)
SCRIPT = """
const find = (root) => { root.querySelector('.find').onclick = () => {
  const name = root.querySelector('.name').value;
  fetch('/typed' + location.pathname + '/' + name);
  root.querySelector('.typed').textContent = name;
}; };
"""


def html(body: str, title: str = "Desk") -> str:
    return f'<!doctype html><html lang="en"><title>{title}</title><body>{body}</body></html>'


def in_shadow(tag: str, inner: str, mode: str = "open") -> str:
    """An element whose shadow root holds `inner`; what is in it works."""
    return (
        f"<{tag}></{tag}><script>{SCRIPT}{{ const root = document.querySelector('{tag}')"
        f".attachShadow({{mode: '{mode}'}}); root.innerHTML = `{inner}`; find(root); }}"
        "</script>"
    )


SHOWN = "<p>Find a person by the name</p>"
"""For a page that would show nothing else: it would be waited for."""
DESK = html(f"{FORM}<script>{SCRIPT}find(document)</script>", "Form")


class Site:
    """Pages by their paths, and what was typed into which of them."""

    def __init__(self, address: str, pages: dict[str, str], typed: list[str]) -> None:
        self.address = address
        self.pages = pages
        self.typed = typed


@contextmanager
def frames(pages: dict[str, str], root: Path | None = None) -> Iterator[Site]:
    """Serves `pages`, and the files below `root`; notes what their scripts tell of what was typed."""
    typed: list[str] = []
    pages = dict(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/typed/"):
                typed.append(self.path.removeprefix("/typed"))
            file = root / self.path.removeprefix("/") if root is not None and self.path not in pages else None
            found = file is not None and file.is_file()
            body = file.read_bytes() if file is not None and found else pages.get(self.path, "").encode()
            kind = mimetypes.guess_type(self.path)[0] if found else None
            self.send_response(200)
            self.send_header("Content-Type", kind or "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Nothing is logged."""

    with served(Handler) as address:
        yield Site(address, pages, typed)


async def bid_of(page: Context, name: str, nth: int = 0) -> str:
    async with asyncio.timeout(PATIENCE_S):
        while True:  # frames come after their page
            seen = await page.observe()
            bids = [element.bid for element in walk_elements(seen.elements) if element.name == name and element.bid]
            if len(bids) > nth:
                return bids[nth]


async def done(page: Context, url: str, name: str, nth: int = 0, field: str = "Name") -> SessionEvidence:
    """Return what is noted of one run that types `name` and presses the button, both the `nth` that are called so."""
    book = EvidenceBook(LoopItem(0, f'{{"name": "{name}"}}', False))
    sources = Sources(data=None, item=f'{{"name": "{name}"}}', earlier=[], goal="")
    await page.goto(url)
    await page.settle()
    for action, called in (("fill", field), ("click", "Find")):
        args = {"bid": await bid_of(page, called, nth), **({"value": name} if action == "fill" else {})}
        asked = Action(action, args)
        noted = await book.before(page, asked, sources)
        result = await page.act(asked)
        assert result.error is None and noted is not None, result.error
        book.after(result, noted)
    return book.book(url, await read_messages(page), None)


async def learned(page: Context, url: str, nth: int = 0, field: str = "Name") -> Compiled:
    return compile_version([await done(page, url, name, nth, field) for name in ("Ada", "Bob")], None)


async def forget_typed(site: Site) -> None:
    """Forgets what was typed while a version was learned; the last of it may still be on its way."""
    await until(lambda: len(site.typed) == 2)
    site.typed.clear()


def actions(version: Version) -> list[ActionNode]:
    return [node for node in version.nodes if isinstance(node, ActionNode)]


PAGES = {
    "/desk": DESK,
    "/frame": html('<h1>Desk</h1><iframe id="desk" src="/desk"></iframe>'),
    "/between": html('<iframe name="inner" src="/desk"></iframe>'),
    "/nested": html('<h1>Desk</h1><iframe title="The desk" src="/between" width="500" height="400"></iframe>'),
    "/shadow": html("<h1>Desk</h1>" + in_shadow("find-person", FORM)),
    "/deep": html(
        "<h1>Desk</h1><my-card></my-card><script>" + SCRIPT + "const outer = document.querySelector('my-card')"
        ".attachShadow({mode: 'open'}); outer.innerHTML = '<p>Here</p><find-person></find-person>';"
        f"const inner = outer.querySelector('find-person').attachShadow({{mode: 'open'}}); inner.innerHTML = `{FORM}`;"
        "find(inner);</script>"
    ),
    "/within": html('<h1>Desk</h1><iframe id="desk" src="/shadow"></iframe>'),
}


@pytest.mark.parametrize(
    ("path", "where", "typed"),
    [
        ("/nested", (('iframe[title="The desk"]', 'iframe[name="inner"]'), ()), "/desk"),
        ("/deep", ((), ("my-card", "find-person")), "/deep"),
        ("/within", (("#desk",), ("find-person",)), "/shadow"),
    ],
)
async def test_what_was_done_in_frames_and_shadow_roots_is_done_again(
    browser: Browser, page: Context, path: str, where: tuple[Sequence[str], Sequence[str]], typed: str, tmp_path: Path
) -> None:
    with frames(PAGES) as site:
        made = await learned(page, f"{site.address}{path}")
        assert made.version is not None, made.open
        for node in actions(made.version):
            assert node.target is not None
            assert (set(node.target.frame) <= set(where[0]), node.target.shadow) == (True, where[1])
            assert bool(node.target.frame) == bool(where[0]) and node.target.origin == ""
        filling = actions(made.version)[0]
        assert [(condition.kind, condition.value) for condition in filling.post] == [("value", "{name}")]
        await forget_typed(site)
        status, policy = await replayed(browser, made.version, f"{site.address}{path}", "Cy")
        assert (status, policy.report.misses) == (Status.COMPLETED, ())
        await until(lambda: len(site.typed) > 0)  # the page sends it by itself after the click
        assert site.typed == [f"{typed}/Cy"]
        exported = write_playwright(made.version, "desk")
        script = tmp_path / "desk.py"
        script.write_text(exported.text)
        command = [sys.executable, str(script), '{"name": "Eve"}', f"{site.address}{path}"]
        env = {**os.environ, "CHROMIUM": str(find_chromium()), "NO_SANDBOX": "1"}
        ran = await asyncio.to_thread(subprocess.run, command, env=env, capture_output=True, text=True, timeout=60)
        assert (ran.returncode, site.typed[1:]) == (0, [f"{typed}/Eve"]), ran.stderr
        assert "frame" not in " ".join(exported.lost)


async def test_of_two_frames_with_the_same_form_the_one_is_used_that_was_learned(
    browser: Browser, page: Context
) -> None:
    pages = {
        "/a": DESK,
        "/b": DESK,
        "/learn": html('<h1>Desk</h1><iframe id="first" src="/a"></iframe><iframe id="second" src="/b"></iframe>'),
        "/moved": html(
            '<h1>Desk</h1><iframe id="second" src="/b"></iframe><div><iframe id="first" src="/a"></iframe></div>'
        ),
        "/lone": html('<iframe id="first" src="/a"></iframe>'),
    }
    with frames(pages) as site:
        made = await learned(page, f"{site.address}/learn", nth=1)
        assert made.version is not None, made.open
        await forget_typed(site)
        status, _ = await replayed(browser, made.version, f"{site.address}/moved", "Cy")
        assert (status, site.typed) == (Status.COMPLETED, ["/b/Cy"])
        status, policy = await replayed(browser, made.version, f"{site.address}/lone", "Dot")
        assert (status, site.typed) == (Status.FAILED, ["/b/Cy"])
        assert "no frame, or several, is found by" in policy.report.misses[-1].detail


async def test_frames_that_only_their_position_tells_apart_are_not_learned(page: Context) -> None:
    pages = {"/a": DESK, "/b": DESK, "/page": html('<iframe src="/a"></iframe><iframe src="/b"></iframe>')}
    with frames(pages) as site:
        made = await learned(page, f"{site.address}/page", nth=1)
        assert [decision.why for decision in made.open] == ["its frame is found by its position alone"] * 2


async def test_shadow_roots_that_are_closed_or_alike_are_not_learned(page: Context) -> None:
    two = (
        "<my-a></my-a><my-a></my-a><script>"
        + SCRIPT
        + (
            "for (const host of document.querySelectorAll('my-a')) { const root = host.attachShadow({mode: 'open'});"
            f"root.innerHTML = `{FORM}`; find(root); }}</script>"
        )
    )
    with frames({"/closed": html(SHOWN + in_shadow("my-a", FORM, "closed")), "/two": html(SHOWN + two)}) as site:
        made = await learned(page, f"{site.address}/closed")
        assert [one.why for one in made.open] == ["its element was gone, or is in a closed shadow root"] * 2
        made = await learned(page, f"{site.address}/two", nth=1)
        assert [one.why for one in made.open] == ["its shadow host is found by its position alone"] * 2


async def test_a_frame_in_a_shadow_root_is_not_learned(page: Context) -> None:
    frame = '<iframe id="desk" src="/desk"></iframe>'
    body = (
        f"{SHOWN}<my-card></my-card><script>document.querySelector('my-card').attachShadow({{mode: 'open'}})"
        f".innerHTML = '{frame}'</script>"
    )
    with frames({**PAGES, "/page": html(body)}) as site:
        made = await learned(page, f"{site.address}/page")
        assert [one.why for one in made.open] == ["its frame was gone, or is in a shadow root"] * 2


async def test_a_form_whose_answer_appears_in_its_frame_is_left_to_the_model(page: Context) -> None:
    form = html('<form action="/thanks"><label>Name <input name="name"></label><button>Find</button></form>', "Form")
    pages = {
        "/form": form,
        "/thanks": html("<h1>Thank you</h1>"),
        "/page": html('<iframe id="f" src="/form"></iframe>'),
    }
    with frames(pages) as site:
        made = await learned(page, f"{site.address}/page")
        assert made.version is None
        assert [one.why for one in made.open] == [
            "it sends something, and nothing on the pages after it says that it was taken"
        ]


async def test_a_frame_of_another_site_gets_nothing(browser: Browser, page: Context) -> None:
    pages = {**PAGES, "/other": DESK}
    with frames({"/desk": DESK}) as other, frames(pages) as site:
        made = await learned(page, f"{site.address}/frame")
        assert made.version is not None, made.open
        await forget_typed(site)
        site.pages["/frame"] = html(f'<h1>Desk</h1><iframe id="desk" src="{other.address}/desk"></iframe>')
        status, policy = await replayed(browser, made.version, f"{site.address}/frame", "Cy")
        assert (status, site.typed, other.typed) == (Status.FAILED, [], [])
        miss = policy.report.misses[-1]
        assert (miss.reason, miss.detail) == (
            DivergenceReason.CONTRADICTION,
            f"the frame #desk shows {other.address}, not {site.address}",
        )
        # Learned from the other site's frame, it is for that site.
        there = await learned(page, f"{site.address}/frame")
        assert there.version is not None, there.open
        assert {node.target.origin for node in actions(there.version) if node.target} == {other.address}
        await forget_typed(other)
        status, policy = await replayed(browser, there.version, f"{site.address}/frame", "Cy")
        assert (status, other.typed) == (Status.FAILED, []), "the job may act on its own site alone"
        assert "`sites`" in policy.report.misses[-1].detail
        sites = ("127.0.0.1",)  # at any port
        status, _ = await replayed(browser, there.version, f"{site.address}/frame", "Cy", sites)
        assert (status, other.typed) == (Status.COMPLETED, ["/desk/Cy"])
        site.pages["/frame"] = PAGES["/frame"]
        status, _ = await replayed(browser, there.version, f"{site.address}/frame", "Dot", sites)
        assert (status, other.typed, site.typed) == (Status.FAILED, ["/desk/Cy"], [])


async def test_a_frame_of_another_process_is_used_as_any(browser: Browser, page: Context) -> None:
    with frames(PAGES) as site:
        far = site.address.replace("127.0.0.1", "localhost")
        site.pages["/frame"] = html(f'<h1>Desk</h1><iframe id="desk" src="{far}/desk"></iframe>')
        made = await learned(page, f"{site.address}/frame")
        assert made.version is not None, made.open
        await forget_typed(site)
        sites = ("127.0.0.1", "localhost")
        status, policy = await replayed(browser, made.version, f"{site.address}/frame", "Cy", sites)
        assert (status, site.typed) == (Status.COMPLETED, ["/desk/Cy"]), policy.report.misses


async def test_a_decoy_beside_the_frame_is_a_miss(browser: Browser, page: Context) -> None:
    pages = {**PAGES, "/named": html('<h1>Desk</h1><iframe name="desk" src="/desk"></iframe>'), "/decoy": DESK}
    with frames(pages) as site:
        made = await learned(page, f"{site.address}/named")
        assert made.version is not None, made.open
        await forget_typed(site)
        site.pages["/named"] = html(
            '<iframe name="desk" src="/decoy"></iframe><iframe name="desk" src="/desk"></iframe>'
        )
        status, _ = await replayed(browser, made.version, f"{site.address}/named", "Cy")
        assert (status, site.typed) == (Status.FAILED, [])


async def described(page: Context, name: str) -> Target:
    known = await describe(page, await bid_of(page, name))
    assert isinstance(known, Described), known
    return known.target


@pytest.mark.parametrize("swap", ["navigates", "is replaced"])
async def test_a_frame_that_changes_after_its_element_was_found_gets_nothing(page: Context, swap: str) -> None:
    # The first field of the other document has the focus, and is the first to be asked about.
    focused = "<script>document.querySelector('.name').focus()</script>"
    pages = {**PAGES, "/other": html(f"{FORM}<script>{SCRIPT}find(document)</script>{focused}")}
    with frames(pages) as site:
        await page.goto(f"{site.address}/frame")
        await page.settle()
        target = await described(page, "Name")
        found = await find(page, target, where="n1")
        assert found.bid, found.miss
        script = (
            "() => { document.querySelector('iframe').src = '/other'; }"
            if swap == "navigates"
            else "() => { document.querySelector('iframe').outerHTML = '<iframe id=desk src=/other></iframe>'; }"
        )
        await page.read(script)
        await page.settle()
        for bid in (found.bid, f"{found.bid[0]}1"):
            result = await page.act(Action("fill", {"bid": bid, "value": "Cy"}))
            assert result.error is not None and result.error.code == "element_missing"
        again = await find(page, target, where="n1")
        assert again.bid, again.miss
        result = await page.act(Action("fill", {"bid": again.bid, "value": "Cy"}))
        assert result.error is None, result.error


async def test_what_a_frame_holds_is_counted_and_nothing_without_it(page: Context) -> None:
    with frames(PAGES) as site:
        for path, gone in (("/within", "iframe"), ("/shadow", "find-person")):
            await page.goto(f"{site.address}{path}")
            await page.settle()
            target = await described(page, "Name")
            assert set(await count(page, target)) == {1}
            await page.read("(css) => document.querySelector(css).remove()", gone)
            assert set(await count(page, target)) == {0}
            found = await find(page, target, where="n1")
            assert found.bid == "" and found.miss is not None


async def test_runs_in_different_frames_are_not_one_workflow(page: Context) -> None:
    pages = {
        "/a": DESK,
        "/b": DESK,
        "/page": html('<iframe id="first" src="/a"></iframe><iframe id="second" src="/b"></iframe>'),
    }
    with frames(pages) as site:
        runs = [await done(page, f"{site.address}/page", name, nth) for nth, name in enumerate(("Ada", "Bob"))]
        made = compile_version(runs, None)
        assert {one.why for one in made.open} == {
            "the frame or the shadow root of its element is not the same in all runs"
        }


async def test_a_step_in_a_frame_that_only_some_runs_did_is_no_optional_step(page: Context) -> None:
    banner = html(
        "<button type=button class=accept>Accept all</button>"
        "<script>document.querySelector('.accept').onclick = () => document.querySelector('.accept').remove()</script>"
    )
    form = f"{FORM}<script>{SCRIPT}find(document)</script>"
    pages = {"/banner": banner, "/with": html(f'<iframe id="ad" src="/banner"></iframe>{form}'), "/without": html(form)}
    with frames(pages) as site:
        runs = [await done(page, f"{site.address}/without", name) for name in ("Ada", "Bob")]
        for name in ("Cy", "Dot"):
            book = EvidenceBook(LoopItem(0, f'{{"name": "{name}"}}', False))
            await page.goto(f"{site.address}/with")
            click = Action("click", {"bid": await bid_of(page, "Accept all")})
            sources = Sources(data=None, item=f'{{"name": "{name}"}}', earlier=[], goal="")
            noted = await book.before(page, click, sources)
            result = await page.act(click)
            assert noted is not None and result.error is None
            book.after(result, noted)
            rest = await done(page, f"{site.address}/with", name)
            (closing,) = book.actions
            assert closing.target is not None and closing.target.frame == ("#ad",)
            runs.append(rest.model_copy(update={"actions": (closing, *rest.actions)}))
        made = compile_version(runs, None)
        assert made.version is None and "the runs did different things" in made.open[0].why


async def test_a_frame_that_stays_empty_is_a_miss_in_time(browser: Browser, page: Context) -> None:
    with frames(PAGES) as site:
        made = await learned(page, f"{site.address}/frame")
        assert made.version is not None, made.open
        await forget_typed(site)
        site.pages["/frame"] = html('<h1>Desk</h1><iframe id="desk" srcdoc="<p>Later</p>" sandbox></iframe>')
        status, policy = await replayed(browser, made.version, f"{site.address}/frame", "Cy")
        assert (status, site.typed) == (Status.FAILED, [])
        assert policy.report.misses[-1].reason in (DivergenceReason.CONTRADICTION, DivergenceReason.ONE_WITNESS)


LIBRARIES = {"shoelace": "@shoelace-style/shoelace@2.20.1", "tinymce": "tinymce@6.8.6"}
TELL = "<script>document.querySelector('.find').onclick = () => fetch('/typed/' + encodeURIComponent(%s))</script>"
IN_LIBRARIES = {
    "shoelace": (
        "Name",
        '<h1>Desk</h1><link rel="stylesheet" href="/lib/shoelace/cdn/themes/light.css">'
        '<script type="module" src="/lib/shoelace/cdn/shoelace.js"></script>'
        '<sl-input name="note" label="Note"></sl-input><sl-input name="name" label="Name"></sl-input>'
        '<sl-button class="find">Find</sl-button>' + TELL % "document.querySelector('sl-input[name=name]').value",
    ),
    "tinymce": (
        "Rich Text Area. Press ALT-0 for help.",
        '<h1>Desk</h1><script src="/lib/tinymce/tinymce.min.js"></script><textarea id="message"></textarea>'
        '<button type="button" class="find">Find</button>'
        "<script>tinymce.init({selector: '#message', promotion: false})</script>"
        + TELL
        % "tinymce.activeEditor.getContent({format: 'text'}).trim()",
    ),
}


@pytest.mark.parametrize("library", IN_LIBRARIES)
async def test_fields_that_libraries_put_into_frames_and_shadow_roots_are_filled_again(
    browser: Browser, page: Context, library: str
) -> None:
    field, body = IN_LIBRARIES[library]
    try:
        with serving.npm_folder(LIBRARIES) as root, frames({"/page": html(body)}, root) as site:
            made = await learned(page, f"{site.address}/page", field=field)
            assert made.version is not None, made.open
            filling = actions(made.version)[0].target
            assert filling is not None and (filling.frame or filling.shadow)
            await forget_typed(site)
            status, policy = await replayed(browser, made.version, f"{site.address}/page", "Cy")
            assert (status, site.typed) == (Status.COMPLETED, ["/Cy"]), policy.report.misses
    except Unreachable as error:
        pytest.skip(str(error))
