"""Lists that are not there to their end: no such list is called complete, and one that is whole stays so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shoal.agent.browser import Context
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from tests.loopback import served
from tests.priced_parts import PARTS, SCHEMA, parts_table

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = '<!doctype html><html lang="en"><title>Parts</title><style>.high td{height:40px}</style><h1>Parts</h1>'
LOGIN = "<!doctype html><title>Sign in</title><h1>Please log in</h1><form><input name=u><input type=password></form>"
PAGER = """<nav class=pagination><button aria-current=page>1</button><button>2</button><button>3</button>
<button id=next>Next</button></nav>"""
ASKING = """<script>
const T = document.querySelector('#t tbody'), next = document.getElementById('next');
const row = ([name, price]) => `<tr><td>${name}</td><td>€ ${price.toFixed(2)}</td></tr>`;
const ask = async (page) => {
  const answer = await fetch('/rows?page=' + page);
  if (!answer.ok) throw answer;
  return answer.json();
};
const add = (rows) => T.insertAdjacentHTML('beforeend', rows.map(row).join(''));
</script>"""
TURNING = """<script>
let at = 1;
const go = async (page) => {
  try {
    T.innerHTML = (await ask(page)).map(row).join('');
    document.querySelector('[aria-current]').textContent = at = page;
    AFTER
  } catch (answer) { FAILED }
};
next.onclick = () => go(at + 1);
go(1);
</script>"""
SCROLLING = """<script>
let page = 0, asking = false;
const more = async () => {
  if (asking) return;
  asking = true;
  try { add(await ask(++page)); } finally { asking = false; }
};
addEventListener('scroll', () => {
  const root = document.documentElement;
  if (root.scrollHeight - root.scrollTop - root.clientHeight < 80) more();
});
more().then(more);
</script>"""
LOADS_TWICE = "<script>ask(1).then(add).then(() => ask(2)).then(add).catch(() => 0)</script>"


def table(rows: list[tuple[str, float]], attributes: str = "") -> str:
    return parts_table(rows, f"id=t {attributes}")


def turning(after: str = "", failed: str = "") -> str:
    script = TURNING.replace("AFTER", after).replace("FAILED", failed)
    return HEAD + table([]) + PAGER + ASKING + script


SCROLLED = HEAD + table([], "class=high") + ASKING + SCROLLING
LOADED = HEAD + table([]) + ASKING + LOADS_TWICE
TEN = HEAD + table(PARTS[:10])
BUSY = HEAD + table(PARTS[:10], "aria-busy=true")
DRAWN_LATER = f"""<script>
setTimeout(() => {{ add({json.dumps(PARTS[10:])}); document.getElementById('t').removeAttribute('aria-busy'); }}, 2500);
</script>"""
SECOND_LATER = f"""{ASKING}<script>
setTimeout(() => {{ add({json.dumps(PARTS[15:20])}); T.parentNode.removeAttribute('aria-busy'); }}, 2500);
</script><a href="?page=3">Next</a>"""
CALENDAR = (
    "<div><button id=next>Next</button><p id=month>May</p>"
    + "".join(f"<button>{day}</button>" for day in range(1, 31))
    + "</div><script>next.onclick = () => { month.textContent = 'June'; }</script>"
)
LAST_NUMBER = """<nav class=pagination id=pages></nav><script>
const turn = async (page) => {
  if (page > 6) return;
  T.innerHTML = (await ask(page)).map(row).join('');
  const number = (n) => `<button ${n === page ? 'class=active' : ''}>${n}</button>`;
  pages.innerHTML = [1, 2, 3, 4, 5, 6].map(number).join('') + '<button id=on>Next</button>';
  document.getElementById('on').onclick = () => turn(page + 1);
};
turn(1);
</script>"""
DEAD_NUMBER = LAST_NUMBER.replace("3, 4, 5, 6]", "3, 4, 5, 6, 7]").replace(
    "'<button id=on>Next</button>'", "'<button id=on' + (page === 6 ? ' disabled' : '') + '>Next</button>'"
)
OVER = HEAD + "<p>No results found.</p>"

CUT = {  # the page, what a request for rows is answered with by its page, and what the reason says
    "a dead pager": (TEN + PAGER, {}, "'Next' brought nothing further"),
    "a pager that is covered": (
        TEN + PAGER + '<div style="position:fixed;inset:0;background:#ccc"></div>',
        {},
        "takes no click",
    ),
    "a pager that draws the same rows": (
        TEN + PAGER + "<script>let n = 1; next.onclick = () => { t.innerHTML = t.innerHTML; }</script>",
        {},
        "'Next' brought nothing further",
    ),
    "a request that fails": (turning(), {3: 500}, "page=3 answered 500"),
    "an error in the rows' place": (turning(failed="T.innerHTML = ''"), {3: 503}, "page=3 answered 503"),
    "a message in unknown words": (
        turning(failed="document.body.insertAdjacentHTML('beforeend', '<p>Network hiccup</p>')"),
        {2: 404},
        "page=2 answered 404",
    ),
    "a request that does not end": (turning(), {3: "hangs"}, "its requests did not end"),
    "rows that are gone with their pager": (
        turning("if (page === 3) document.body.innerHTML = '<h1>Parts</h1><p>Be right back.'"),
        {},
        "shows other or no ",
    ),
    "scrolling that fails": (SCROLLED, {4: 500}, "page=4 answered 500"),
    "rows that fail while the page loads": (LOADED, {2: 500}, "page=2 answered 500"),
    "a connection that is lost": (LOADED, {2: "drops"}, "page=2 failed"),
    "rows that never come": (BUSY, {}, "aria-busy"),
    "a placeholder of a row": (TEN + '<div class="skeleton" style="height:20px"></div>', {}, "a placeholder"),
    "a loading text": (TEN + "<p>Loading…</p>", {}, "Loading…"),
    "a button that loads again": (TEN + "<p>Hmm. <button>Retry</button></p>", {}, "'Retry'"),
    "one page of several": (TEN + "<p>Page 1 of 6</p>", {}, "Page 1 of 6"),
    "the first so many": (TEN + "<p>Only the first 10 results are shown.</p>", {}, "first 10 results"),
    "a page in the middle that could not load": (
        "linked",
        {2: HEAD + table(PARTS[10:15]) + '<p>Failed to load results.</p><a href="?page=3">Next</a>', 7: OVER},
        "Failed to load results.",
    ),
    "a login in the next page's place": ("linked", {2: LOGIN}, "shows no"),
    "a blank next page": ("linked", {2: HEAD}, "shows no"),
    "another address than the next page's": ("linked", {2: "moves"}, "Sign in"),
}
WHOLE = {
    "a pager that is disabled at the end": (turning("next.disabled = page >= 6;"), {}),
    "a pager that is gone at the end": (turning("if (page >= 6) next.remove();"), {}),
    "a pager that begins anew": (turning("if (page >= 6) at = 0;"), {}),
    "a pager whose highest number is open": (HEAD + table([]) + ASKING + LAST_NUMBER, {}),
    "the last of several pages": (HEAD + table(PARTS) + PAGER + "<p>Page 1 of 1</p>", {}),
    "a calendar beside it": (HEAD + table(PARTS) + CALENDAR, {}),
    "a reader who is not logged in": (HEAD + table(PARTS) + "<script>fetch('/account')</script>", {}),
    "a page that says that it is empty after the last": ("linked", {7: OVER}),
    "rows that come late": (BUSY + ASKING + DRAWN_LATER, {}),
    "rows of a next page that come late": (
        "linked",
        {2: HEAD + table(PARTS[10:15], "aria-busy=true") + SECOND_LATER, 7: OVER},
    ),
    "a number beside a button that is disabled at the end": (HEAD + table([]) + ASKING + DEAD_NUMBER, {}),
    "pages that are asked for past the end": (SCROLLED, {}),
    "a spinner that is not in sight": (HEAD + table(PARTS) + "<i class=spinner style='opacity:0'>…</i>", {}),
    "a placeholder in the margin": (
        HEAD + table(PARTS) + "<aside><div class=skeleton style='height:9px'></div></aside>",
        {},
    ),
}


PAGERS = {  # how a page goes on where it has no button that is called "Next"
    "numbers": """<ul class=pagination id=pages></ul><script>
const turn = async (page) => {
  T.innerHTML = (await ask(page)).map(row).join('');
  const number = (n) => `<li class="${n === page ? 'active' : ''}"><button onclick="turn(${n})">${n}</button></li>`;
  pages.innerHTML = [1, 2, 3, 4, 5, 6].map(number).join('');
};
turn(1);
</script>""",
    "a drawing": """<div class=pager><button class=prev disabled><svg width=9 height=9></svg></button>
<button class=next id=on><svg width=9 height=9></svg></button></div><script>
let at = 0;
on.onclick = async () => {
  T.innerHTML = (await ask(++at)).map(row).join('');
  on.disabled = at === 6;
};
on.onclick();
</script>""",
    "plain elements": """<div class=pagination><span id=here class=active>1</span> <span style="cursor:pointer"
id=on>Next</span></div><script>
let at = 0;
on.onclick = async () => {
  T.innerHTML = (await ask(++at)).map(row).join('');
  here.textContent = at;
  if (at === 6) on.remove();
};
on.onclick();
</script>""",
}
CUT_ITEMS = (
    *("rows that are gone with their pager", "a page in the middle that could not load"),
    *("a dead pager", "a request that fails", "scrolling that fails", "a loading text", "one page of several"),
    *("a blank next page", "another address than the next page's"),
)
WHOLE_ITEMS = (
    *("a pager that is disabled at the end", "a pager that begins anew", "a calendar beside it", "rows that come late"),
    "a page that says that it is empty after the last",
)


@dataclass
class Site:
    """One page and the rows that its scripts or links ask for."""

    page: str
    answers: dict[int, Any]
    url: str = ""
    over: Event = field(default_factory=Event)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        number = int(parse_qs(parts.query).get("page", ["1"])[0])
        answer = self.site.answers.get(number)
        if answer == "drops":
            return None
        if answer == "hangs":
            self.site.over.wait(120)
            return None
        if answer == "moves":
            return self._say("", 302)
        if parts.path == "/rows":
            rows = PARTS[10 * number - 10 : 10 * number]
            return self._say(json.dumps(rows), answer if isinstance(answer, int) else 200, "application/json")
        if parts.path == "/list":
            if self.site.page != "linked":
                return self._say(self.site.page)
            following = f'<a href="?page={number + 1}">Next</a>'
            return self._say(str(answer or HEAD + table(PARTS[10 * number - 10 : 10 * number]) + following))
        return self._say(LOGIN, 200 if parts.path == "/login" else 401)

    def _say(self, text: str, status: int = 200, kind: str = "text/html") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/login")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def site() -> Iterator[Site]:
    here = Site("", {})
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here
        here.over.set()


async def read(context: Context, site: Site, **extract: Any) -> Extraction:
    await context.goto(site.url + "/list")
    spec = JobSpec.model_validate({"url": site.url + "/list", "extract": {"schema": SCHEMA, **extract}})
    return await RulesPolicy().extract(SessionState(spec=spec, loop=None, item=None, page=context))


async def collected(context: Context, site: Site) -> tuple[int, str]:
    await context.goto(site.url + "/list")
    job = JobSpec.model_validate({"url": site.url + "/list", "loop": {"from": {"select": "tbody td:first-child"}}})
    state = SessionState(spec=job, loop=job.loop, item=None, page=context)
    return len([item async for item in RulesPolicy().collect(state, Plan())]), state.cut


@pytest.mark.parametrize("name", CUT)
async def test_a_list_that_was_not_read_to_its_end_says_why(page: Context, site: Site, name: str) -> None:
    site.page, site.answers, reason = CUT[name]
    found = await read(page, site)
    assert not found.complete
    assert reason in found.why
    assert len(found.records) in (10, 20, 30, 52)


@pytest.mark.parametrize("name", CUT_ITEMS)
async def test_items_that_are_not_all_say_why(page: Context, site: Site, name: str) -> None:
    site.page, site.answers, reason = CUT[name]
    count, cut = await collected(page, site)
    assert reason in cut
    assert count in (10, 20, 30, 52)


@pytest.mark.parametrize("name", WHOLE)
async def test_a_list_that_was_read_to_its_end_is_complete(page: Context, site: Site, name: str) -> None:
    site.page, site.answers = WHOLE[name]
    found = await read(page, site)
    assert (len(found.records), found.complete, found.why) == (57, True, "")


@pytest.mark.parametrize("name", WHOLE_ITEMS)
async def test_items_that_are_all_are_not_called_cut(page: Context, site: Site, name: str) -> None:
    site.page, site.answers = WHOLE[name]
    assert await collected(page, site) == (57, "")


@pytest.mark.parametrize("pager", PAGERS)
async def test_a_pager_is_pressed_whatever_it_is_made_of(page: Context, site: Site, pager: str) -> None:
    site.page = HEAD + table([]) + ASKING + PAGERS[pager]
    found = await read(page, site)
    assert (len(found.records), found.complete, found.why) == (57, True, "")


async def test_no_results_after_a_request_that_failed_are_no_empty_list(page: Context, site: Site) -> None:
    failed = "T.innerHTML = '<tr><td colspan=2>No results found</td></tr>'"
    site.page, site.answers = turning(failed=failed), {1: 500}
    found = await read(page, site)
    assert (found.records, found.complete, found.empty) == ((), False, False)
    assert "answered 500" in found.why
