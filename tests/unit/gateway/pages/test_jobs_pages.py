"""Pages around jobs: looked up, kept filters, records, maps, comparisons, charts; each tenant sees its own."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from markupsafe import escape

from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Basis, Computation, FieldSource, Outcome, Quotation, Record
from shoal.services.store import ids
from shoal.services.web.deps import Prices
from shoal.services.web.pages.jobs import records
from shoal.services.web.pages.rendering import HERE
from tests.gateway_world import AT, World, completed, failed, loop_of, world
from tests.unit.gateway.test_schedules import PRICES, run_once

EVIL = "<script>alert(1)</script>\"'&"


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def token_of(text: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', text)
    assert found is not None
    return found[1]


def listed(text: str) -> list[str]:
    return re.findall(r'<td class="goal">\s*<a href="/jobs/(j\d+)">', text)


async def test_the_list_shows_what_is_looked_for_and_says_it_in_its_address(here: World) -> None:
    lamps = await here.submit(url="https://lamps.example/all", goal="Read every lamp", labels={"team": "red"})
    chairs = await here.submit(url="https://chairs.example/", goal="Read every chair")

    async def listed_for(query: str) -> list[str]:
        page = await here.client.get(f"/?{query}")
        assert page.status_code == 200, page.text
        return listed(page.text)

    assert await listed_for("q=every") == [chairs, lamps]
    assert (
        await listed_for("q=LAMP+every")
        == await listed_for("site=lamps.example")
        == await listed_for("label=team:red")
        == [lamps]
    )
    assert await listed_for(f"q={chairs}") == [chairs]
    assert await listed_for("since=2020-01-01&q=chair") == [chairs]
    assert (
        await listed_for("until=2020-01-01")
        == await listed_for("q=%25")
        == await listed_for("status=failed&q=every")
        == []
    )
    text = (await here.client.get("/?q=every&site=lamps.example")).text
    assert 'href="/?q=every&amp;status=queued&amp;site=lamps.example"' in text
    api = (await here.client.get("/v1/jobs", params={"text": "lamp", "site": "lamps.example"})).json()["jobs"]
    assert [job["id"] for job in api] == [lamps]
    assert (await here.client.get("/v1/jobs?since=2030-01-01T00:00:00Z")).json()["jobs"] == []
    assert (await here.client.get("/v1/jobs?since=soon")).status_code == 400
    for wrong in ("since=soon", "until=0001-01-01", "label=x", "status=x"):
        assert (await here.client.get(f"/?{wrong}")).status_code == 400, wrong


async def test_a_job_with_a_name_is_called_by_it_wherever_it_is_shown(here: World) -> None:
    job = await here.submit(name=f"Prices {EVIL}", goal="Read every lamp")
    shown = "Prices &lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;"
    assert f'<a href="/jobs/{job}">{shown}</a>' in (await here.client.get("/?q=prices")).text
    page = (await here.client.get(f"/jobs/{job}")).text
    assert f"<h1>{shown}</h1>" in page and '<p class="wrap">Read every lamp</p>' in page
    for part in ("records", "history"):
        assert shown in (await here.client.get(f"/jobs/{job}/{part}")).text, part
    (listed_job,) = (await here.client.get("/v1/jobs?text=prices")).json()["jobs"]
    looked_at = (await here.client.get(f"/v1/jobs/{job}")).json()
    assert listed_job["name"] == looked_at["name"] == looked_at["spec"]["name"] == f"Prices {EVIL}"
    session = looked_at["root_session"]
    assert f"<h1>{shown}</h1>" in (await here.client.get(f"/sessions/{session}")).text


async def test_items_that_are_rows_have_a_column_for_each_detail(here: World) -> None:
    rows = [{"name": f"Ada {EVIL}", "mail": "ada@x.example", "pin password": "4711"}, {"name": "Bob", "seat": None}]
    values = [*(json.dumps(row) for row in rows), "just words"]
    job = await here.submit(loop={"values": values}, data={"who": {"first": "Eve", "password": "hunter2"}, "ages": [1]})
    await here.run(loop_of(values, lambda work: completed({"n": 1})))
    page = (await here.client.get(f"/jobs/{job}")).text
    records = (await here.client.get(f"/jobs/{job}/records")).text
    for text in (page, records):
        heads = re.findall(r">item · ([^<]+)</th>", text)
        assert heads[:4] == ["name", "mail", "pin password", "seat"]
        ada = re.search(r'data-name="item" title="[^"]*">1</td>(.*?)<td>', text, re.S)
        assert ada is not None
        assert re.findall(r">([^<]*)</td>", ada[1])[:3] == [f"Ada {escape(EVIL)}"[:140], "ada@x.example", "(hidden)"]
        assert 'colspan="5" title="just words">just words</td>' in text
        assert "{&#34;" not in text.partition("Job spec")[0]
    data = re.search(r'aria-label="Data of the job">(.*?)</table>', page, re.S)
    assert data is not None
    assert re.findall(r'<th scope="row">([^<]*)</th><td class="wrap">([^<]*)</td>', data[1]) == [
        *(("who.first", "Eve"), ("who.password", "(hidden)")),
        ("ages", "[1]"),
    ]
    sessions = (await here.client.get(f"/v1/jobs/{job}/sessions")).json()["sessions"]
    own = (await here.client.get(f"/sessions/{sessions[1]['id']}")).text
    assert f"<h1>Ada {escape(EVIL)} · ada@x.example · (hidden)</h1>" in own
    assert '<th scope="row">mail</th><td class="wrap">ada@x.example</td>' in own


async def test_the_rate_is_of_the_last_minutes_and_what_cannot_be_told_is_said() -> None:
    now = [1_700_000_000.0]
    values = [f"v{n}" for n in range(20)]
    answer = loop_of(values, lambda work: completed({"n": 1}))
    async with world(clock=lambda: now[0]) as here:
        job = await here.submit(loop={"values": values})

        async def progress_text() -> str:
            page = (await here.client.get(f"/jobs/{job}")).text
            found = re.search(
                r'data-live="progress".*?<span class="soft small">([^<]*)</span></div>\s*<br>', page, re.S
            )
            assert found is not None
            return found[1]

        assert await progress_text() == "", "nothing is known of its items"
        await here.finish(await here.claim(), answer)
        held = await here.claim()
        assert (len(held), await progress_text()) == (20, "no rate can be told yet")
        now[0] += 100
        assert await progress_text() == "no item ended in the last 1 min 40 s: no time left can be told"
        await here.finish(held[:10], answer)
        assert await progress_text() == "6.0 items/min in the last 1 min 40 s · about 1 min 40 s left"
        now[0] += 600
        await here.finish(held[10:12], answer)
        assert await progress_text() == "24.0 items/h in the last 5 min 00 s · about 20 min 00 s left"
        assert (await here.client.post(f"/v1/jobs/{job}/pause")).status_code == 200
        assert await progress_text() == "paused: no time left can be told"
        assert (await here.client.post(f"/v1/jobs/{job}/resume")).status_code == 200
        assert await progress_text() == "no rate can be told yet", "what ended before the pause says nothing"
        await here.finish(held[12:], lambda work: failed())
        await here.run(answer)
        assert await progress_text() == "1.7 items/min on average"
        now[0] += 50
        assert (await here.client.post(f"/v1/jobs/{job}/retry")).status_code == 200
        assert await progress_text() == "no rate can be told yet"
        now[0] += 10
        await here.finish(await here.claim(), answer)
        assert (await here.client.get(f"/v1/jobs/{job}")).json()["counts"]["completed"] == 20


@pytest.mark.parametrize(
    ("prices", "job_cost", "all_costs"),
    [
        (Prices(2.0, 10.0, "EUR"), "0.000400 EUR", "240 tokens in 2 model calls, 0.000800 EUR"),
        (Prices(2e6, 1e7), "400.00", "240 tokens in 2 model calls, 800.00"),
        (Prices(2.0, None, "EUR"), "", "240 tokens in 2 model calls"),
        (Prices(currency=EVIL), "", "240 tokens in 2 model calls"),
    ],
)
async def test_costs_are_told_in_money_where_both_prices_are_set(prices: Prices, job_cost: str, all_costs: str) -> None:
    async with world(prices=prices) as here:
        for _ in range(2):
            job = await here.submit()
            await here.run(lambda work: completed({"n": 1}))
        session = (await here.client.get(f"/v1/jobs/{job}")).json()["root_session"]
        page = (await here.client.get(f"/jobs/{job}")).text
        assert re.findall(r"<dt>cost of tokens</dt><dd>([^<]*)</dd>", page) == ([job_cost] if job_cost else [])
        facts = (await here.client.get(f"/sessions/{session}")).text
        assert f"(120 tokens{job_cost and f', {job_cost}'})" in facts
        activity = (await here.client.get("/activity?range=hour")).text
        assert f'<span class="soft small">{all_costs}</span>' in activity
        assert ('data-name="cost"' in activity) == bool(job_cost)


async def test_a_filter_is_kept_under_its_name_for_the_tenant_and_removed(here: World) -> None:
    token = token_of((await here.client.get("/?q=every")).text)
    form = {"token": token, "name": EVIL[:20], "query": "q=every&status=failed&evil=1"}
    answer = await here.client.post("/filters", data=form)
    assert answer.headers["location"] == "/?q=every&status=failed"
    page = (await here.client.get("/?q=other")).text
    assert "<script>alert" not in page
    assert '<a href="/?q=every&amp;status=failed">' in page
    removal = re.search(r'action="(/filters/[0-9a-f]+/remove)"', page)
    assert removal is not None
    for wrong in ({"name": ""}, {"name": "x" * 100}, {"query": "status=nothing"}):
        assert (await here.client.post("/filters", data={**form, **wrong})).status_code == 400, wrong
    assert (await here.client.post("/filters", data={**form, "token": ""})).status_code == 403
    assert (await here.client.post(removal[1], data={"token": "x"})).status_code == 403
    assert (await here.client.post(removal[1], data={"token": token})).status_code == 303
    assert (await here.client.post(removal[1], data={"token": token})).status_code == 404


async def test_kept_filters_are_bounded(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.pages.saved.MOST", 2)
    token = token_of((await here.client.get("/?q=x")).text)
    statuses = [
        (await here.client.post("/filters", data={"token": token, "name": name, "query": "q=x"})).status_code
        for name in ("a", "b", "c", "b")
    ]
    assert statuses == [303, 303, 400, 303]


async def recorded(here: World, prices: dict[str, float | str], **spec: object) -> str:
    """A job with a record for each price; where the price is a text, the item fails with it."""
    values = list(prices)

    def each(work):
        price = prices[work.item.value]
        if isinstance(price, str):
            return failed("fields_missing", price)
        sources = {
            "name": FieldSource("json-ld", "$.name", True, "certain"),
            "price": FieldSource("label", "Price", price < 50, "likely", why="two prices"),
        }
        value = {"name": work.item.value, "price": price}
        return replace(completed(), records=(Record(value, sources, f"https://shop.example/{work.item.value}", AT),))

    job = await here.submit(loop={"values": values}, **spec)
    await here.run(loop_of(values, each))
    return job


async def test_records_are_sorted_filtered_and_say_how_sure_they_are(here: World) -> None:
    job = await recorded(here, {"axe": 30.5, "bow": 99, EVIL: 7, "cup": EVIL})

    async def rows(query: str) -> list[str]:
        page = await here.client.get(f"/jobs/{job}/records?{query}")
        assert page.status_code == 200, page.text
        assert "<script>alert" not in page.text
        return re.findall(r'<td class="cell number" title="([\d.]+)', page.text)

    assert await rows("") == ["30.5", "99", "7"]
    assert await rows("sort=price") == ["7", "30.5", "99"]
    assert await rows("sort=price&order=down") == ["99", "30.5", "7"]
    assert await rows("q=bow") == await rows("sure=unconfirmed") == ["99"]
    assert await rows("sure=likely&sort=price") == ["7", "30.5"]
    assert await rows("status=failed") == []
    text = (await here.client.get(f"/jobs/{job}/records?status=failed")).text
    assert "1 lines match" in text
    sources = (await here.client.get(f"/jobs/{job}/records?sources=1")).text
    assert "json-ld: $.name" in sources and 'aria-label="unconfirmed"' in sources
    for wrong in ("sure=x", "order=x", "status=x", "skip=-1"):
        assert (await here.client.get(f"/jobs/{job}/records?{wrong}")).status_code == 400, wrong


async def test_a_download_has_the_lines_that_match_and_one_field_is_searched(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LINES_SORTED", 3)
    values = [{"name": f"lamp {n}", "kind": "chair" if n == 5 else "lamp"} for n in range(6)]
    job = await here.submit(loop={"values": [str(n) for n in range(6)]})
    await here.run(loop_of([str(n) for n in range(6)], lambda work: completed(values[work.item.index])))
    found = (await here.client.get(f"/jobs/{job}/records?q=lamp&field=kind")).text
    (address,) = re.findall(r'href="(/jobs/j\d+/results\?[^"]*format=jsonl)"', found)
    lines = (await here.client.get(address.replace("&amp;", "&"))).text.splitlines()
    assert [json.loads(line)["record"]["name"] for line in lines] == [f"lamp {n}" for n in range(5)]
    assert "a download has the lines that match" in found
    table = (await here.client.get(f"/jobs/{job}/results?format=csv&q=chair")).text
    assert table.count("lamp 5") == 1 and "lamp 4" not in table
    assert (await here.client.get(f"/jobs/{job}/results?status=nonsense")).status_code == 400


async def test_a_download_of_a_page_computes_nothing_in_a_spreadsheet(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: completed({"a": "=1+1"}))
    assert "'=1+1" in (await here.client.get(f"/jobs/{job}/results?format=csv")).text
    assert "'=1+1" not in (await here.client.get(f"/jobs/{job}/results?format=csv&formulas=true")).text
    assert "'" not in (await here.client.get(f"/jobs/{job}/results?format=jsonl")).text


async def test_a_session_of_many_records_says_how_many_it_shows(here: World) -> None:
    job = await here.submit()
    await here.run(lambda work: completed(*({"n": n} for n in range(23))))
    session = (await here.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    page = (await here.client.get(f"/sessions/{session}")).text
    assert "These are the first 20 of 23 records." in page and f'href="/jobs/{job}/records"' in page


async def test_records_go_on_from_page_to_page(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.pages.jobs.records.LINES_SHOWN", 2)
    monkeypatch.setattr("shoal.services.web.pages.jobs.records.LINES_SORTED", 4)
    job = await recorded(here, {f"n{number}": number for number in range(5)})
    for query, whole in (("", 5), ("?sort=price", 4)):
        seen, address = [], query
        for _ in range(4):
            text = (await here.client.get(f"/jobs/{job}/records{address}")).text
            seen += re.findall(r'<td class="cell number" title="([\d.]+)', text)
            following = re.search(r'<a href="([^"]+)">Next records', text)
            if following is None:
                break
            address = following[1].replace("&amp;", "&")
        assert seen == [str(n) for n in range(whole)], query
    assert "of the first 4; download for the rest" in text


async def test_the_map_of_a_loop_leads_to_its_sessions(here: World) -> None:
    job = await recorded(here, {"a": 1, "b": "broken"})
    cells = await here.client.get(f"/jobs/{job}/map")
    assert [tuple(Status)[code] for code in cells.content] == [Status.COMPLETED, Status.FAILED]
    to = (await here.client.get(f"/jobs/{job}/map/1")).headers["location"]
    assert "broken" in (await here.client.get(to)).text
    assert (await here.client.get(f"/jobs/{job}/map/2")).status_code == 404
    page = (await here.client.get(f"/jobs/{job}")).text
    assert f'data-map-of="{job}"' in page
    groups = re.search(r"<code>fields_missing</code>.*?</tr>", page, re.DOTALL)
    assert groups is not None and 'title="https://shop.example/p/9"' in groups[0]


async def test_two_runs_are_compared_record_by_record(here: World) -> None:
    old = await recorded(here, {"a": 1, "b": 2, "gone": 3})
    new = await recorded(here, {"a": 1, "b": 2.5, EVIL: 4})
    page = (await here.client.get(f"/jobs/{new}/compare")).text
    assert f'<option value="{old}" selected' in page
    page = (await here.client.get(f"/jobs/{new}/compare?with={old}")).text
    assert "<script>alert" not in page
    assert [int(n) for n in re.findall(r"<dd>(\d+)</dd>", page)] == [1, 1, 1, 0, 1]
    assert re.search(r'<b>price</b></td><td class="wrap old">2</td><td class="wrap fresh">2.5</td>', page)
    assert (await here.client.get(f"/jobs/{new}/compare?with=j99")).status_code == 404
    running = await here.submit()
    page = (await here.client.get(f"/jobs/{running}/compare?with={new}")).text
    assert f"{running} has not ended" in page and "<dd>" not in page


async def test_unsure_items_are_not_counted_as_failed_where_jobs_are_listed_and_compared(here: World) -> None:
    job = await here.submit(loop={"values": ["a", "b", "c"]})
    ends = {"a": completed({"n": 1}), "b": failed(), "c": Outcome(Status.UNSURE)}
    await here.run(loop_of(list(ends), lambda work: ends[work.item.value]))
    other = await recorded(here, {"a": 1})
    for address in ("/", f"/jobs/{other}/compare?with={job}"):
        page = (await here.client.get(address)).text
        assert 'data-name="failed">1 <span class="soft">and 1 unsure</span>' in page, address


async def test_downloads_of_what_changed_and_of_a_schedule_compute_nothing_in_a_spreadsheet(here: World) -> None:
    old = await recorded(here, {"=1+1": 1, "b": 2})
    new = await recorded(here, {"=1+1": 2, "b": 2})
    page = (await here.client.get(f"/jobs/{new}/compare?with={old}&by=name")).text
    (address,) = re.findall(r'href="([^"]*)" download>CSV', page)
    table = (await here.client.get(address.replace("&amp;", "&"))).text
    assert "'=1+1" in table and table.count("\n") == 2, table
    await here.client.post("/v1/schedules", json=PRICES)
    assert (await here.client.get("/schedules/prices/results")).status_code == 404
    await run_once(here, {"name": "=1+1", "price": 1})
    (address,) = re.findall(r'href="([^"]*)">CSV', (await here.client.get("/schedules/prices")).text)
    assert "'=1+1" in (await here.client.get(address, follow_redirects=True)).text


def test_no_link_of_a_page_leads_to_the_api_which_knows_no_login() -> None:
    texts = {path: path.read_text() for path in (HERE / "templates").rglob("*.html")}
    assert len(texts) > 20 and [str(path) for path, text in texts.items() if 'href="/v1/' in text] == []


async def test_what_ended_of_late_is_drawn_and_listed(here: World) -> None:
    await recorded(here, {"a": 1, "b": "broken"})
    for over in ("hour", "day", "week"):
        page = (await here.client.get(f"/activity?range={over}")).text
        assert "2 items of 1 jobs" in page and "50.0 % of 2 items" in page
        assert 'style="' not in page
    assert (await here.client.get("/activity?range=year")).status_code == 400


async def test_every_page_of_another_tenants_job_is_not_found_and_strangers_are_sent_to_the_login() -> None:
    async with world(auth=True) as locked:
        theirs = {"Authorization": f"Bearer {await locked.key('submit', tenant='other')}"}
        spec = {"url": "https://lamps.example/", "goal": "theirs", "loop": {"values": ["a"]}}
        job = (await locked.client.post("/v1/jobs", json=spec, headers=theirs)).json()["id"]
        await locked.run(loop_of(["a"], lambda work: completed({"n": 1})))
        paths = [f"/jobs/{job}/{name}" for name in ("records", "map", "map/0", "compare", "changes?with=j1")]
        for path in [*paths, "/activity", "/?q=lamps"]:
            assert (await locked.client.get(path)).status_code == 303, path
        await locked.client.post("/login", data={"key": await locked.key("read", tenant="acme"), "next": "/"})
        for path in paths:
            assert (await locked.client.get(path)).status_code == 404, path
        assert listed((await locked.client.get("/?q=lamps")).text) == []
        assert "0 items of 0 jobs" in (await locked.client.get("/activity")).text
        mine = (
            await locked.client.post(
                "/v1/jobs", json=spec, headers={"Authorization": f"Bearer {await locked.key('submit')}"}
            )
        ).json()["id"]
        assert (await locked.client.get(f"/jobs/{mine}/compare?with={job}")).status_code == 404
        choices = (await locked.client.get(f"/jobs/{mine}/compare")).text
        assert f'value="{job}"' not in choices and f">{job}<" not in choices
        page = (await locked.client.get("/?q=x")).text
        kept = {"token": token_of(page), "name": "mine", "query": "q=x"}
        assert (await locked.client.post("/filters", data=kept)).status_code == 403  # a reader keeps nothing
        await locked.client.post("/login", data={"key": await locked.key("read", "submit"), "next": "/"})
        page = (await locked.client.get("/?q=x")).text
        assert (await locked.client.post("/filters", data={**kept, "token": token_of(page)})).status_code == 303
        assert ">mine</a>" in (await locked.client.get("/")).text
        await locked.client.post("/login", data={"key": await locked.key("read", tenant="other"), "next": "/"})
        assert ">mine</a>" not in (await locked.client.get("/")).text
        assert ids.parse_job(job) != ids.parse_job(mine)


async def test_the_answer_stands_at_job_and_session_with_what_it_rests_on(here: World) -> None:
    basis = Basis(
        (Quotation(EVIL, f"https://shop.example/{EVIL}", EVIL),), (0, 2), Computation("average", (19.9, EVIL), 19.95)
    )
    job = await here.submit(goal="What do they cost?")
    await here.run(lambda work: completed(answer=EVIL, rests_on=basis))
    session = (await here.client.get(f"/v1/jobs/{job}")).json()["root_session"]
    for path in (f"/jobs/{job}", f"/sessions/{session}"):
        text = (await here.client.get(path)).text
        assert "computed: 19.95" in text, path
        assert "average of 19.9, &lt;script&gt;" in text, path
        assert re.search(r"records read</td><td[^>]*>1, 3<", text), path
        assert "<script>alert" not in text, path


async def test_an_answer_that_rests_on_nothing_says_so(here: World) -> None:
    job = await here.submit(goal="Is it there?")
    await here.run(lambda work: completed(answer="Yes", rests_on=Basis()))
    assert "It rests on nothing that a program could look up." in (await here.client.get(f"/jobs/{job}")).text


async def test_the_advice_of_an_empty_list_needs_no_model() -> None:
    async with world() as w:
        advice = re.search(r"<code>(shoal run .*?)</code>", (await w.client.get("/")).text)
        assert (
            advice is not None
            and "--fields" in advice[1]
            and JobSpec(url="https://example.com/product", extract={"schema": {"type": "object"}}).beyond_rules is None
        )
