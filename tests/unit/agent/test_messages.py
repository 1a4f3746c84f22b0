"""Messages of refusals and failures: the place, and the next thing to do."""

from __future__ import annotations

import pytest
from playwright.async_api import Error as PlaywrightError

from shoal.agent.browser import ContextOptions, Landing
from shoal.agent.chromium.faults import action_error, navigation_error
from shoal.agent.errors import AccessDenied, CertificateRefused, HostUnreachable, NavigationError, NotAPage
from shoal.agent.sessions.lazy_context import LazyContext
from shoal.agent.sessions.loops.loop_items import empty_loop_message
from shoal.agent.spec import LoopSpec
from shoal.agent.types import Action
from tests.doubles.browser_double import FakeBrowser, FakePage


@pytest.mark.parametrize(
    "name", ["ERR_CERT_AUTHORITY_INVALID", "ERR_CERT_DATE_INVALID", "ERR_CERT_COMMON_NAME_INVALID"]
)
def test_a_certificate_that_is_not_trusted_is_not_tried_again(name: str) -> None:
    error = navigation_error(PlaywrightError(f"Page.goto: net::{name} at https://x.example/"), "https://x.example/", 30)
    assert isinstance(error, CertificateRefused)
    assert not error.retryable
    assert name in error.message
    assert "self-signed" in error.message and "operator" in error.message


def test_a_host_that_does_not_answer_may_be_misspelled() -> None:
    told = PlaywrightError("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://x.exmaple/")
    error = navigation_error(told, "https://x.exmaple/", 30)
    assert isinstance(error, HostUnreachable)
    assert "check the host name" in error.message


def test_an_empty_loop_names_its_selector() -> None:
    loop = LoopSpec.model_validate({"from": {"select": "table.parts td a"}})
    said = empty_loop_message(loop, "https://x.example/list", "the page is empty")
    assert said.startswith("the loop found no items on https://x.example/list: the page is empty")
    assert "`loop.from.select` is 'table.parts td a'" in said
    assert "shoal observe" in said


class _Blank:
    """A context whose address gave a file, or a status."""

    url = "about:blank"

    def __init__(self, status: int) -> None:
        self.status = status

    async def goto(self, url: str, *, timeout_s: float | None = None) -> Landing:
        return Landing(url, self.status, "application/octet-stream")

    async def read(self, script: str, arg: object = None) -> str:
        return "Unauthorized"

    async def downloads(self) -> list[object]:
        return []


async def _passes(url: str) -> None:
    """A guard that lets everything through."""


def page_of(status: int) -> LazyContext:
    return LazyContext(None, None, "https://x.example/a.pdf", _passes, _Blank(status))  # type: ignore[arg-type]


async def test_a_file_is_no_page_for_rules_and_says_where_it_is() -> None:
    page = page_of(200)
    assert (await page.goto("https://x.example/a.pdf")).status == 200, "a model is given the file's text"
    page.pages_only = True
    with pytest.raises(NotAPage, match=r"a\.pdf gives a file, not a page: it is kept among the session's artifacts"):
        await page.goto("https://x.example/a.pdf")


async def test_a_page_that_asks_for_a_login_says_how() -> None:
    with pytest.raises(AccessDenied, match=r"answered 401: Unauthorized; it asks for a login") as caught:
        await page_of(401).goto("https://x.example/a")
    assert "browser.headers" in caught.value.message


async def test_a_page_that_led_to_a_dead_address_is_read_as_no_page() -> None:
    start, dead = "https://x.example/on", "chrome-error://chromewebdata/"
    pages = {
        start: FakePage(read="<h1>", actions={"click 1": dead}),
        dead: FakePage(read="", unreachable="https://gone.example/7"),
    }
    page = LazyContext(FakeBrowser(pages), ContextOptions(), start, _passes)
    assert await page.read("() => 1") == "<h1>"
    assert (await page.act(Action("click", {"bid": "1"}))).error is None
    with pytest.raises(
        NavigationError, match=r"x\.example/on led to https://gone\.example/7, which could not"
    ) as caught:
        await page.read("() => 1")
    assert caught.value.retryable


def test_of_a_long_message_a_secret_in_it_is_left_out_whole() -> None:
    secret = "".join(chr(97 + number * 7 % 26) for number in range(40))
    for before in range(430, 520, 7):
        told = action_error(PlaywrightError(f"Page.evaluate: Error: {'x' * before} {secret}")).message
        assert told.startswith("Error") and (secret in told) == (secret[:4] in told), told
