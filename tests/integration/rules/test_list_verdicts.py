"""Verdicts on a list: no record is no success, and a list that goes on, shifts or breaks off is not complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from shoal.agent.browser import Context
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from tests.integration.rules.conftest import Sessions
from tests.loopback import served
from tests.patience import PATIENCE_S
from tests.priced_parts import PARTS, SCHEMA, parts_table

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOOT = '<footer><a href="/fear">No FEAR Act Data</a> <a href="/jobs">No active jobs found</a></footer>'


def page(title: str, body: str, head: str = "") -> str:
    return f'<!doctype html><html lang="en"><head><title>{title}</title>{head}</head><body>{body}</body></html>'


def parts(first: int, last: int, body: str = "", title: str = "Parts") -> str:
    return page(title, f"<h1>{title}</h1>{parts_table(PARTS[first - 1 : last])}{body}")


def page_of_parts(body: str) -> str:
    """A page of four parts, whose list a script may turn."""
    return page("Parts", f"<h1>Parts</h1><div id=list>{parts_table(PARTS[:4])}</div>{body}")


@dataclass
class Site:
    """Pages by path and query; a page may be made anew at each request, or be an answer with a status."""

    pages: dict[str, str | int | Callable[[], str]] = field(default_factory=dict)
    url: str = ""
    led: str = ""  # where "/led" leads
    answers: Event = field(default_factory=Event)  # "/rows" is answered once it is set
    answer_s: float = PATIENCE_S  # or after this time


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/led":
            return self._say("", 302)
        if parts.path == "/rows":
            self.site.answers.wait(self.site.answer_s)
            return self._say("rows")
        made = self.site.pages.get(self.path, 404)
        body = made() if callable(made) else made
        return self._say("<h1>Not here</h1>", body) if isinstance(body, int) else self._say(body)

    def _say(self, text: str, status: int = 200) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", self.site.led)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@pytest.fixture
def site() -> Iterator[Site]:
    here = Site()
    with served(type("Handler", (_Handler,), {"site": here})) as here.url:
        yield here
        here.answers.set()


async def read(context: Context, site: Site, path: str = "/list", **more: Any) -> Extraction:
    await context.goto(site.url + path)
    spec = JobSpec.model_validate({"url": site.url + path, "extract": {"schema": SCHEMA}})
    state = SessionState(spec=spec, loop=None, item=None, page=context, **more)
    return await RulesPolicy().extract(state)


async def collected(context: Context, site: Site, path: str = "/list") -> tuple[list[str], str]:
    await context.goto(site.url + path)
    job = JobSpec.model_validate({"url": site.url + path, "loop": {"from": {"select": "tbody td:first-child"}}})
    state = SessionState(spec=job, loop=job.loop, item=None, page=context)
    return [item.value async for item in RulesPolicy().collect(state, Plan())], state.cut


def names(found: Extraction) -> list[str]:
    return [record.value["name"] for record in found.records]


# --- the way on ---------------------------------------------------------------------------------------


async def test_a_next_page_that_is_missing_loses_nothing_that_was_read(page: Context, site: Site) -> None:
    site.pages = {"/list": parts(1, 10, '<a href="?page=2">Next</a>'), "/list?page=2": 404}
    found = await read(page, site)
    assert (len(found.records), found.complete) == (10, False)
    assert "/list?page=2 answered 404" in found.why
    items, cut = await collected(page, site)
    assert len(items) == 10
    assert "/list?page=2 answered 404" in cut


async def test_a_next_page_that_fails_is_tried_again_and_the_last_attempt_keeps_what_it_has(
    page: Context, site: Site
) -> None:
    site.pages = {"/list": parts(1, 10, '<a href="?page=2">Next</a>'), "/list?page=2": 500}
    with pytest.raises(Exception, match="answered 500"):
        await read(page, site)
    found = await read(page, site, is_last_attempt=True)
    assert (len(found.records), found.complete) == (10, False)
    assert "answered 500" in found.why


@pytest.mark.parametrize("declared", ['<link rel="next" href="/browse?page=2">', '<a href="/browse?page=2">Next</a>'])
async def test_a_next_page_at_another_path_is_followed(page: Context, site: Site, declared: str) -> None:
    site.pages = {
        "/list": parts(1, 10, declared),
        "/browse?page=2": parts(11, 20, '<a href="/browse?page=3" rel=next>3</a>', "All parts"),
        "/browse?page=3": parts(21, 25, "", "All parts"),
    }
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:25]]
    assert found.complete
    assert await collected(page, site) == ([name for name, _ in PARTS[:25]], "")


async def test_a_next_page_at_another_path_that_shows_no_list_makes_it_incomplete(page: Context, site: Site) -> None:
    site.pages = {
        "/list": parts(1, 10, '<link rel="next" href="/browse?page=2">'),
        "/browse?page=2": "<title>Welcome</title><h1>Welcome</h1><p>Please subscribe.</p>",
    }
    found = await read(page, site)
    assert (len(found.records), found.complete) == (10, False)
    assert "/browse?page=2" in found.why
    _, cut = await collected(page, site)
    assert "/browse?page=2" in cut


async def test_a_next_page_on_another_site_is_told_and_not_opened(page: Context, site: Site) -> None:
    site.pages["/list"] = parts(1, 10, '<link rel="next" href="http://parts.example/list?page=2">')
    found = await read(page, site)
    assert (len(found.records), found.complete) == (10, False)
    assert "is on another site" in found.why
    _, cut = await collected(page, site)
    assert "is on another site" in cut


@pytest.mark.parametrize(("path", "taken"), [("/list-2", 15), ("/list/2", 15), ("/further", 10), ("/other", 10)])
async def test_a_link_called_next_alone_is_followed_by_its_number_and_is_never_overlooked(
    page: Context, site: Site, path: str, taken: int
) -> None:
    site.pages = {
        "/list": parts(1, 10, f'<a href="{path}" rel=next>Next</a>'),
        path: parts(11, 15, title="Tools" if path == "/other" else "Parts"),
    }
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:taken]]
    assert (found.complete, found.why) == (
        (False, f"{site.url}/further, the next page, may go on with the list") if path == "/further" else (True, "")
    )
    assert page.url == f"{site.url}{path if taken == 15 else '/list'}"


TURNED = f"""<script>
  let page = 1;
  const pages = {json.dumps([parts_table(PARTS[4 * n : 4 * n + 4]) for n in range(3)])};
  function turn() {{
    page += 1;
    list.innerHTML = pages[page - 1];
    if (page === 3) document.getElementById('on').remove();
  }}
</script>"""
WAYS = {
    "button": "<button id=on onclick=turn()>Next</button>",
    "beside previous": "<button disabled>Previous</button><button type=button id=on onclick=turn()>Next</button>",
    "link to nowhere": "<a id=on href='#' onclick='turn(); return false'>Next</a>",
    "link to a script": "<a id=on href='javascript:turn()'>Next</a>",
    "icon": "<button id=on aria-label='Next page' onclick=turn()>&gt;</button>",
    "older": "<button id=on onclick=turn()>Older entries</button>",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_a_list_that_a_single_button_turns_is_read_to_its_end(page: Context, site: Site, way: str) -> None:
    """Nothing beside the button tells that it is the list's own: four of twelve records were called all."""
    site.pages["/list"] = page_of_parts(TURNED + way)
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:12]]
    assert (found.complete, found.why) == (True, "")


async def test_a_single_button_that_stops_turning_leaves_the_list_incomplete(page: Context, site: Site) -> None:
    dead = TURNED.replace("page += 1", "if (page === 2) return; page += 1")
    site.pages["/list"] = page_of_parts(f"{dead}<button id=on onclick=turn()>Next</button>")
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:8]]
    assert not found.complete and "'Next' brought nothing further after page 2" in found.why


@pytest.mark.parametrize(
    ("turn", "complete"),
    [
        ("picture.src = 'data:,2'", True),
        ("document.title = document.querySelector('h1').textContent = 'Tools'; list.innerHTML = ''", True),
        ("list.innerHTML = ''", False),
        (f"list.innerHTML = `{parts_table(PARTS[4:8])}`; document.querySelector('h1').textContent = 'Tools'", True),
    ],
    ids=["pictures", "another page", "nothing left", "other things"],
)
async def test_a_button_called_next_that_turns_something_else_takes_no_record(
    page: Context, site: Site, turn: str, complete: bool
) -> None:
    button = f'<p><img id=picture src="data:,1"><button id=on onclick="{turn}">Next</button>'
    site.pages["/list"] = page_of_parts(button)
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:4]]
    assert found.complete is complete


@pytest.mark.parametrize("form", ["<form>", "<form method=get action=/sent>", "<form method=post action=/sent>"])
async def test_a_form_is_not_sent_to_see_whether_a_list_goes_on(page: Context, site: Site, form: str) -> None:
    """The button leads to a form's next step, perhaps."""
    site.pages["/list"] = page_of_parts(f"{form}<input name=size><button>Next</button></form>")
    found = await read(page, site)
    assert (names(found), page.url) == ([name for name, _ in PARTS[:4]], f"{site.url}/list")


# --- shifts -------------------------------------------------------------------------------------------


async def test_a_list_that_shifts_gives_no_record_twice_and_is_told(page: Context, site: Site) -> None:
    site.pages = {"/list": parts(1, 10, '<a href="?page=2">Next</a>'), "/list?page=2": parts(9, 18)}
    found = await read(page, site)
    assert names(found) == [name for name, _ in PARTS[:18]]
    assert not found.complete
    assert "page 2 began with the last 2 records of the page before" in found.why
    items, cut = await collected(page, site)
    assert items == [name for name, _ in PARTS[:18]]
    assert "shifted" in cut


async def test_a_last_page_that_is_filled_up_is_no_shift_where_the_page_counts(page: Context, site: Site) -> None:
    site.pages = {
        "/list": parts(1, 10, '<p>18 results</p><a href="?page=2">Next</a>'),
        "/list?page=2": parts(9, 18, "<p>18 results</p>"),
    }
    found = await read(page, site)
    assert (names(found), found.complete) == ([name for name, _ in PARTS[:18]], True)


async def test_records_that_are_equal_on_one_page_stay_two(page: Context, site: Site) -> None:
    twins = [*PARTS[:5], PARTS[4]]
    site.pages = {
        "/list": f"<title>Parts</title><h1>Parts</h1>{parts_table(twins)}<a href='?page=2'>Next</a>",
        "/list?page=2": f"<title>Parts</title><h1>Parts</h1>{parts_table([PARTS[4], *PARTS[5:8]])}",
    }
    found = await read(page, site)
    assert names(found).count(PARTS[4][0]) == 3
    assert found.complete


async def test_a_record_that_reads_alike_at_a_seam_counts_where_the_page_counts_it(page: Context, site: Site) -> None:
    site.pages = {
        "/list": parts(1, 10, '<p>20 results</p><a href="?page=2">Next</a>'),
        "/list?page=2": parts(10, 19, "<p>20 results</p>"),
    }
    found = await read(page, site)
    assert (len(found.records), found.complete) == (20, True)
    assert names(found).count(PARTS[9][0]) == 2


# --- lists that grow ----------------------------------------------------------------------------------

GROWS = """
<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody id=list></tbody></table>
<script>
const parts = %s, most = %d, delay_ms = %d;
let at = 0, asking = false;
const draw = () => {
  const row = ([n, p]) => `<tr style="height:40px"><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  list.insertAdjacentHTML('beforeend', parts.slice(at, at + 20).map(row).join(''));
  at += 20;
};
const more = async () => {
  const root = document.documentElement;
  if (asking || at >= most || root.scrollHeight - root.scrollTop - root.clientHeight > 60) return;
  asking = true;
  await new Promise((done) => setTimeout(done, delay_ms));
  ASK
  draw();
  asking = false;
};
draw();
addEventListener('scroll', more);
</script>
"""


def growing(most: int, *, delay_ms: int = 0, ask: str = "") -> str:
    data = json.dumps(PARTS)
    return page("Parts", "<h1>Parts</h1>" + (GROWS % (data, most, delay_ms)).replace("ASK", ask))


class Watched:
    """A context that tells how often requests for rows were seen to be under way."""

    def __init__(self, context: Context, site: Site, *, let_go_at: int) -> None:
        self._context, self._site, self._let_go_at = context, site, let_go_at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def open_requests(self) -> Sequence[str]:
        found = await self._context.open_requests()
        if any(url.endswith("/rows") for url in found):
            self._let_go_at -= 1
            if self._let_go_at == 0:
                self._site.answers.set()
        return found


async def test_a_list_has_not_ended_while_its_next_answer_is_awaited(page: Context, site: Site) -> None:
    """The server answers no sooner than the request was seen to be open, when nothing else moved for seconds."""
    site.pages["/list"] = growing(40, ask="await fetch('/rows');")
    site.answers.clear()
    found = await read(cast(Context, Watched(page, site, let_go_at=1)), site)
    assert names(found)[:40] == [name for name, _ in PARTS[:40]]
    assert len(found.records) == 40
    site.answers.clear()
    items, _ = await collected(cast(Context, Watched(page, site, let_go_at=1)), site)
    assert len(items) == 40


async def test_a_list_whose_script_waits_before_it_grows_has_not_ended(page: Context, site: Site) -> None:
    site.pages["/list"] = growing(57, delay_ms=1200)
    found = await read(page, site)
    assert (len(found.records), found.complete, found.why) == (57, True, "")
    assert await collected(page, site) == ([name for name, _ in PARTS], "")


async def test_a_list_that_stops_growing_without_a_sign_of_its_end_is_not_complete(page: Context, site: Site) -> None:
    site.pages["/list"] = growing(40)
    found = await read(page, site)
    assert (len(found.records), found.complete) == (40, False)
    assert "scrolling brought nothing further after 40" in found.why
    items, cut = await collected(page, site)
    assert len(items) == 40
    assert "scrolling brought nothing further after 40" in cut


WATCHING = """
<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody id=list></tbody></table>
<div id=end style="height:1px"></div><button id=press>Load more</button>SPINNER
<script>
const parts = %s;
let at = 0, asking = false;
const draw = () => {
  const row = ([n, p]) => `<tr style="height:40px"><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  list.insertAdjacentHTML('beforeend', parts.slice(at, at + 20).map(row).join(''));
  at += 20;
};
const near = () => end.getBoundingClientRect().top < innerHeight + 60;
const more = async () => {
  if (asking || at >= 57) return;
  asking = true;
  await fetch('/rows');
  draw();
  asking = false;
  if (at >= 57) press.remove();
};
draw();
WATCH
</script>
"""
WATCHES = {
    "a timer": "press.remove(); setInterval(() => near() && more(), 900);",
    "an observer": "press.remove(); new IntersectionObserver((seen) => seen.at(-1).isIntersecting && more())"
    ".observe(end);",
    "a button": "press.onclick = more;",
}


def watching(watch: str, spinner: str = "") -> str:
    body = (WATCHING % json.dumps(PARTS)).replace("WATCH", WATCHES[watch]).replace("SPINNER", spinner)
    return page("Parts", "<h1>Parts</h1>" + body)


@pytest.mark.parametrize("watch", WATCHES)
async def test_a_list_whose_answers_are_slow_is_read_to_its_end_whatever_asks_for_them(
    page: Context, site: Site, watch: str
) -> None:
    site.pages["/list"], site.answer_s = watching(watch), 2.5
    found = await read(page, site)
    assert (names(found), found.complete, found.why) == ([name for name, _ in PARTS], True, "")
    assert await collected(page, site) == ([name for name, _ in PARTS], "")


# --- whole sessions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extract",
    [
        {},
        {"records": ".part"},
        {"records": "p", "fields": {"name": {"select": "b"}, "price": {"select": "i"}}},
    ],
)
async def test_a_list_job_without_a_record_has_failed(sessions: Sessions, site: Site, extract: dict[str, Any]) -> None:
    site.pages["/list"] = f"<title>Parts</title><h1>Parts</h1><p>Welcome.</p>{FOOT}"
    outcome = await sessions.end(f"{site.url}/list", extract={"schema": SCHEMA, **extract})
    assert (outcome.status, outcome.records) == (Status.FAILED, ())
    assert outcome.error is not None
    assert outcome.error.code in ("fields_missing", "place_missing")
    assert not outcome.error.retryable
    assert "name" in outcome.error.message or ".part" in outcome.error.message


async def test_a_list_job_whose_page_says_that_it_is_empty_is_completed(sessions: Sessions, site: Site) -> None:
    site.pages["/list"] = f"<h1>Parts</h1><p>No results found.</p>{FOOT}"
    outcome = await sessions.end(f"{site.url}/list", extract={"schema": SCHEMA})
    assert (outcome.status, outcome.records, outcome.incomplete) == (Status.COMPLETED, (), None), outcome.reason


RECORD = {"schema": SCHEMA["items"]}
PART = "<!doctype html><title>Bolt</title><h1>Bolt</h1><dl><dt>Name<dd>Bolt<dt>Price<dd>€ 1.50</dl>"
MOVES = "<!doctype html><script>location.replace(%s)</script>"


@pytest.mark.parametrize("by", ["a redirect", "a script"])
async def test_an_item_that_leads_to_another_site_gives_no_record_of_it(
    sessions: Sessions, site: Site, by: str
) -> None:
    other = Site({"/part": PART})
    with served(type("Other", (_Handler,), {"site": other})) as other.url:
        site.led = f"{other.url}/part"
        site.pages["/led-by-script"] = MOVES % json.dumps(site.led)
        item = f"{site.url}/led" if by == "a redirect" else f"{site.url}/led-by-script"
        outcome = await sessions.end(f"{site.url}/list", item, extract=RECORD)
        assert outcome.error is not None, outcome
        assert outcome.error.code == "led_elsewhere", outcome.reason
        assert f"{item} led to {site.led}" in outcome.error.message
        named = await sessions.end(f"{site.url}/list", site.led, extract=RECORD)
        host = site.led.removeprefix("http://").partition("/")[0]
        allowed = await sessions.end(f"{site.url}/list", item, extract=RECORD, sites=(host,))
    assert named.status is Status.COMPLETED, "a link that names the other site itself is as good as any"
    assert allowed.status is Status.COMPLETED, "and so is a site that the job names"


async def test_an_item_that_leads_to_another_page_of_its_site_is_read(sessions: Sessions, site: Site) -> None:
    site.led, site.pages["/part"] = "/part", PART
    outcome = await sessions.end(f"{site.url}/list", f"{site.url}/led", extract=RECORD)
    assert outcome.status is Status.COMPLETED, outcome.reason


# --- a script that takes its time -----------------------------------------------------------------------

LATE = """<div style="height:2000px"></div><template>{rest}</template><script>
  const add = (count) => document.querySelector('table tbody').append(
    ...[...document.querySelector('template').content.querySelectorAll('tbody tr')].slice(0, count));
  {how}
</script>"""
LATE_WAYS = {
    "scrolled": "addEventListener('scroll', () => setTimeout(() => { add(20); "
    "addEventListener('scroll', () => setTimeout(add, 100, 17), {once: true}); }, 3500), {once: true});",
    "pressed": "const more = Object.assign(document.createElement('button'), {textContent: 'Load more'});"
    "document.body.append(more); more.onclick = () => { more.remove(); setTimeout(add, 3500, 37); };",
}


async def test_a_timer_longer_than_the_wait_is_not_seen_as_the_docs_say(page: Context, site: Site) -> None:
    how = "addEventListener('scroll', () => setTimeout(add, 600_000, 37), {once: true});"
    site.pages["/list"] = parts(1, 20, LATE.replace("{rest}", parts_table(PARTS[20:])).replace("{how}", how))
    found = await read(page, site)
    assert (names(found), found.complete, found.why) == ([name for name, _ in PARTS[:20]], True, "")


@pytest.mark.parametrize("way", LATE_WAYS)
async def test_a_list_whose_script_waits_without_a_request_is_read_to_its_end(
    page: Context, site: Site, way: str
) -> None:
    body = LATE.replace("{rest}", parts_table(PARTS[20:])).replace("{how}", LATE_WAYS[way])
    site.pages["/list"] = parts(1, 20, body)
    found = await read(page, site)
    assert (names(found), found.complete) == ([name for name, _ in PARTS], True)
