"""Requests of a page itself: traced to the item or not learned, and read in the page's stead right or not at all."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from shoal.agent.browser import ContextOptions, FetchedJson
from shoal.agent.documents.context import DocumentBrowser, DocumentContext, DocumentReading
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.documents.fetching import FetchFailed
from shoal.agent.documents.outcome import DocumentOutcome
from shoal.agent.documents.own_request import OwnReading
from shoal.agent.documents.question import DocumentQuestion
from shoal.agent.documents.trust import SAMPLES, DocumentTrust
from shoal.agent.errors import RobotsForbidden, ServerBusy
from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.by_place.page_json import Document
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import DivergenceReason
from shoal.agent.workflows.format.branch import Branch, OwnRequest
from shoal.agent.workflows.format.page_parts import filled
from shoal.agent.workflows.learning.compile_fields import compile_pages
from shoal.agent.workflows.learning.page_sample import PageLook, PageSample, sample_page
from shoal.agent.workflows.reading.own_answer import answer_misses
from shoal.agent.workflows.replay.pages import replay_page
from shoal.agent.workflows.verdict import PageRead
from tests.doubles.browser_double import FakeBrowser, FakePage

pytestmark = pytest.mark.asyncio

SITE = "https://shop.example"
HTML = {"content-type": "text/html; charset=utf-8"}
JSON = {"content-type": "application/json; charset=utf-8"}
FIELDS = {"name": {"type": "string"}, "price": {"type": "number"}, "sku": {"type": "string"}}
SCHEMA: dict[str, Json] = {"type": "object", "properties": FIELDS, "required": list(FIELDS)}
JOB = JobSpec.model_validate({"url": SITE, "extract": {"schema": SCHEMA}})
LEARNED = (1, 2, 3)
FIRST = 11
"""The first item that is read by what was learned; its number begins with that of an item that was learned from."""
SHELL = "<!doctype html><html lang=en><main><h1>Loading</h1></main><script>draw()</script></html>"

Answers = Callable[[int], tuple[str, Json]]
"""The request of an item's page, and the answer."""


def url_of(n: int) -> str:
    return f"{SITE}/p/{n}"


def item_of(n: int) -> LoopItem:
    return LoopItem(n, url_of(n), True, f"Oak stool {n}")


def record_of(n: int) -> dict[str, Json]:
    return {"name": f"Oak stool {n}", "price": 10.5 + n, "sku": f"HR-{n * 7919 % 1000:03}a"}


def page_of(n: int) -> str:
    one = record_of(n)
    facts = f'<h1>{one["name"]}</h1><p class="price">{one["price"]:.2f}</p><p class="sku">{one["sku"]}</p>'
    return f"<!doctype html><html lang=en><main>{facts}</main><script>draw()</script></html>"


def answer_of(n: int) -> dict[str, Json]:
    return {"id": n, **record_of(n), "state": "sold here", "online": True}


def plain(n: int) -> tuple[str, Json]:
    return f"{SITE}/api/items/{n}", answer_of(n)


def shown(html: str, url: str) -> Callable[[str, Json], Json]:
    """A page of this HTML, as the document answers for it."""

    def answer(script: str, arg: Json) -> Json:
        if "navigator" in script:
            return ["Agent/1", "en"]
        assert JOB.extract is not None
        question = DocumentQuestion.of(script, arg, JOB.extract)
        assert question is not None
        read = HtmlDocument(RawDocument(url, 200, HTML, html.encode())).read(question.arg)
        told = dict(read.view)
        return {**told, "facts": {**told["facts"], "document": False}}

    return answer


async def sample(
    n: int, answers: Answers, headers: Mapping[str, str] | None, at: Callable[[int], str] = url_of
) -> PageSample:
    record, (url, answer) = record_of(n), answers(n)
    page = await FakeBrowser({at(n): FakePage(read=shown(page_of(n), at(n)))}).new_context()
    await page.goto(at(n))
    look, item = PageLook("", page_from_html(page_of(n), at(n))), replace(item_of(n), value=at(n))
    fetched = (FetchedJson(url, json.dumps(answer), headers),)
    return await sample_page(page, record, SCHEMA, item, look=look, fetched=fetched)


async def learned(
    answers: Answers = plain, headers: Mapping[str, str] | None = None, at: Callable[[int], str] = url_of
) -> Branch:
    """Return what three pages teach."""
    sent = {"accept": "*/*"} if headers is None else headers
    samples = [await sample(n, answers, sent or None, at) for n in LEARNED]
    compiled = compile_pages(samples, SCHEMA)
    assert compiled.branches, compiled.open
    return compiled.branches[0]


# --- learning -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "template", "identity"),
    [
        (plain, "/api/items/{path 2}", "$.id"),
        (lambda n: (f"{SITE}/api?lang=en&id={n}", answer_of(n)), "/api?lang=en&id={path 2}", "$.id"),
        (lambda n: (f"{SITE}/v/1/items/{n}", answer_of(n)), "/v/1/items/{path 2}", "$.id"),  # a constant like an id
        (lambda n: (f"{SITE}/api/{n}", {"item": answer_of(n), "more": [{"id": n}]}), "/api/{path 2}", "$.item.id"),
        (lambda n: (f"{SITE}/api/{n}", {**answer_of(n), "id": str(n)}), "/api/{path 2}", "$.id"),
    ],
)
async def test_a_request_is_learned_whose_varying_part_is_the_items(
    answers: Answers, template: str, identity: str
) -> None:
    request = (await learned(answers)).request
    assert request is not None
    assert (request.url, request.headers) == (f"{SITE}{template}", {"accept": "*/*"})
    assert (request.identity, request.says_label) == ({identity: "path 2"}, True)
    assert {node.name for node in request.fields} == set(FIELDS)


NOT_LEARNED: dict[str, Answers] = {
    "a part that is traced to nothing": lambda n: (f"{SITE}/api/items/{n}?at={n * 31}", answer_of(n)),
    "a token, the same for all": lambda n: (f"{SITE}/api/items/{n}?csrf_token=1", answer_of(n)),
    "another site": lambda n: (f"https://api.example/items/{n}", answer_of(n)),
    "another port": lambda n: (f"{SITE}:8443/items/{n}", answer_of(n)),
    "the same address for all": lambda n: (f"{SITE}/api/last", answer_of(n)),
    "a part of the part": lambda n: (f"{SITE}/api/items/{n}0", answer_of(n)),
    "nothing says whose it is": lambda n: (f"{SITE}/api/items/{n}", record_of(n)),
    "what was asked stands outside": lambda n: (f"{SITE}/api/items/{n}", {"asked": n, "item": record_of(n)}),
    "several objects": lambda n: (f"{SITE}/api/items/{n}", {"items": [answer_of(n), answer_of(n + 1)]}),
    "a list of one": lambda n: (f"{SITE}/api/items/{n}", [answer_of(n)]),
    "by its number as a name": lambda n: (f"{SITE}/api/items/{n}", {f"n{n}": answer_of(n)}),
    "one field beside the id": lambda n: (
        f"{SITE}/api/items/{n}",
        {"id": n, "name": record_of(n)["name"], "more": {**record_of(n), "name": ""}},
    ),
    "a field is not there": lambda n: (f"{SITE}/api/items/{n}", {**answer_of(n), "sku": None}),
    "other values": lambda n: (f"{SITE}/api/items/{n}", {**answer_of(n), "price": 1.0 + n}),
    "no label": lambda n: (f"{SITE}/api/items/{n}", {**answer_of(n), "name": f"OS-{n}"}),
}


@pytest.mark.parametrize("why", NOT_LEARNED)
async def test_a_request_is_not_learned_where_anything_is_left_open(why: str) -> None:
    assert (await learned(NOT_LEARNED[why])).request is None


async def test_a_request_with_a_header_that_may_say_who_asks_is_not_learned() -> None:
    assert (await learned(headers={})).request is None


@pytest.mark.parametrize("colour", ["red", "dark%20red"])
async def test_what_else_differs_in_a_pages_address_has_to_be_said_by_the_answer(colour: str) -> None:
    def at(n: int) -> str:
        return f"{SITE}/p/{n}?colour={colour}{n % 2}"

    def of_one_colour(n: int) -> tuple[str, Json]:
        return plain(n)[0], {**answer_of(n), "colour": f"{colour}{n % 2}"}

    assert (await learned(plain, at=at)).request is None, "a script may choose what it shows of all colours"
    request = (await learned(of_one_colour, at=at)).request
    if colour == "red":
        assert request is not None and request.identity == {"$.id": "path 2", "$.colour": "query colour"}
    else:
        assert request is None


async def test_nothing_of_an_answer_is_kept_but_what_the_record_and_the_address_say() -> None:
    def telling(n: int) -> tuple[str, Json]:
        return plain(n)[0], {**answer_of(n), "mail": "ann@shop.example"}

    kept = await sample(1, telling, {"accept": "*/*"})
    assert kept.requests and "ann@" not in kept.model_dump_json()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (f"{SITE}/p/7?id=9", f"{SITE}/api/7?of=9"),
        (f"{SITE}/p/7/?x=1&id=9#{{path 2}}", f"{SITE}/api/7?of=9"),
        (f"{SITE}/p/a.b?id=x_~-1", f"{SITE}/api/a.b?of=x_~-1"),
        (f"{SITE}/p/..?id=9", ""),
        (f"{SITE}/p/%2e%2e?id=9", ""),
        (f"{SITE}/p/7?id=a/../b", ""),
        (f"{SITE}/p/7?id=9&id=8", ""),
        (f"{SITE}/p/7", ""),
        ("https://shop.example:8443/p/7?id=9", ""),
        ("http://shop.example/p/7?id=9", ""),
    ],
)
async def test_an_address_is_made_of_plain_parts_of_the_pages_own_address_alone(url: str, address: str) -> None:
    assert filled(f"{SITE}/api/{{path 2}}?of={{query id}}", url) == address


# --- reading ------------------------------------------------------------------------------------------


class NoAudits(random.Random):
    def random(self) -> float:
        return 1.0


@dataclass
class Site:
    """A site whose documents are shells, and whose scripts draw the page from `/api/items/N`."""

    answers: dict[str, RawDocument | Exception] = field(default_factory=dict)  # in the place of the usual ones
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    told: list[DocumentOutcome] = field(default_factory=list)
    closed: str = ""  # an address that the guard does not let through
    trust: DocumentTrust = field(default_factory=lambda: DocumentTrust(NoAudits()))

    async def get(self, url: str, headers: Mapping[str, str], timeout_s: float, most_bytes: int = 0) -> RawDocument:
        self.asked.append((url, headers))
        other = self.answers.get(url)
        if isinstance(other, Exception):
            raise other
        if other is not None:
            return other
        n = int(url.rpartition("/")[2])
        if "/p/" in url:
            return RawDocument(url, 200, HTML, SHELL.encode())
        return answered(n, answer_of(n))

    async def guard(self, url: str) -> None:
        if url == self.closed:
            raise RobotsForbidden(f"{url} is closed to robots")

    async def read(self, branch: Branch, n: int) -> tuple[PageRead, DocumentContext, FakeBrowser]:
        """Return what item `n` gives."""
        spec = JOB.model_copy(update={"workflow": {"versions": [{"branches": [branch.as_json()]}]}})
        own = OwnReading.of(spec, item_of(n))
        assert own is not None
        browser = FakeBrowser({url_of(m): FakePage(read=shown(page_of(m), url_of(m))) for m in (1, n)})
        reading = DocumentReading(spec, self, self.trust, self.guard, self.told.append, own=own)
        context = await DocumentBrowser(browser, reading).new_context(ContextOptions(reading=True))
        assert isinstance(context, DocumentContext)
        await context.goto(url_of(n))
        got = await replay_page(context, [branch], item_of(n), SCHEMA)
        await context.close()
        return got, context, browser

    async def trusted(self) -> Branch:
        """Return what was learned, once three pages have said the same as their requests."""
        branch = await learned()
        for n in range(4, 4 + SAMPLES):
            got, context, _ = await self.read(branch, n)
            assert got.record is not None and got.record.value == record_of(n) and context.document is None
        assert self.told == [DocumentOutcome.AGREED] * SAMPLES
        self.told.clear()
        self.asked.clear()
        return branch


def api(n: int) -> str:
    return f"{SITE}/api/items/{n}"


def answered(n: int, value: Json, headers: Mapping[str, str] = JSON, status: int = 200) -> RawDocument:
    return RawDocument(api(n), status, headers, json.dumps(value).encode())


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer x"}, {"cookie": "a=b"}, {"Accept": "*/*"}, {"accept": "*/*\r\ncookie: a=b"}]
)
async def test_a_workflow_that_is_imported_sends_no_other_headers(headers: dict[str, str]) -> None:
    request = (await learned()).request
    assert request is not None
    with pytest.raises(ValueError, match="`headers`: only accept"):
        OwnRequest.model_validate(request.model_dump() | {"headers": headers})


async def test_after_three_pages_that_say_the_same_no_browser_opens_a_page() -> None:
    site = Site()
    branch = await site.trusted()
    got, context, browser = await site.read(branch, FIRST)
    assert got.record is not None and got.record.value == record_of(FIRST)
    assert got.record.sources["price"].where == f"{api(FIRST)} $['price']"
    assert (got.record.url, browser.visits, site.told) == (url_of(FIRST), [], [DocumentOutcome.USED])
    assert context.document is not None and json.loads(context.document.body)["id"] == FIRST
    assert [url for url, _ in site.asked] == [url_of(FIRST), api(FIRST)], "the page is there, and then its request"
    sent = site.asked[1][1]
    assert (sent["accept"], sent["referer"]) == ("*/*", url_of(FIRST))


@pytest.mark.parametrize(
    ("learned_headers", "accepts"), [({}, "*/*"), ({"accept": "application/json"}, "application/json")]
)
async def test_it_is_asked_for_as_a_script_asks(learned_headers: dict[str, str], accepts: str) -> None:
    site = Site()
    branch = await site.trusted()
    assert branch.request is not None
    request = branch.request.model_copy(update={"headers": learned_headers})
    await site.read(branch.model_copy(update={"request": request}), FIRST)
    sent = dict(site.asked)[api(FIRST)]
    assert [value for name, value in sent.items() if name.lower() == "accept"] == [accepts]


async def test_one_answer_that_contradicts_its_page_ends_it() -> None:
    site, branch = Site(), await learned()
    site.answers[api(4)] = answered(4, {**answer_of(4), "price": 1.0})
    got, _, _ = await site.read(branch, 4)
    assert got.record is not None and got.record.value == record_of(4), "the page's own value"
    assert site.trust.refused and site.told == [DocumentOutcome.DIFFERENT]


OTHER: dict[str, Any] = {
    "the first item, whatever is asked for": answer_of(1),
    "the next item": answer_of(FIRST + 1),
    "another item under the id that was asked for": {**answer_of(1), "id": FIRST},
    "the item's facts under an id that its own begins with": {**answer_of(FIRST), "id": 1},
    "a no that was a yes": {**answer_of(FIRST), "online": False},
    "an empty list more": {**answer_of(FIRST), "offers": []},
    "a list of one": [answer_of(FIRST)],
    "several items": {"items": [answer_of(FIRST), answer_of(1)]},
    "a field is gone": {key: value for key, value in answer_of(FIRST).items() if key != "price"},
    "a field is null": {**answer_of(FIRST), "price": None},
    "a text in the place of a number": {**answer_of(FIRST), "price": "21.50 a dozen"},
    "another state of the item": {**answer_of(FIRST), "state": "gone"},
    "a part that no answer had": {**answer_of(FIRST), "sale_price": 1.5},
    "a list where no answer had one": {**answer_of(FIRST), "offers": [{"price": 2}]},
    "no object": "not found",
}


@pytest.mark.parametrize("what", OTHER)
async def test_an_answer_that_is_not_as_those_of_three_pages_is_not_read(what: str) -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[api(FIRST)] = answered(FIRST, OTHER[what])
    got, context, browser = await site.read(branch, FIRST)
    assert got.record is not None and got.record.value == record_of(FIRST), "a browser has read the page"
    assert context.document is None and browser.visits == [url_of(FIRST)]
    assert site.told[0] == DocumentOutcome.PASSED_ON


@pytest.mark.parametrize("name", ["Oak stool 1", "Oak stool 111", "Elm bench 7", ""])
async def test_an_answer_has_to_say_what_the_list_calls_the_item(name: str) -> None:
    request = (await learned()).request
    assert request is not None
    for said, right in ((name, False), (f"Oak stool {FIRST}", True)):
        answer = Document(api(FIRST), {**answer_of(FIRST), "name": said})
        misses = list(answer_misses(answer, request, url_of(FIRST), item_of(FIRST)))
        assert [miss.reason for miss in misses] == ([] if right else [DivergenceReason.NOT_THE_ITEM])


@pytest.mark.parametrize("name", [*FIELDS, "identity"])
async def test_a_request_that_was_changed_is_right_or_not_read(name: str) -> None:
    site = Site()
    said = (await site.trusted()).as_json()
    changed = json.loads(json.dumps(said))
    if name == "identity":
        changed["request"]["identity"] = {"$.sku": "path 2"}
    for node in changed["request"]["fields"]:
        for channel in node["channels"]:
            if node["name"] == name:
                channel["place"]["json"] = "$.state"
    got, context, _ = await site.read(Branch.model_validate(changed), FIRST)
    assert changed != said and context.document is None
    assert got.record is not None and got.record.value == record_of(FIRST)


REFUSED: dict[str, RawDocument] = {
    "html": answered(FIRST, answer_of(FIRST), HTML),
    "not JSON": RawDocument(api(FIRST), 200, JSON, b'{"id": 11, "price": NaN}'),
    "not UTF-8": RawDocument(api(FIRST), 200, JSON, b'{"id": "\xff"}'),
    "very deep": RawDocument(api(FIRST), 200, JSON, b'{"a":' * 20_000),
    "very long": RawDocument(api(FIRST), 200, JSON, b'{"a":"' + b"x" * 200_000 + b'"}'),
    "not found": answered(FIRST, answer_of(FIRST), status=404),
    "another site": answered(FIRST, {}, {**JSON, "location": "https://other.example/api/items/11"}, 302),
    "another address of the site": answered(FIRST, {}, {**JSON, "location": f"/v2/items/{FIRST}"}, 302),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_is_no_answer_to_the_request_is_not_read(what: str) -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[api(FIRST)] = REFUSED[what]
    got, context, _ = await site.read(branch, FIRST)
    assert got.record is not None and got.record.value == record_of(FIRST)
    assert context.document is None and site.told[0] == DocumentOutcome.PASSED_ON


@pytest.mark.parametrize("answer", [403, 401, 200])
async def test_a_site_that_turns_such_a_request_away_is_left_alone(answer: int) -> None:
    site = Site()
    branch = await site.trusted()
    challenge = {**JSON, "cf-mitigated": "challenge"} if answer == 200 else JSON
    site.answers[api(FIRST)] = answered(FIRST, answer_of(FIRST), challenge, answer)
    got, context, _ = await site.read(branch, FIRST)
    assert got.record is not None and context.document is None
    assert (site.told, site.trust.turned_away) == ([DocumentOutcome.TURNED_AWAY], True)


async def test_a_site_that_is_busy_has_the_item_tried_again_later() -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[api(FIRST)] = answered(FIRST, {}, {**JSON, "retry-after": "7"}, 429)
    with pytest.raises(ServerBusy):
        await site.read(branch, FIRST)
    assert site.trust.turned_away


async def test_a_connection_that_fails_says_nothing_of_the_page() -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[api(FIRST)] = FetchFailed("reset")
    got, _, browser = await site.read(branch, FIRST)
    assert got.record is not None and browser.visits == [url_of(FIRST)]
    assert (site.told, site.trust.refused) == ([DocumentOutcome.UNKNOWN], "")


async def test_a_request_that_robots_may_not_make_is_not_made() -> None:
    site = Site()
    branch = await site.trusted()
    site.closed = api(FIRST)
    got, _, browser = await site.read(branch, FIRST)
    assert got.record is not None and browser.visits == [url_of(FIRST)]
    assert api(FIRST) not in [url for url, _ in site.asked]


async def test_an_answer_does_not_stand_for_a_page_that_is_gone() -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[url_of(FIRST)] = RawDocument(url_of(FIRST), 404, HTML, b"")
    _, context, browser = await site.read(branch, FIRST)
    assert context.document is None and browser.visits == [url_of(FIRST)]


async def test_an_answer_does_not_stand_for_a_page_that_leads_to_another_item() -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[url_of(FIRST)] = RawDocument(url_of(FIRST), 302, {"location": "/p/1"}, b"")
    got, _, browser = await site.read(branch, FIRST)
    assert got.record is None and browser.visits == [url_of(1)]
    assert api(FIRST) not in [url for url, _ in site.asked]


async def test_another_build_of_the_pages_scripts_is_compared_anew() -> None:
    site = Site()
    branch = await site.trusted()
    site.answers[url_of(FIRST)] = RawDocument(url_of(FIRST), 200, HTML, SHELL.replace("draw", "drawn").encode())
    _, context, browser = await site.read(branch, FIRST)
    assert context.document is None and browser.visits == [url_of(FIRST)]
    assert site.told == [DocumentOutcome.PASSED_ON, DocumentOutcome.AGREED]
