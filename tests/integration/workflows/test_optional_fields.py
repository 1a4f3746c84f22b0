"""A field that some pages lack: null where a page is known to lack it, and a miss where the page may have changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.agent.browser import Context
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.format.branch import Branch
from shoal.agent.workflows.learning.compile_fields import CompiledPages, compile_pages
from shoal.agent.workflows.learning.page_sample import PageSample, sample_page
from shoal.agent.workflows.replay.pages import replay_page
from shoal.agent.workflows.verdict import PageRead
from tests.integration.workflows.test_random_edits import EDIT_JS, KINDS
from tests.loopback import served
from tests.sites.ring import EVERYTHING

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCHEMA: Json = {
    "type": "object",
    "required": ["name", "sku", "sale"],
    "properties": {"name": {"type": "string"}, "sku": {"type": "string"}, "sale": {"type": ["number", "null"]}},
}
NAMES = ("Oak stool", "Elm bench", "Ash shelf", "Fir crate", "Yew chest", "Box table", "Bay hook", "Fig vase")
SALES = (12.5, None, 8.25, None, 31.0, None, 5.75, None)
WORDS = ("Sits well.", "Made by hand.", "Two years of warranty.", "Ships flat.")


def page_of(n: int, sale: float | None, *, rows: str = "table", extra: str = "", label: str = "Sale price") -> str:
    """The page of item `n`; without `sale` the row is not there, or says that there is none."""
    facts = [("SKU", f"HR-{7 * n + 311}")]
    if sale is not None or rows == "said":
        facts.append((label, "–" if sale is None else f"€{sale:.2f}"))
    facts.append(("Weight", f"{n * 13 + 120} g"))
    table = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in facts)
    words = "".join(f"<p>{word}</p>" for word in WORDS[: 1 + n % 3])
    return (
        f'<!doctype html><html lang="en"><title>{NAMES[n]}</title><body><header><a href="/">All</a></header>'
        f'<main><h1>{NAMES[n]}</h1><table class="facts">{table}</table>{extra}<section><h2>About</h2>{words}</section>'
        "</main><footer>Delivery in two days</footer></body></html>"
    )


@contextmanager
def site(pages: dict[str, str]) -> Iterator[str]:
    """Serves `pages` by their paths; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *args: object) -> None:
            """Nothing is logged."""

    with served(Handler) as address:
        yield address


async def learned(page: Context, address: str, numbers: range, *, schema: Json = SCHEMA) -> CompiledPages:
    samples: list[PageSample] = []
    for n in numbers:
        item = LoopItem(n, f"{address}/p/{n}", True, NAMES[n])
        await page.goto(item.value)
        record = {"name": NAMES[n], "sku": f"HR-{7 * n + 311}", "sale": SALES[n]}
        samples.append(await sample_page(page, record, schema, item))
    return compile_pages(samples, schema)


async def read(page: Context, address: str, branch: Branch, n: int, *, schema: Json = SCHEMA) -> PageRead:
    item = LoopItem(n, f"{address}/p/{n}", True, NAMES[n])
    await page.goto(item.value)
    return await replay_page(page, (branch,), item, schema)


@pytest.mark.parametrize("rows", ["table", "said"])
async def test_a_page_that_is_known_to_lack_the_field_gives_null(page: Context, rows: str) -> None:
    pages = {f"/p/{n}": page_of(n, SALES[n], rows=rows) for n in range(8)}
    with site(pages) as address:
        made = await learned(page, address, range(4))
        assert made.open == () and len(made.branches) == 1, made
        for n in range(4, 8):
            got = await read(page, address, made.branches[0], n)
            assert got.record is not None, got.misses
            assert got.record.value == {"name": NAMES[n], "sku": f"HR-{7 * n + 311}", "sale": SALES[n]}


async def test_a_field_that_the_schema_does_not_require_is_left_out(page: Context) -> None:
    schema = {**SCHEMA, "required": ["name"], "properties": {**SCHEMA["properties"], "sale": {"type": "number"}}}
    pages = {f"/p/{n}": page_of(n, SALES[n]) for n in range(8)}
    with site(pages) as address:
        made = await learned(page, address, range(4), schema=schema)
        got = await read(page, address, made.branches[0], 5, schema=schema)
        assert got.record is not None, got.misses
        assert got.record.value == {"name": NAMES[5], "sku": "HR-346"}


LATE = (
    "<script>setTimeout(() => {{ document.querySelector('tr').insertAdjacentHTML('afterend', `{0}`) }}, {1})</script>"
)
ROW = "<tr><th>Sale price</th><td>€7.00</td></tr>"


@pytest.mark.parametrize(
    ("told", "attacked"),
    [
        ("the label is another", page_of(5, 7.0, label="Offer price")),
        ("the label is one of another row", page_of(5, 7.0, label="SKU")),
        ("the row has no label", page_of(5, 7.0).replace("<th>Sale price</th>", "")),
        ("the block is elsewhere", page_of(5, None, extra="<p>Sale price <b>€7.00</b></p>")),
        ("the value is elsewhere, and bare", page_of(5, None, extra="<b>€7.00</b>")),
        ("the value is in a paragraph of the text", page_of(5, None).replace("<p>Sits", "<p>€7.00</p><p>Sits")),
        ("the label is an attribute", page_of(5, None, extra='<div title="Sale price">€7.00</div>')),
        ("the rows are divisions", page_of(5, None, extra="<div><span>Sale price</span> €7.00</div>")),
        ("the value is a picture", page_of(5, None, extra='<img alt="€7.00" width=9 height=9 src="data:,">')),
        ("it is in a frame", page_of(5, None, extra="<iframe srcdoc='Sale price €7.00'></iframe>")),
        ("the facts are not there yet", page_of(5, None).replace("<tr><th>Weight</th><td>185 g</td></tr>", "")),
        ("it says something else", page_of(5, 7.0).replace("€7.00", "ask us")),
    ],
)
async def test_a_page_that_has_changed_is_a_miss_and_not_null(page: Context, told: str, attacked: str) -> None:
    pages = {f"/p/{n}": page_of(n, SALES[n]) for n in range(4)}
    with site({**pages, "/p/5": attacked}) as address:
        made = await learned(page, address, range(4))
        got = await read(page, address, made.branches[0], 5)
        assert got.record is None, f"{told}: {got.record}"


@pytest.mark.parametrize("delay", [100, 900, 2500])
async def test_a_value_that_is_drawn_late_is_read_or_missed(page: Context, delay: int) -> None:
    pages = {f"/p/{n}": page_of(n, SALES[n]) for n in range(4)}
    with site({**pages, "/p/5": page_of(5, None) + LATE.format(ROW, delay)}) as address:
        made = await learned(page, address, range(4))
        got = await read(page, address, made.branches[0], 5)
        assert got.record is None or got.record.value["sale"] == 7.0, got.record


@pytest.mark.parametrize("attack", ["label", "gone"])
async def test_words_for_absence_count_only_behind_the_fields_own_label(page: Context, attack: str) -> None:
    pages = {f"/p/{n}": page_of(n, SALES[n], rows="said") for n in range(4)}
    body = page_of(5, None, rows="said")
    body = body.replace("Sale price", "Offer price") if attack == "label" else page_of(5, None)
    with site({**pages, "/p/5": body}) as address:
        made = await learned(page, address, range(4))
        got = await read(page, address, made.branches[0], 5)
        assert got.record is None, got.record


async def test_one_page_without_the_field_teaches_no_absence_and_that_is_told(page: Context) -> None:
    sales = {0: 12.5, 1: None, 2: 8.25}
    with site({f"/p/{n}": page_of(n, sale) for n, sale in sales.items()}) as address:
        made = await learned(page, address, range(3))
        assert [field.may_be_null for field in made.branches[0].fields] == [False] * 3
        assert [(decision.what, decision.why) for decision in made.open] == [
            ("pages without field sale", "1 of 3 pages lacks it, and 2 are needed")
        ]


EDITS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 60), st.integers(0, 60), st.integers(0, 8)), min_size=1, max_size=4
)
SAID_JS = "() => document.body.innerText"


async def test_random_edits_never_make_a_stated_value_null(page: Context) -> None:
    """The page states the value; whatever is edited, null is given only where the value is no longer stated."""
    pages = {f"/p/{n}": page_of(n, SALES[n]) for n in range(8)}
    examples: list[Json] = []

    most = 120 if EVERYTHING else 40

    @settings(max_examples=most, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(EDITS)
    def collect(edits: list[tuple[str, int, int, int]]) -> None:
        examples.append([list(edit) for edit in edits])

    collect()
    wrong, nulls, with_value = [], 0, count()
    with site(pages) as address:
        made = await learned(page, address, range(4))
        for edits in examples:
            item = LoopItem(6, f"{address}/p/6", True, NAMES[6])
            await page.goto(item.value)
            await page.read(EDIT_JS, edits)
            said = str(await page.read(SAID_JS))
            got = await replay_page(page, made.branches, item, SCHEMA)
            if got.record is None:
                continue
            next(with_value)
            stated = any(mark in said for mark in ("€", "Sale price"))
            if got.record.value["sale"] is None:
                nulls += 1
                wrong += [json.dumps(edits)] if stated else []
    assert wrong == []
    assert next(with_value) >= 5, "edits beside the facts must leave some records"
