"""The agent as a library, in a real browser on pages of our own."""

from __future__ import annotations

import http.server
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.agent.observe.renderings import render
from shoal.page import open_page, open_page_sync
from tests.loopback import served

PAGE = b"""<!doctype html><title>Lamp</title><h1>Desk lamp</h1><p>Price: <span itemprop="price">12.50</span> EUR</p>
<script type="application/ld+json">
{"@type": "Product", "name": "Desk lamp", "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}}
</script>
<form action="/thanks"><label>Name <input name="name" required></label><button>Send</button></form>
<a href="/missing">Next page</a>"""
THANKS = b"<!doctype html><title>Thanks</title><h1>Thank you</h1><p>Your message was sent.</p>"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
    "required": ["name", "price"],
}
ROBOTS = b"User-agent: *\nDisallow: /secret\n"
asked: list[str] = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked.append(self.path)
        bodies = {"/": PAGE, "/thanks": THANKS, "/robots.txt": ROBOTS, "/secret": PAGE}
        path = self.path.partition("?")[0]
        self.send_response(200 if path in bodies else 404)
        self.send_header("Content-Type", "text/plain" if path == "/robots.txt" else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(bodies.get(path, b"<title>Missing</title><h1>No such page</h1>"))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(Handler) as url:
        yield f"{url}/"


@pytest.fixture(autouse=True)
def own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_DATA_DIR", str(tmp_path / "data"))


def bid_of(seen: shoal.Observation, name: str) -> str:
    text = render(seen, "text")
    (line,) = [line for line in text.splitlines() if f'"{name}"' in line]
    found = re.search(r"\[([A-Za-z]*[0-9]+)", line)
    assert found is not None
    return found[1]


async def test_a_page_is_observed_acted_on_and_read(site: str) -> None:
    async with open_page(site, allow_private=True) as page:
        assert page.status == 200
        seen = await page.observe()
        assert seen.title == "Lamp"
        (record,) = await page.extract(SCHEMA)
        assert record.value == {"name": "Desk lamp", "price": 12.5}
        assert record.url == site
        with pytest.raises(shoal.AgentError) as caught:
            await page.extract({"type": "object", "properties": {"weight": {"type": "number"}}, "required": ["weight"]})
        assert caught.value.code == "fields_missing"
        missing = await page.act("click('999')")
        assert missing.error is not None
        assert missing.error.code == "element_missing"
        result = await page.act(f"click('{bid_of(seen, 'Next page')}')")
        assert result.error is None
        assert page.url == f"{site}missing"
        assert (await page.screenshot()).data


async def test_the_agent_works_on_the_page_and_leaves_it_open(site: str, tmp_path: Path) -> None:
    async with open_page(site, allow_private=True, artifacts=tmp_path / "kept") as page:
        outcome = await page.run(data={"name": "Ada"})
        assert outcome.status == "completed", outcome.reason
        assert page.url == f"{site}thanks?name=Ada"
        assert (await page.observe()).title == "Thanks"
        assert list((tmp_path / "kept").rglob("*.*")), "screenshots"
        await page.goto(site)
        outcome = await page.run(schema=SCHEMA)
        assert [record.value for record in outcome.records] == [{"name": "Desk lamp", "price": 12.5}]
        failed = await page.run("do something clever")
        assert failed.status == "failed"
        assert failed.error is not None
        assert failed.error.code == "goal_needs_model"
        with pytest.raises(ValueError, match=r"shoal\.run"):
            await page.run(loop={"values": ["a"]})


async def test_private_addresses_are_not_reached_unless_they_are_allowed(site: str) -> None:
    asked.clear()
    with pytest.raises(shoal.AgentError, match="loopback") as caught:
        async with open_page(site):
            pass
    assert caught.value.code == "address_forbidden"
    assert asked == []
    place = site.removeprefix("http://").rstrip("/")
    async with open_page(site, allow_hosts=(place,)) as page:
        refused = await page.act("goto('http://127.0.0.1:9/')")
        assert refused.error is not None
        assert refused.error.code == "address_forbidden"
        with pytest.raises(shoal.AgentError, match="loopback"):
            await page.goto("http://localhost:9/")


def test_a_program_without_asyncio_uses_the_same_page(site: str) -> None:
    with open_page_sync(site, allow_private=True) as page:
        assert page.observe().title == "Lamp"
        assert page.extract(SCHEMA)[0].value["price"] == 12.5
        assert page.run(data={"name": "Eve"}).status == "completed"
        assert page.url.endswith("name=Eve")
