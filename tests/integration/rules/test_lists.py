"""Lists over several pages: read to their end, by link or by script, and never on into another document."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shoal.agent.browser import Context
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import LoopItem
from tests.loopback import served
from tests.priced_parts import PARTS, SCHEMA, parts_table

pytestmark = pytest.mark.asyncio(loop_scope="session")

STYLE = "<style>td,th{padding:4px}</style>"


def page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title>{STYLE}</head><body><h1>{title}</h1>{body}</body>'
    )


def by_link(number: int, *, count: bool) -> str:
    part = PARTS[10 * number - 10 : 10 * number]
    says = f"<p>Showing {10 * number - 9} to {min(57, 10 * number)} of 57 entries</p>" if count else ""
    following = f'<a href="?page={number + 1}">Next</a>' if number < 6 else "<span>Next</span>"
    links = " ".join(f'<a href="?page={n}">{n}</a>' if n != number else f"<b>{n}</b>" for n in range(1, 7))
    return page("Parts", f"{parts_table(part)}{says}<p class=pages>{links} {following}</p>")


SCRIPTED = """
<div id=list></div><p id=says></p><nav><button id=next>Next</button></nav>
<script>
const parts = %s; let at = 0;
const draw = () => {
  const row = ([n, p]) => `<tr><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  document.getElementById('list').innerHTML = '<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody>' +
    parts.slice(at, at + 10).map(row).join('') + '</tbody></table>';
  document.getElementById('says').textContent = `Showing ${at + 1} to ${Math.min(57, at + 10)} of 57 rows`;
  document.getElementById('next').disabled = at + 10 >= parts.length;
};
document.getElementById('next').onclick = () => { at += 10; setTimeout(draw, 200); };
draw();
</script>
"""
BROKEN = "An error happened while fetching the data"
IN_PIECES = """<div role="complementary">%s<p id=says></p></div>
<script>
// Text by text and space by space, as libraries draw it.
for (const [name, text] of [['', 'Showing'], ['', ' '], ['b', '1'], ['', ' '], ['', 'to'], ['', ' '], ['b', '10'],
  ['', ' '], ['', 'of'], ['', ' '], ['b', '57'], ['', ' '], ['', 'results']]) {
  const node = document.createTextNode(text), place = name ? document.createElement(name) : node;
  if (name) place.append(node);
  document.getElementById('says').append(place);
}
</script>"""
GROWING = """
<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody id=list></tbody></table><p id=says></p>
<button id=more>Load more</button>
<script>
const parts = %s; let at = 0;
const more = () => {
  for (const [n, p] of parts.slice(at, at + 20))
    document.getElementById('list').insertAdjacentHTML('beforeend', `<tr><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`);
  at += 20;
  document.getElementById('says').textContent = `Showing ${Math.min(57, at)} of 57`;
  if (at >= parts.length) document.getElementById('more').remove();
};
document.getElementById('more').onclick = () => setTimeout(more, 100);
more();
</script>
"""


WINDOWED = """
<div id=grid role=grid style="height:200px;overflow-y:auto;width:400px">
<div role=row style="height:20px"><span role=columnheader>Name</span> <span role=columnheader>Price</span></div>
<div id=rows role=rowgroup style="position:relative"></div></div>
<script>
const parts = %s, grid = document.getElementById('grid'), rows = document.getElementById('rows');
rows.style.height = parts.length * 24 + 'px';
const draw = () => {
  const from = Math.max(0, Math.floor(grid.scrollTop / 24) - 2), seen = parts.slice(from, from + 12);
  const row = ([n, p], i) => `<div role=row style="position:absolute;height:24px;top:${(from + i) * 24}px">` +
    `<span role=gridcell>${n}</span> <span role=gridcell>€ ${p.toFixed(2)}</span></div>`;
  // As grids do, whose rows stand in the document in the order in which they were drawn.
  rows.innerHTML = seen.map(row).reverse().join('');
};
grid.addEventListener('scroll', () => setTimeout(draw, 30));
draw();
</script>
"""
# Lists that do not say how long they are: what they add comes from the server, as it does on most pages.
UNSTATED = """
<table><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody id=list></tbody></table>%s
<script>
const parts = %s; let at = 0, asking = false;
const draw = () => {
  const row = ([n, p]) => `<tr style="height:40px"><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  document.getElementById('list').insertAdjacentHTML('beforeend', parts.slice(at, at + 12).map(row).join(''));
  at += 12;
};
const more = async () => {
  const root = document.documentElement;
  if (asking || at >= parts.length || root.scrollHeight - root.scrollTop - root.clientHeight > 60) return;
  asking = true;
  await fetch('/wait');
  draw();
  asking = false;
  more();
};
draw();
addEventListener('scroll', more);
more();
</script>
"""
IN_SIGHT = """
<div id=room style="position:relative"><table style="position:absolute">
<thead><tr><th>Name</th><th>Price</th></tr></thead><tbody id=list></tbody></table></div>
<script>
const parts = %s, room = document.getElementById('room'), list = document.getElementById('list');
room.style.height = parts.length * 60 + 'px';
const draw = () => {
  const from = Math.min(parts.length - 15, Math.floor(scrollY / 60));
  const row = ([n, p]) => `<tr style="height:60px"><td>${n}</td><td>€ ${p.toFixed(2)}</td></tr>`;
  list.innerHTML = parts.slice(from, from + 15).map(row).join('');
  list.parentElement.style.top = from * 60 + 'px';
};
addEventListener('scroll', draw);
draw();
</script>
"""
BOXED = """
<div style="height:200px;overflow-y:auto">%s</div><script>window.drawn = true</script>
"""


def chapter(number: int) -> str:
    """One of the pages of a manual, as documentation generators write them: with a table of its own and a Next."""
    rows = [(f"Option {number}{letter}", 1.5) for letter in "abcd"]
    links = "".join(
        f'<li class="toctree-l1"><a href="/manual/c{number}{n}.html">Section {number}.{n}</a></li>' for n in "123"
    )
    names = ["Installation", "Configuration", "Reference"]
    following = (
        f'<link rel="next" title="{names[number]}" href="/manual/{names[number].lower()}.html">' if number < 3 else ""
    )
    link = f'<div class=related><a href="/manual/{names[number].lower()}.html">next</a></div>' if number < 3 else ""
    title = names[number - 1]
    body = f"<ul>{links}</ul>{parts_table(rows)}{link}"
    return page(title, body).replace("</head>", f"{following}</head>")


class _Handler(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        parts = urlsplit(self.path)
        number = int(parse_qs(parts.query).get("page", ["1"])[0])
        data = str([list(part) for part in PARTS])
        pages = {
            "/counted": lambda: by_link(number, count=True),
            "/uncounted": lambda: by_link(number, count=False),
            "/scripted": lambda: page("Parts", SCRIPTED % data),
            "/growing": lambda: page("Parts", GROWING % data),
            "/windowed": lambda: page("Parts", WINDOWED % data),
            "/twins": lambda: page("Parts", WINDOWED % str([list(part) for part in [*PARTS, *PARTS[:20]]])),
            "/scrolled": lambda: page("Parts", UNSTATED % ("<p style='height:900px'>Foot</p>", data)),
            "/filling": lambda: page("Parts", UNSTATED % ("", data)),
            "/in-sight": lambda: page("Parts", IN_SIGHT % data),
            "/wait": lambda: time.sleep(0.2) or "",
            "/longer": lambda: page(
                "Parts",
                parts_table(PARTS[: int(parse_qs(parts.query).get("rows", ["15"])[0])])
                + f'<a href="/longer/tip?rows=5">less</a> <a href="/longer/tip?rows={60}">more</a>',
            ),
            "/longer/tip": lambda: page("Parts", parts_table(PARTS) + '<a href="/longer/tip?rows=120">more</a>'),
            "/elsewhere": lambda: page(
                "Parts", parts_table(PARTS[:15]) + '<p>Who we are: <a href="/prose">more</a></p>'
            ),
            "/boxed": lambda: page("Parts", BOXED % parts_table(PARTS)),
            "/stuck": lambda: page("Parts", parts_table(PARTS[:10]) + "<p>Showing 1 to 10 of 57 entries</p>"),
            "/broken": lambda: page(
                "Parts",
                parts_table(PARTS[:10]).replace("</tbody>", f"<tr><td colspan=2>{BROKEN}</td></tr></tbody>")
                + "<button disabled>Next</button>",
            ),
            "/broken-links": lambda: page(
                "Parts",
                "<ul>" + "".join(f'<li><a href="/p/{n}">Part {n}</a></li>' for n in range(9)) + f"</ul><p>{BROKEN}</p>",
            ),
            "/issues": lambda: page("Issues", parts_table([(BROKEN, 1.5), *PARTS[:9]])),
            "/in-pieces": lambda: page("Parts", IN_PIECES % parts_table(PARTS[:10])),
            "/sized": lambda: page(
                "Parts",
                parts_table(PARTS if "size=100" in parts.query else PARTS[:10])
                + f"<p>1-{57 if 'size=100' in parts.query else 10} of 57</p>"
                + 'Show <a href="?size=25">25</a> <a href="?size=100">100</a>',
            ),
            "/empty": lambda: page("Parts", "<p>No results found.</p>"),
            "/prose": lambda: page("Parts", "<p>We have been making lamps since 1911.</p>"),
            "/manual/installation.html": lambda: chapter(1),
            "/manual/configuration.html": lambda: chapter(2),
            "/manual/reference.html": lambda: chapter(3),
            "/rows": lambda: page(
                "Rows",
                "<p>1 to 3 of 9</p><ul>"
                + "".join(f'<li><a href="/r/{n}">Row {n}</a></li>' for n in range(3))
                + "</ul>",
            ),
        }
        body = pages.get(parts.path, lambda: "<h1>Not here</h1>")().encode()
        self.send_response(200 if parts.path in pages else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silence: what was asked is in `asked`."""


async def read(context: Context, path: str, **job: Any) -> tuple[Extraction, list[str]]:
    asked: list[str] = []
    with served(type("Handler", (_Handler,), {"asked": asked})) as url:
        await context.goto(url + path)
        spec = JobSpec.model_validate({"url": url + path, "extract": {"schema": SCHEMA}, **job})
        found = await RulesPolicy().extract(SessionState(spec=spec, loop=None, item=None, page=context))
        assert context.url.startswith(url)
    return found, [path for path in asked if path != "/favicon.ico"]


def values(found: Extraction) -> list[tuple[str, float]]:
    return [(record.value["name"], record.value["price"]) for record in found.records]


@pytest.mark.parametrize(
    "path",
    ["/counted", "/uncounted", "/scripted", "/growing", "/sized", "/scrolled", "/filling", "/longer"],
)
async def test_a_list_is_read_to_its_end(page: Context, path: str) -> None:
    found, _ = await read(page, path)
    assert values(found) == PARTS
    assert found.complete


async def test_rows_that_are_drawn_as_they_come_into_sight_are_scrolled_to(page: Context) -> None:
    found, _ = await read(page, "/windowed")
    assert sorted(values(found)) == PARTS
    assert (found.complete, found.why) == (True, "")


async def test_rows_that_read_alike_in_a_scrolled_grid_make_the_list_incomplete(page: Context) -> None:
    """The second of two such rows may be the first one drawn again."""
    found, _ = await read(page, "/twins")
    assert sorted(values(found)) == PARTS
    assert not found.complete
    assert "read alike" in found.why


async def test_a_region_that_holds_all_of_its_rows_is_read_once(page: Context) -> None:
    found, _ = await read(page, "/boxed")
    assert values(found) == PARTS
    assert found.complete


async def test_a_list_of_which_scrolling_shows_other_rows_is_not_called_complete(page: Context) -> None:
    found, _ = await read(page, "/in-sight")
    assert values(found) == PARTS[:15]
    assert not found.complete
    assert "draws other rows" in found.why


async def test_a_link_called_more_that_leads_elsewhere_ends_no_list(page: Context) -> None:
    found, asked = await read(page, "/elsewhere")
    assert (values(found), found.complete) == (PARTS[:15], True)
    assert asked == ["/elsewhere", "/prose", "/elsewhere"]


async def test_what_cannot_be_followed_is_said_to_be_missing(page: Context) -> None:
    found, _ = await read(page, "/stuck")
    assert values(found) == PARTS[:10]
    assert (found.complete, found.shown) == (False, 57)
    assert "no way to the rest" in found.why


async def test_a_count_that_is_drawn_in_pieces_beside_the_page_is_read(page: Context) -> None:
    found, _ = await read(page, "/in-pieces")
    assert values(found) == PARTS[:10]
    assert (found.complete, found.shown) == (False, 57)


@pytest.mark.parametrize(
    "given", [{}, {"records": "tbody tr", "fields": {"name": {"select": "td"}, "price": {"select": "td + td"}}}]
)
async def test_a_list_whose_page_says_that_loading_failed_is_not_called_complete(
    page: Context, given: dict[str, Any]
) -> None:
    found, _ = await read(page, "/broken", extract={"schema": SCHEMA, **given})
    assert not found.complete
    assert BROKEN in found.why
    assert values(found)[:10] == PARTS[:10]


async def test_an_issue_that_is_called_like_a_failure_is_a_record_like_others(page: Context) -> None:
    found, _ = await read(page, "/issues")
    assert values(found) == [(BROKEN, 1.5), *PARTS[:9]]
    assert found.complete


async def test_items_of_a_page_that_says_that_loading_failed_are_not_all(page: Context) -> None:
    items, state = await collected(page, "/broken-links", {"select": "li a"})
    assert len(items) == 9
    assert BROKEN in state.cut


async def test_a_list_that_says_that_it_is_empty_is_whole(page: Context) -> None:
    found, _ = await read(page, "/empty")
    assert (found.records, found.complete, found.empty) == ((), True, True)


async def test_a_page_without_a_list_says_what_was_looked_for(page: Context) -> None:
    found, _ = await read(page, "/prose")
    assert (found.records, found.complete, found.empty) == ((), False, False)
    assert "name, price" in found.why


async def test_the_next_document_is_not_the_next_page_of_a_list(page: Context) -> None:
    found, asked = await read(page, "/manual/installation.html")
    assert values(found) == [(f"Option 1{letter}", 1.5) for letter in "abcd"]
    assert found.complete
    assert asked == ["/manual/installation.html", "/manual/configuration.html", "/manual/installation.html"]


async def collected(context: Context, path: str, source: dict[str, Any]) -> tuple[list[LoopItem], SessionState]:
    with served(type("Handler", (_Handler,), {"asked": []})) as url:
        await context.goto(url + path)
        job = JobSpec.model_validate({"url": url + path, "loop": {"from": source}})
        state = SessionState(spec=job, loop=job.loop, item=None, page=context)
        return [item async for item in RulesPolicy().collect(state, Plan())], state


@pytest.mark.parametrize("select", ["li a", "sections"])
async def test_no_items_come_from_the_next_document(page: Context, select: str) -> None:
    items, _ = await collected(page, "/manual/installation.html", {"select": select})
    assert [item.label for item in items] == ["Section 1.1", "Section 1.2", "Section 1.3"]


async def test_the_caller_s_own_way_on_is_taken(page: Context) -> None:
    items, _ = await collected(page, "/manual/installation.html", {"select": "li a", "next": ".related a"})
    assert len(items) == 9


async def test_a_list_of_items_that_has_more_than_it_shows_is_known_to(page: Context) -> None:
    items, state = await collected(page, "/rows", {"select": "li a"})
    assert (len(items), state.listed) == (3, 9)


@pytest.mark.parametrize("path", ["/scrolled", "/filling", "/longer"])
async def test_the_items_of_a_list_that_does_not_say_its_size_are_all_collected(page: Context, path: str) -> None:
    items, _ = await collected(page, path, {"select": "tbody td:first-child"})
    assert [item.value for item in items] == [name for name, _ in PARTS]
