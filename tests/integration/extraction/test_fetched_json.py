"""JSON that a page's scripts fetched bears out what the page says, or fills in what it is silent about.

It never says anything about another item, and never overrules what people see.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.errors import FieldsMissing, PlaceAmbiguous, PlaceMissing
from shoal.agent.policies.extraction import extract_records
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Record
from tests.integration.extraction.test_places import read, schema
from tests.loopback import served

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT, NUMBER, WHOLE, FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}
SHOWN = "<h1>Blue lamp</h1><p>Price: 12.50</p><p>Maker: Acme Lights</p>"
LAMP = {"id": 12, "name": "Blue lamp", "price": 12.5, "maker": "Acme Lights", "stock": 7, "dimmable": True}


@dataclass
class Api:
    """A site whose pages fetch what a test puts there."""

    url: str
    body: str = SHOWN  # of every page below /lamps/
    answers: dict[str, Any] = field(default_factory=dict)  # by path: JSON, or a text as it is
    more: dict[str, Any] = field(default_factory=dict)  # answers that scripts of `body` fetch
    slow: frozenset[str] = frozenset()  # paths that answer after 0.8 s
    method: str = "GET"
    base: str = ""  # where the answers are fetched from; "" for the site itself


class _Handler(BaseHTTPRequestHandler):
    api: Api

    def do_GET(self) -> None:
        if self.path.startswith("/lamps/"):
            calls = "".join(
                f"fetch('{self.api.base}{path}', {{method: '{self.api.method}'}}).then((r) => r.text());"
                for path in self.api.answers
            )
            page = f'<!doctype html><html lang="en"><body>{self.api.body}<script>{calls}</script></body></html>'
            return self._answer(page, "text/html; charset=utf-8")
        return self._fetched()

    def do_POST(self) -> None:
        self._fetched()

    def _fetched(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/plain")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path in self.api.slow:
            time.sleep(0.8)  # the slowness of a server
        said = (self.api.answers | self.api.more).get(self.path, {})
        self._answer(said if isinstance(said, str) else json.dumps(said), "application/json")

    def _answer(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def api() -> Iterator[Api]:
    here = Api("")
    with served(type("Handler", (_Handler,), {"api": here})) as here.url:
        yield here


@pytest_asyncio.fixture(loop_scope="session", params=["reading", "acting"])
async def tab(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Context]:
    """A context of each kind, for what they take in by ways of their own; who judges it knows no kind."""
    context = await browser.new_context(ContextOptions(reading=request.param == "reading", reuse="tests"))
    yield context
    await context.close()


async def extract(tab: Context, api: Api, **wanted: Any) -> Extraction:
    """Return what the rules read, once the page and all that it fetches have come to rest."""
    await tab.goto(f"{api.url}/lamps/12")
    await tab.settle()
    job = JobSpec.model_validate({"url": f"{api.url}/lamps/12", "extract": {"schema": schema(**wanted)}})
    return await extract_records(RulesPolicy(), SessionState(spec=job, loop=None, item=None, page=tab))


async def record(tab: Context, api: Api, **wanted: Any) -> Record:
    return (await extract(tab, api, name=TEXT, **wanted)).records[0]


async def test_it_bears_out_what_the_page_says_and_fills_in_what_it_does_not_say(tab: Context, api: Api) -> None:
    api.answers = {"/api/lamps/12": {"data": LAMP}}
    lamp = await record(tab, api, price=NUMBER, maker=TEXT, stock=WHOLE, dimmable=FLAG)
    assert lamp.value == {
        "name": "Blue lamp", "price": 12.5, "maker": "Acme Lights", "stock": 7, "dimmable": True,
    }  # fmt: skip
    assert {name: source.sureness for name, source in lamp.sources.items()} == {
        "name": "certain", "price": "certain", "maker": "likely", "stock": "likely", "dimmable": "likely",
    }  # fmt: skip
    assert lamp.sources["price"].how == "label"
    stock = lamp.sources["stock"]
    assert (stock.how, stock.where, stock.confirmed) == ("request", f"{api.url}/api/lamps/12 stock", False)


@pytest.mark.parametrize(
    "answers",
    [
        {"/api/lamps/next": {**LAMP, "id": 13, "name": "Red lamp"}},
        {"/api/shop": {"name": "Shop", "stock": 7, "id": 12, "maker": "Acme Lights"}},
        {"/api/lamps/12": "{nothing"},
        {"/api/lamps/12": "[" * 200_000},
        {"/api/lamps/12": json.dumps({**LAMP, "more": "x" * 1_500_000})},
        {"/api/lamps/12": f'{{"a": [{"[]," * 30_000}[]], "z": {json.dumps(LAMP)}}}'},
    ],
    ids=["other", "shop", "broken", "deep", "huge", "wide"],
)
async def test_it_says_nothing_where_it_is_not_clearly_about_the_page(
    page: Context, api: Api, answers: dict[str, Any]
) -> None:
    api.answers = answers
    lamp = await record(page, api, price=NUMBER, stock=WHOLE)
    assert lamp.value == {"name": "Blue lamp", "price": 12.5}
    assert lamp.sources["price"].sureness == "likely"


async def test_what_the_item_holds_of_others_is_not_its_own(page: Context, api: Api) -> None:
    api.answers = {"/api/lamps/12": {**LAMP, "stock": None, "related": [{"stock": 7}], "seller": {"id": 1, "stock": 7}}}
    lamp = await record(page, api, price=NUMBER, stock=WHOLE)
    assert lamp.value == {"name": "Blue lamp", "price": 12.5}
    assert lamp.sources["price"].sureness == "certain"


async def test_what_people_see_stays_where_it_contradicts(page: Context, api: Api) -> None:
    api.answers = {"/api/lamps/12": {**LAMP, "price": 99.0, "maker": "Other"}}
    lamp = await record(page, api, price=NUMBER, maker=TEXT)
    assert lamp.value == {"name": "Blue lamp", "price": 12.5, "maker": "Acme Lights"}
    assert (lamp.sources["price"].how, lamp.sources["price"].sureness) == ("label", "likely")


async def test_it_says_which_of_two_places_is_meant(page: Context, api: Api) -> None:
    api.body = "<h1>Blue lamp</h1><p>Maker: Acme Lights</p><p>Maker: Bright Ltd</p>"
    with pytest.raises(FieldsMissing):
        await extract(page, api, maker=TEXT)
    api.answers = {"/api/lamps/12": LAMP}
    assert (await record(page, api, maker=TEXT)).value["maker"] == "Acme Lights"


async def test_codes_and_cents_are_no_values(page: Context, api: Api) -> None:
    api.body = "<h1>Blue lamp</h1>"
    api.answers = {"/api/lamps/12": {**LAMP, "price": 1250, "state": "SOLD_OUT", "kind": 4, "note": "<b>new</b>"}}
    lamp = await record(page, api, price=NUMBER, state=TEXT, kind=TEXT, note=TEXT, stock=WHOLE)
    assert lamp.value == {"name": "Blue lamp", "stock": 7}


async def test_another_site_and_other_methods_say_nothing(tab: Context, api: Api) -> None:
    other = Api("", answers={"/api/lamps/12": LAMP})
    with served(type("Other", (_Handler,), {"api": other})) as api.base:
        api.answers = {"/api/lamps/12": LAMP}
        assert "stock" not in (await record(tab, api, stock=WHOLE)).value
    api.base, api.method = "", "POST"
    assert "stock" not in (await record(tab, api, stock=WHOLE)).value


# --- places that a job gives --------------------------------------------------------------------------


async def test_a_path_leads_into_what_was_fetched(tab: Context, api: Api) -> None:
    api.answers, api.slow = {"/api/lamps/12": {"data": LAMP}}, frozenset({"/api/lamps/12"})
    fields = {"stock": {"json": "$.data.stock", "reader": "integer"}}
    lamp = (await read(tab, f"{api.url}/lamps/12", fields=fields)).records[0]
    assert lamp.value == {"stock": 7}
    assert lamp.sources["stock"].where == f"{api.url}/api/lamps/12 $['data']['stock']"
    with pytest.raises(PlaceMissing, match=r"\$\.data\.stok leads nowhere .* nearest: \$\.data\.stock \(7\)"):
        await read(tab, f"{api.url}/lamps/12", fields={"stock": {"json": "$.data.stok"}})


async def test_the_first_of_two_answers_is_not_taken_for_the_one_that_is_meant(tab: Context, api: Api) -> None:
    api.answers = {"/api/near": {"data": {"stock": 1}}, "/api/own": {"data": {"stock": 7}}}
    api.slow = frozenset({"/api/own"})
    with pytest.raises(PlaceAmbiguous, match="2 different values"):
        await read(tab, f"{api.url}/lamps/12", fields={"stock": {"json": "$.data.stock"}})


@pytest.mark.parametrize(
    "answers",
    [
        {"/api/own": json.dumps({"data": {"stock": 7, "more": "x" * 1_500_000}})},
        {f"/api/{n}": json.dumps({"more": "x" * 900_000}) for n in range(3)},
        {f"/api/{n}": {} for n in range(101)},
    ],
    ids=["one too large", "all too large", "too many"],
)
async def test_nothing_is_taken_where_the_answer_that_is_meant_may_be_left_out(
    tab: Context, api: Api, answers: dict[str, Any]
) -> None:
    api.answers = answers | {"/api/near": {"data": {"stock": 1}}}
    with pytest.raises(PlaceMissing):
        await read(tab, f"{api.url}/lamps/12", fields={"stock": {"json": "$.data.stock"}})


async def test_a_page_that_another_takes_the_place_of_gives_nothing_to_its_record(tab: Context, api: Api) -> None:
    api.body = """<p class="path"></p><script>
        document.querySelector(".path").textContent = location.pathname;
        fetch("/own" + location.pathname);
        if (location.pathname === "/lamps/12") setTimeout(() => location.replace("/lamps/13"), 250);
        </script>"""
    api.more = {f"/own/lamps/{n}": {"path": f"/lamps/{n}"} for n in (12, 13)}
    lamp = (
        await read(tab, f"{api.url}/lamps/12", fields={"shown": {"select": ".path"}, "own": {"json": "$.path"}})
    ).records[0]
    assert lamp.value == {"shown": "/lamps/13", "own": "/lamps/13"}
    assert lamp.url == f"{api.url}/lamps/13"


async def test_an_answer_that_is_asked_for_once_another_came_counts_too(tab: Context, api: Api) -> None:
    api.body = """<script>
        fetch("/own/1").then((answer) => answer.json()).then(() => setTimeout(() => fetch("/own/2"), 100));
        </script>"""
    api.more = {"/own/1": {"stock": 1}, "/own/2": {"stock": 7}}
    with pytest.raises(PlaceAmbiguous, match="2 different values"):
        await read(tab, f"{api.url}/lamps/12", fields={"stock": {"json": "$.stock"}})


async def test_a_page_whose_own_json_says_all_is_not_waited_for(
    page: Context, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def settle(**_: float) -> bool:
        raise AssertionError("it waited")

    api.body = '<script type="application/json">{"stock": 7}</script>'
    api.answers = {"/api/near": {"stock": 1}}
    monkeypatch.setattr(page, "settle", settle)
    lamp = (await read(page, f"{api.url}/lamps/12", fields={"stock": {"json": "$.stock"}})).records[0]
    assert lamp.value == {"stock": "7"}


async def test_the_entries_of_a_fetched_list_are_records(page: Context, api: Api) -> None:
    api.answers = {"/api/parts": {"items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}}
    fields = {"id": {"json": "$.id", "reader": "integer"}, "name": {"json": "$.name"}}
    parts = await read(page, f"{api.url}/lamps/12", records="$.items[*]", fields=fields)
    assert [part.value for part in parts.records] == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    api.answers["/api/others"] = {"items": [{"id": 9, "name": "z"}]}
    with pytest.raises(PlaceAmbiguous, match="leads to 2 different lists"):
        await read(page, f"{api.url}/lamps/12", records="$.items[*]", fields=fields)


async def test_only_what_was_fetched_without_a_proof_of_who_asks_can_be_asked_for_again(tab: Context, api: Api) -> None:
    proofs = ("Authorization", "X-CSRF-Token", "X-Api-Key", "X-Odd")
    asked = {f"/{name}": {"headers": {name: "abc"}} for name in proofs}
    asked |= {"/plain": {"headers": {"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"}}, "/moved": {}}
    calls = "".join(f"fetch('{path}', {json.dumps(how)});" for path, how in asked.items())
    api.body = f"{SHOWN}<script>document.cookie = 'session=abc'; {calls}</script>"
    api.more = dict.fromkeys((*asked, "/plain"), LAMP)
    await tab.goto(f"{api.url}/lamps/12")
    await tab.settle()
    answers = await tab.fetched_json(budget_s=5)
    told = [(answer.url.removeprefix(api.url), answer.headers) for answer in answers]
    repeated = {"accept": "application/json", "x-requested-with": "XMLHttpRequest"}
    assert sorted(told, key=str) == sorted(
        [*((f"/{name}", None) for name in proofs), ("/plain", None), ("/plain", repeated)], key=str
    )
