"""When a page is looked at: what says that it is busy, wherever on the page and however drawn."""

from __future__ import annotations

import html
import time
from http.server import BaseHTTPRequestHandler

import pytest

from shoal.agent.browser import Context
from shoal.agent.chromium.acting.settling import readiness
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action
from tests import loopback
from tests.integration.browser.test_mended import show

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG_S = 20.0
"""A wait that an action or a look, on a machine at load 20, too, does not reach."""
_TURNS = "@keyframes turn{to{transform:rotate(1turn)}}"
_DRAWN = """<svg width=40 height=40><circle cx=20 cy=20 r=9><animateTransform attributeName=transform type=rotate
from='0 20 20' to='360 20 20' dur=1s repeatCount=indefinite /></circle></svg>"""
_COUNTING = """<progress value=1 max=99 aria-label=Import></progress><script>
setInterval(() => { const bar = document.querySelector('progress'); if (bar) bar.value++; }, 150)</script>"""
_IN_SHADOW = f"""<x-wait></x-wait><script>customElements.define('x-wait', class extends HTMLElement {{ constructor() {{
super(); this.attachShadow({{mode: 'open'}}).innerHTML =
`<style>{_TURNS}
i{{display:block;width:30px;height:30px;animation:turn 1s infinite}}</style><i></i>`; }} }})</script>"""
_BEHIND = f"""<style>{_TURNS} .ld{{position:relative}} .ld::after{{content:'';position:absolute;width:30px;height:30px;
animation:turn 1s infinite}}</style><span class=ld></span>"""
MARKS = {
    "a drawing that moves by itself": (_DRAWN, 600),
    "words": ("<p>Loading…</p>", 1400),
    "a word of what was entered": ("<p>Saving…</p>", 1400),
    "a word with dots, in German": ("<div><span>Wird geladen ...</span></div>", 1400),
    "aria-busy": ("<section aria-busy=true>old rows</section>", 1400),
    "a bar that grows": (_COUNTING, 1400),
    "grey boxes": ("<div class='MuiSkeleton-root' style='width:200px;height:20px;background:#eee'></div>", 600),
    "a component's inside": (_IN_SHADOW, 600),
    "what a style draws behind": (_BEHIND, 600),
    "a frame": ("<iframe srcdoc='<p aria-busy=true>Frame</p>'></iframe>", 1400),
}


@pytest.mark.parametrize("name", MARKS)
async def test_a_page_is_looked_at_once_its_marks_of_work_are_gone(context: Context, name: str) -> None:
    mark, ms = MARKS[name]
    late = f"<script>setTimeout(() => {{ busy.innerHTML = '<button>Ready</button>'; }}, {ms})</script>"
    assert "Ready" in await show(context, f"<h1>Rows</h1><div id=busy>{mark}</div>{late}")


class Rows(BaseHTTPRequestHandler):
    """A page that shows itself at once, and asks for its rows while it loads."""

    def do_GET(self) -> None:
        rows = self.path == "/rows"
        if rows:
            time.sleep(1.2)
        body = b"<button>Book</button>" if rows else LISTED.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


LISTED = """<h1>Trips of this week</h1><button>New trip</button><div id=list></div><script>
fetch('/rows').then(answer => answer.text()).then(text => { list.innerHTML = text; })</script>"""


async def test_data_that_a_page_asks_for_while_it_loads_are_waited_for(context: Context) -> None:
    """Nothing on it says that it is busy."""
    with loopback.served(Rows) as url:
        await context.goto(url)
        assert [one.name for one in clickable_elements((await context.observe()).elements)] == ["New trip", "Book"]


NAMED = """<header><h1>Flows</h1></header><main id=all></main><script>
const later = run => setTimeout(async () => { await fetch('data:text/plain,x'); run(); }, 400);
later(() => later(() => { all.innerHTML = '<button>Ready</button>'; }));</script>"""


async def test_a_page_that_shows_its_name_alone_is_waited_for_and_not_for_long(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Ready" in await show(context, NAMED)
    monkeypatch.setattr(readiness, "READY_S", LONG_S)
    started = time.monotonic()
    await show(context, "<h1>Flows</h1><script></script>")
    assert time.monotonic() - started < LONG_S
    assert (await context.observe()).in_progress == ""


FRAMED = """<button>Deploy</button><main id=part></main><script>
setTimeout(() => { part.innerHTML = '<h1>Trips</h1>'; }, 1200);
setTimeout(() => { part.innerHTML += '<button>Book</button>'; }, 1400)</script>"""


async def test_a_page_whose_main_part_is_empty_is_waited_for_and_once(context: Context) -> None:
    """A frame of controls is there while a socket brings the rest, which is no request."""
    assert {"Deploy", "Book"} <= set(await show(context, FRAMED))
    framed = "<button onclick='this.textContent += 1'>Deploy</button><main></main><script></script>"
    await context.goto(f"data:text/html,{framed}")
    seen = await context.observe()
    assert seen.in_progress == "its main part shows nothing"
    await context.act(Action("click", {"bid": clickable_elements(seen.elements)[0].bid}))
    assert (await context.observe()).in_progress == "", "it is waited for once"


SEARCH = """<input aria-label=Find id=query><div id=list>old entry</div><script>let later;
query.addEventListener('input', () => { clearTimeout(later); later = setTimeout(async () => {
  await fetch('data:text/plain,x'); list.textContent = 'found ' + query.value; }, 300); })</script>"""


async def test_what_a_script_begins_once_typing_has_paused_is_waited_for(context: Context) -> None:
    found = await show(context, SEARCH)
    assert (await context.act(Action("fill", {"bid": found["Find"], "value": "ulm"}))).error is None
    assert "found ulm" in compact((await context.observe()).elements)


RENAMED = """<input aria-label=Name id=field><button id=save>Rename</button><p id=told></p><script>let name = '', later;
const take = () => { name = field.value; };
field.addEventListener('input', () => { clearTimeout(later); later = setTimeout(take, 450); });
save.onclick = () => told.textContent = 'it is called ' + (name || 'nothing') + '.';</script>"""


async def _renamed(context: Context, page: str) -> str:
    """Return what a page tells once its field was filled and its button was clicked without a look between."""
    shown = await show(context, page)
    assert (await context.act(Action("fill", {"bid": shown["Name"], "value": "ulm"}))).error is None
    assert (await context.act(Action("click", {"bid": shown["Rename"]}))).error is None
    return compact((await context.observe()).elements)


async def test_a_click_comes_once_scripts_that_wait_for_a_pause_have_taken_what_was_typed(context: Context) -> None:
    assert "it is called ulm." in await _renamed(context, RENAMED)
    assert "it is called ulm." in await _renamed(
        context, f'<iframe width=600 srcdoc="{html.escape(RENAMED)}"></iframe>'
    )


async def test_a_click_does_not_wait_where_typing_set_no_timer(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "_PAUSE_S", 60.0)  # longer than a click may take
    at_once = RENAMED.replace("clearTimeout(later); later = setTimeout(take, 450);", "take();")
    assert "it is called ulm." in await _renamed(context, at_once)


BUILT = """<main id=all></main><script>const later = (ms, run) => setTimeout(run, ms);
const rows = document.createElement('ul'), start = document.createElement('button');
rows.textContent = 'Rows of the list.'; start.textContent = 'Start';
later(300, () => { all.append(rows); later(350, () => all.append(start)); });</script>"""


async def test_a_page_that_scripts_build_is_looked_at_once_they_have_paused(context: Context) -> None:
    assert "Start" in await show(context, BUILT)


async def test_a_word_that_says_that_it_is_busy_and_stays_is_waited_for_once_and_named(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    await context.goto("data:text/html,<h1>Rows</h1><p>Please wait...</p>")
    assert "Please wait" in (await context.observe()).in_progress
    monkeypatch.setattr(readiness, "READY_S", LONG_S)  # a wait anew would take as long
    started = time.monotonic()
    await context.act(Action("scroll", {"dx": 0, "dy": 10}))
    assert (await context.observe()).in_progress == ""
    assert time.monotonic() - started < LONG_S
