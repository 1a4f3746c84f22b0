"""Lists that stand in a frame of the page that a job names."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING

import pytest

from shoal.agent.browser import Context
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Step, Task
from tests.integration.rules.conftest import Sessions
from tests.priced_parts import PARTS, SCHEMA, parts_table

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HEAD = '<!doctype html><html lang="en"><title>Careers</title>'


@pytest.fixture
def other(site: Site) -> str:
    """Another site, which the same server serves."""
    return site.url.replace("127.0.0.1", "localhost")


def board(first: int, last: int, more: str = "") -> str:
    links = "".join(f'<li><a href="/opening/{n}">Opening {n}</a></li>' for n in range(first, last + 1))
    return f"{_HEAD}<h2>Openings</h2><ul>{links}</ul>{more}"


def around(*frames: str, body: str = "<h1>Careers</h1><p>Work with us.</p>") -> str:
    return f"{_HEAD}{body}{''.join(frames)}"


def frame(address: str, width: int = 800, height: int = 600) -> str:
    return f'<iframe src="{address}" width={width} height={height}></iframe>'


async def read(page: Context, url: str, history: tuple[Task, ...] = (), **job: str) -> Extraction:
    await page.goto(url)
    spec = JobSpec.model_validate({"url": url, "extract": {"schema": SCHEMA}, **job})
    return await RulesPolicy().extract(SessionState(spec=spec, loop=None, item=None, page=page, history=history))


async def collect(page: Context, url: str, select: str, **loop: object) -> tuple[list[str], str]:
    """The values, and where the page ended up."""
    await page.goto(url)
    spec = JobSpec.model_validate({"url": url, "loop": {"from": {"select": select}, **loop}})
    state = SessionState(spec=spec, loop=spec.loop, item=None, page=page)
    return [item.value async for item in RulesPolicy().collect(state, Plan())], page.url


async def test_a_table_in_a_frame_is_read_with_its_further_pages_and_named_by_its_address(
    page: Context, site: Site, other: str
) -> None:
    site.pages["/board"] = f"{_HEAD}{parts_table(PARTS[:3])}<a rel=next href=/board-2>Next</a>"
    site.pages["/board-2"] = f"{_HEAD}{parts_table(PARTS[3:5])}"
    site.pages["/advert"] = f"{_HEAD}{parts_table(PARTS[5:8])}"
    small, empty = frame(f"{other}/advert", 250, 250), '<iframe width=900 height=900 srcdoc="<p>Ours"></iframe>'
    site.pages["/page"] = around(small, empty, frame(f"{other}/board"))
    found = await read(page, f"{site.url}/page")
    assert [record.url for record in found.records] == [f"{other}/board"] * 3 + [f"{other}/board-2"] * 2
    assert found.complete


@pytest.mark.parametrize(("width", "height"), [(300, 250), (336, 280), (300, 600), (970, 250), (320, 480), (728, 90)])
async def test_a_frame_of_an_advert_s_size_is_not_opened(page: Context, site: Site, width: int, height: int) -> None:
    site.pages["/advert"] = f"{_HEAD}{parts_table(PARTS[5:8])}"
    site.pages["/page"] = around(frame("/advert", width, height))
    found = await read(page, f"{site.url}/page")
    assert not found.records and "/advert" not in found.why


@pytest.mark.parametrize("style", ["display:none", "visibility:hidden", "position:absolute;left:-5000px"])
async def test_a_frame_that_is_not_shown_is_not_opened(page: Context, site: Site, style: str) -> None:
    site.pages["/board"] = f"{_HEAD}{parts_table(PARTS[:3])}"
    site.pages["/page"] = around(f'<iframe src="/board" width=900 height=700 style="{style}"></iframe>')
    found = await read(page, f"{site.url}/page")
    assert not found.records and "/board" not in found.why


async def test_a_frame_whose_document_has_no_address_of_the_web_is_not_opened(page: Context, site: Site) -> None:
    inner = urllib.parse.quote(f"{_HEAD}{parts_table(PARTS[:3])}")
    site.pages["/page"] = around(frame(f"data:text/html,{inner}"))
    found = await read(page, f"{site.url}/page")
    assert (found.records, found.why) == ((), "the page shows no list whose entries state name, price")


async def test_a_page_that_actions_led_to_is_not_left(page: Context, site: Site) -> None:
    """A page that a search or a sent form shows may not be there again under its address."""
    site.pages["/board"] = f"{_HEAD}{parts_table(PARTS[:3])}"
    site.pages["/page"] = around(frame("/board"))
    site.pages["/list"] = around(f"<h1>Parts</h1>{parts_table(PARTS[:3])}<a href=/further rel=next>Next</a>", body="")
    done = Task("navigate", "search", Status.COMPLETED, steps=(Step(0, "", "", (ActionResult(Action("click", {})),)),))
    found = await read(page, f"{site.url}/page", history=(done,))
    assert not found.records and page.url == f"{site.url}/page"
    found = await read(page, f"{site.url}/list", history=(done,))
    assert (len(found.records), found.complete) == (3, False)
    assert "/further, the next page, was not looked at" in found.why
    assert site.requests.count("/further") == 0


async def test_a_list_of_the_page_itself_goes_before_that_of_a_frame(page: Context, site: Site) -> None:
    site.pages["/board"] = f"{_HEAD}{parts_table(PARTS[3:9])}"
    site.pages["/page"] = around(parts_table(PARTS[:3]), frame("/board"))
    found = await read(page, f"{site.url}/page")
    assert len(found.records) == 3 and page.url == f"{site.url}/page"


@pytest.mark.parametrize(
    ("inner", "told"),
    [("/video", "shows no list whose entries state"), ("/gone", "404"), ("http://127.0.0.1:9/", "could not be opened")],
)
async def test_a_frame_without_the_list_leaves_the_page_open_and_is_named(
    page: Context, site: Site, inner: str, told: str
) -> None:
    site.pages["/video"] = f"{_HEAD}<h1>A video</h1><p>2:15"
    site.pages["/page"] = around(frame(inner))
    found = await read(page, f"{site.url}/page")
    assert not found.records and not found.complete and page.url == f"{site.url}/page"
    assert f"the frame {inner if ':' in inner else site.url + inner}: " in found.why and told in found.why


async def test_an_embedded_list_that_says_that_it_is_empty_is_empty(page: Context, site: Site) -> None:
    site.pages["/board"] = f"{_HEAD}<h2>Parts</h2><p>There are no parts at the moment.</p>"
    site.pages["/page"] = around(frame("/board"))
    found = await read(page, f"{site.url}/page", goal="List all parts")
    assert found.empty and found.complete


async def test_links_in_a_frame_are_collected_over_its_pages(page: Context, site: Site, other: str) -> None:
    site.pages["/board"] = board(1, 4, "<a rel=next href=/board-2>Next</a>")
    site.pages["/board-2"] = board(5, 6)
    site.pages["/page"] = around(frame(f"{other}/board"))
    values, _ = await collect(page, f"{site.url}/page", "openings")
    assert values == [f"{other}/opening/{n}" for n in range(1, 7)]


async def test_a_frame_without_the_links_leaves_the_loop_at_its_page(page: Context, site: Site) -> None:
    site.pages["/board"] = f"{_HEAD}<h1>Rules</h1><p>No dogs.<p>No boats."
    site.pages["/page"] = around(frame("/board"))
    assert await collect(page, f"{site.url}/page", "openings") == ([], f"{site.url}/page")


async def test_a_loop_whose_page_says_that_it_is_empty_opens_no_frame(page: Context, site: Site) -> None:
    site.pages["/board"] = board(1, 4)
    site.pages["/page"] = around(
        frame("/board"), body="<h1>Careers</h1><h2>Openings</h2><p>No openings at the moment.</p>"
    )
    assert await collect(page, f"{site.url}/page", "openings") == ([], f"{site.url}/page")


@pytest.mark.parametrize(
    ("inner", "select", "loop"),
    [(board(1, 4), "openings", {"is_link": False}), (f"{_HEAD}<ul><li>Cook<li>Waiter</ul>", "li", {})],
    ids=["asked for", "no links"],
)
async def test_no_texts_are_collected_from_a_frame(
    page: Context, site: Site, inner: str, select: str, loop: dict[str, bool]
) -> None:
    site.pages["/board"] = inner
    site.pages["/page"] = around(frame("/board"))
    assert await collect(page, f"{site.url}/page", select, **loop) == ([], f"{site.url}/page")


async def test_the_job_of_a_page_that_embeds_a_list_of_another_site_is_completed(
    sessions: Sessions, site: Site, other: str
) -> None:
    site.pages["/board"] = f"{_HEAD}{parts_table(PARTS[:3])}"
    site.pages["/page"] = around(frame(f"{other}/board"))
    outcome = await sessions.end(f"{site.url}/page", extract={"schema": SCHEMA})
    assert (outcome.status, len(outcome.records)) == ("completed", 3)
