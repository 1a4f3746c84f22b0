"""Objects whose calls block, and the thread that runs them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from shoal.agent.gym.blocking import Blocking
from shoal.agent.gym.chat import Chat
from shoal.agent.gym.task import goal_object, goal_text
from shoal.agent.support.loop_thread import LoopThread


class Locator:
    """As Playwright's: it is had at once, and waits when it is used."""

    async def input_value(self) -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name


class Waits:
    """As what `expect_popup` gives."""

    async def __aenter__(self) -> Waits:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.left = True

    @property
    def value(self) -> asyncio.Future[str]:
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        found.set_result("popup")
        return found


class Page:
    url = "about:blank"

    def locator(self, selector: str) -> Locator:
        return Locator()

    def expect_popup(self) -> Waits:
        return Waits()

    async def same(self, locator: Locator) -> bool:
        return isinstance(locator, Locator)

    async def fails(self) -> None:
        raise ValueError("no such thing")


for kind in (Locator, Waits, Page):
    kind.__module__ = "playwright.async_api._generated"


@pytest.fixture
def page() -> Iterator[Blocking]:
    loop = LoopThread("shoal-gym")
    yield Blocking(Page(), loop, {})
    loop.close()
    loop.close()  # twice is once


def test_calls_and_what_they_give_block(page: Blocking) -> None:
    assert page.url == "about:blank"
    assert page.locator("#name").input_value() == "shoal-gym"
    assert page.same(page.locator("#name")) is True
    with page.expect_popup() as popup:
        pass
    assert popup.value == "popup"
    with pytest.raises(ValueError, match="no such thing"):
        page.fails()


async def test_a_running_loop_is_no_hindrance(page: Blocking) -> None:
    assert page.locator("#name").input_value() == "shoal-gym"


def test_a_goal_is_text_or_messages() -> None:
    assert goal_object(None) == ()
    both = goal_object([{"type": "text", "text": "Buy this"}, {"type": "image_url", "image_url": "data:,"}])
    assert goal_text(both) == "Buy this\n(an image)"
    assert goal_text(goal_object("Sell")) == "Sell"


def test_only_known_roles_speak() -> None:
    chat = Chat(lambda: "go on")
    chat.wait_for_user_message()
    assert [(one["role"], one["message"]) for one in chat.messages] == [("user", "go on")]
    with pytest.raises(ValueError, match="no such role"):
        chat.add_message("robot", "hello")  # type: ignore[arg-type]
