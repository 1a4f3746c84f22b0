"""Texts that stood on a page before a form was sent are no sign that the form was taken."""

from __future__ import annotations

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.status import Status
from shoal.agent.types import Action, LoopItem
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import ActionNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.compile_version import Compiled, compile_version
from shoal.agent.workflows.learning.evidence import EvidenceBook, SessionEvidence, read_messages
from shoal.agent.workflows.learning.origin import Sources
from tests.integration.workflows.test_optional_fields import site
from tests.integration.workflows.test_optional_step import replayed

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEADING = "Ask for a quote"


def form(answer: str) -> str:
    """A page that sends its form by a script, keeps its heading, and shows `answer` then."""
    return (
        f'<!doctype html><html lang="en"><title>Quotes</title><body><h1>{HEADING}</h1>'
        '<form><label>Name <input class="name" name="name"></label><button class="send">Send</button></form>'
        f"<p role=status></p><script>document.querySelector('form').onsubmit = (event) => {{ event.preventDefault();"
        f"fetch('/sent'); document.querySelector('[role=status]').textContent = '{answer}'; }};</script></body></html>"
    )


async def done(page: Context, url: str, name: str) -> SessionEvidence:
    book = EvidenceBook(LoopItem(0, f'{{"name": "{name}"}}', False))
    sources = Sources(data=None, item=f'{{"name": "{name}"}}', earlier=[], goal="")
    await page.goto(url)
    for asked, selector in ((Action("fill", {"value": name}), ".name"), (Action("click", {}), ".send")):
        (bid,) = await page.locate([selector])
        action = Action(asked.name, {"bid": bid, **asked.args})
        noted = await book.before(page, action, sources)
        result = await page.act(action)
        assert result.error is None and noted is not None, result.error
        book.after(result, noted)
    return book.book(url, await read_messages(page), None)


async def learned(page: Context, url: str) -> Compiled:
    return compile_version([await done(page, url, name) for name in ("Ada", "Bob")], None)


def sending(version: Version) -> ActionNode:
    (node,) = [node for node in version.nodes if isinstance(node, ActionNode) and node.submits]
    return node


async def test_a_form_is_learned_by_what_appeared_and_not_by_what_stood_there(browser: Browser, page: Context) -> None:
    with site({"/taken": form("Your quote is on its way"), "/silent": form("")}) as address:
        made = await learned(page, f"{address}/taken")
        assert made.version is not None, made.open
        assert [condition.value for condition in sending(made.version).post] == ["Your quote is on its way"]
        status, policy = await replayed(browser, made.version, f"{address}/taken", "Cy")
        assert status is Status.COMPLETED, policy.report.misses
        silent = await learned(page, f"{address}/silent")
        assert any("nothing on the pages after it says that it was taken" in one.why for one in silent.open)


async def test_a_version_whose_sign_stands_there_already_sends_nothing(browser: Browser, page: Context) -> None:
    with site({"/taken": form("Your quote is on its way")}) as address:
        made = await learned(page, f"{address}/taken")
        assert made.version is not None, made.open
        node = sending(made.version)
        older = node.model_copy(update={"post": (Condition(kind="text", value=HEADING),)})
        nodes = tuple(older if one.id == node.id else one for one in made.version.nodes)
        status, policy = await replayed(
            browser, made.version.model_copy(update={"nodes": nodes}), f"{address}/taken", "Cy"
        )
        assert status is Status.FAILED
        (miss,) = policy.report.misses
        assert (miss.where, miss.detail) == (
            node.id,
            "what says that it was taken stands on the page before it is done",
        )
        assert policy.report.done == ("n1",), "the name was filled in, and nothing was sent"
