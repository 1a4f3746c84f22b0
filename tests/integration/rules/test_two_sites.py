"""A record is the page's own that is open: no frame of another site states it, and no page that was left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shoal.agent.browser import Context
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Action
from tests.integration.browser.solvers import bid

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRODUCT = {"name": {"type": "string"}, "price": {"type": "number"}}


def document(name: str, price: float, body: str = "") -> str:
    """A page that states a product, in structure and for people."""
    data = f'{{"@type": "Product", "name": "{name}", "offers": {{"price": {price}}}}}'
    return f"""<!doctype html><html lang=en><title>{name}</title><script type=application/ld+json>{data}</script>
      <main><h1>{name}</h1><p>Price: <b class=price>€{price:.2f}</b></p></main>{body}"""


@pytest.fixture
def other(site: Site) -> str:
    """Another site, which the same server serves, with a product of its own in a frame of each page."""
    other = site.url.replace("127.0.0.1", "localhost")
    site.pages["/advert"] = document("Advert", 1.0)
    site.pages["/lamp"] = document("Lamp", 12.5, f'<iframe src="{other}/advert"></iframe>')
    site.pages["/vase"] = document("Vase", 30.0, f'<iframe src="{site.url}/advert"></iframe>')
    site.pages["/start"] = document(
        "Start",
        99.0,
        f"""<iframe src="{other}/advert"></iframe><a href="{other}/vase">Over there</a>
        <form action="{other}/vase"><button>Go there</button></form>""",
    )
    return other


async def record(page: Context) -> object:
    """The record that the rules read of the page that is open."""
    job = JobSpec.model_validate({"url": page.url, "extract": {"schema": {"type": "object", "properties": PRODUCT}}})
    found = await RulesPolicy().extract(SessionState(spec=job, loop=None, item=None, page=page))
    return found.records[0].value


async def test_a_frame_of_another_site_states_no_value(page: Context, site: Site, other: str) -> None:
    await page.goto(f"{site.url}/lamp")
    assert await record(page) == {"name": "Lamp", "price": 12.5}


async def test_pages_of_two_sites_in_turn_are_each_read_as_they_are(page: Context, site: Site, other: str) -> None:
    for _ in range(2):
        await page.goto(f"{site.url}/lamp")
        assert await record(page) == {"name": "Lamp", "price": 12.5}
        await page.goto(f"{other}/vase")
        assert await record(page) == {"name": "Vase", "price": 30}


async def test_a_world_s_number_that_a_frame_has_now_is_not_asked(page: Context, site: Site) -> None:
    """Chromium counts the worlds of a process: after a change of site a frame may have the number of the page's."""
    site.pages["/advert"] = document("Advert", 1.0)
    site.pages["/lamp"] = document("Lamp", 12.5, f'<iframe src="{site.url}/advert"></iframe>')
    await page.goto(f"{site.url}/lamp")
    assert await record(page) == {"name": "Lamp", "price": 12.5}
    tab = page.tab  # type: ignore[attr-defined]
    session = await tab.session()
    (frame,) = (await session.send("Page.getFrameTree"))["frameTree"]["childFrames"]
    asked = {"frameId": frame["frame"]["id"], "worldName": "shoal"}
    tab._reader._world = (await session.send("Page.createIsolatedWorld", asked))["executionContextId"]
    assert await record(page) == {"name": "Lamp", "price": 12.5}
    assert await page.read("() => document.title") == "Lamp"


@pytest.mark.parametrize("called", ["Over there", "Go there"])
async def test_what_was_clicked_may_lead_to_another_site(page: Context, site: Site, other: str, called: str) -> None:
    """As sessions with a model follow links, and those with a form send it."""
    await page.goto(f"{site.url}/start")
    assert await record(page) == {"name": "Start", "price": 99}
    seen = await page.observe()
    assert (await page.act(Action("click", {"bid": bid(seen, called)}))).error is None
    await page.settle()
    assert page.url.startswith(f"{other}/vase")
    assert await record(page) == {"name": "Vase", "price": 30}
