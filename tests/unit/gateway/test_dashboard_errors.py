"""Pages for errors: each says what cannot be shown, and programs get their problem documents as before."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.gateway_world import World, world

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
async def here() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def test_an_unknown_address_is_a_page_for_browsers_and_a_problem_for_programs(here: World) -> None:
    page = await here.client.get("/nothing/<b>here</b>", headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at /nothing/&lt;b&gt;here&lt;/b&gt;." in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path, headers in (("/nothing", {}), ("/v1/nothing", BROWSER)):
        answer = await here.client.get(path, headers=headers)
        assert answer.status_code == 404
        assert answer.json()["code"] == "not_found", path


async def test_a_method_that_an_address_does_not_take_is_a_page_too(here: World) -> None:
    page = await here.client.post("/status", headers=BROWSER)
    assert page.status_code == 405
    assert "/status does not take POST." in page.text
    assert (await here.client.put("/v1/jobs", headers=BROWSER)).json()["code"] == "method_not_allowed"


async def test_a_parameter_that_is_not_valid_is_named_on_a_page(here: World) -> None:
    job = await here.submit()
    page = await here.client.get(f"/jobs/{job}/events?after=x", headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
    assert "<code>after</code> must be a valid integer" in page.text


async def test_an_unknown_address_tells_strangers_nothing_and_asks_for_no_login(here: World) -> None:
    async with world(auth=True) as locked:
        page = await locked.client.get("/nothing", headers=BROWSER)
        assert page.status_code == 404
        assert "There is no page at /nothing." in page.text
        assert "Log out" not in page.text


async def test_files_of_the_pages_are_kept_by_browsers_until_they_change(here: World) -> None:
    first = await here.client.get("/static/shoal.css")
    again = await here.client.get("/static/shoal.css", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
