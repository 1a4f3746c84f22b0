"""A person's work in Django's admin becomes a workflow that does the same with other data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.sessions import session
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Action
from shoal.agent.worker_messages import Work
from shoal.agent.workflows.by_hand.drafting import drafted
from shoal.agent.workflows.by_hand.hand_book import HandBook
from shoal.agent.workflows.format.workflow import read_workflow
from tests.integration.workflows.test_sessions import Surroundings
from tests.sites.registry import django_admin

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]

PASSWORD = "correct horse 7"
PLACE = """(arg) => {
  const element = document.querySelector(arg.selector);
  element.scrollIntoView({block: 'center'});
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
AUTHORS = """() => [...document.querySelectorAll('#result_list tbody tr')].map(
  (row) => [row.querySelector('.field-name').textContent, row.querySelector('.field-born').textContent])"""


class Person:
    """Acts on a page by mouse and keyboard, as a person who has taken it over."""

    def __init__(self, page: Context) -> None:
        self._page = page
        self.book = HandBook()

    async def _do(self, action: Action) -> None:
        pointed = await self.book.before(self._page, action)
        result = await self._page.act(action)
        assert result.error is None, result
        await self.book.after(self._page, result, pointed)

    async def click(self, selector: str) -> None:
        x, y = await self._page.read(PLACE, {"selector": selector})
        await self._do(Action("mouse_click", {"x": x, "y": y}))

    async def write(self, selector: str, text: str) -> None:
        await self.click(selector)
        await self._do(Action("keyboard_type", {"text": text}))


class WithPassword(Surroundings):
    def resolve(self, value: object, url: str) -> object:
        return PASSWORD if value == "secret:password" else value


async def authors(page: Context, url: str) -> list[list[str]]:
    """Names and years, as the admin's own list says."""
    await page.goto(f"{url}office/author/")
    listed: list[list[str]] = await page.read(AUTHORS)
    return listed


async def test_an_author_is_added_by_hand_and_another_by_the_workflow(browser: Browser) -> None:
    with django_admin.site() as cases:
        url = str(cases[0].spec["url"])
        page = await browser.new_context(ContextOptions())
        try:
            person = Person(page)
            await page.goto(url)
            await person.write("#id_username", "ada")
            await person.write("#id_password", PASSWORD)
            await person.click("[type=submit]")
            await person.click("tr.model-author a.addlink")
            await person.write("#id_name", "Mira Voss")
            await person.write("#id_born", "1971")
            await person.click("[name=_save]")
            draft, open_ = drafted(await person.book.book(page), url, "authors")
            assert draft is not None, open_
            before = await authors(page, url)
            assert ["Mira Voss", "1971"] in before

            for typed in ("ada", PASSWORD, "Mira Voss", "1971"):
                assert json.dumps(typed).encode() not in draft, typed
            (version,) = read_workflow(draft).versions
            told: dict[str, Any] = version.as_json()
            assert [node["action"] for node in told["nodes"]] == [
                "fill",
                "fill",
                "click",
                "click",
                "fill",
                "fill",
                "click",
            ]
            assert [node["id"] for node in told["nodes"] if node.get("once")] == ["n3", "n7"]

            spec = JobSpec.model_validate(
                {
                    "url": url,
                    "goal": "Add an author.",
                    "data": {"username": "ada", "name": "Olaf Brandt", "born": "1955"},
                    "secrets": {"password": {"domains": ["127.0.0.1"]}},
                    "artifacts": {"screenshots": "none"},
                }
            )
            around = WithPassword()
            lent = SessionDependencies(
                browser=browser,
                policy=WorkflowPolicy("authors", version),
                navigation_guard=around,
                artifact_sink=around,
                journal=around,
                secrets=around,
            )
            outcome = await session.run(Work(1, 1, 1, "t", 1, 0, spec, None, None, None, None), lent)
            assert outcome.status is Status.COMPLETED, (outcome.error, outcome.reason)
            after = await authors(page, url)
            assert sorted(after) == sorted([*before, ["Olaf Brandt", "1955"]])
        finally:
            await page.close()
