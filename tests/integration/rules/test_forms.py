"""Forms on a real page: two pages, a veil over them, dependent selects, refusals; and items named in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FormIncomplete, ItemNotFound
from shoal.agent.policies.policy import SessionState
from shoal.agent.policies.rules.planning import OPEN, SEND
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec
from shoal.agent.types import Action, LoopItem, Step

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

DATA: dict[str, Any] = {
    "salutation": "Ms",
    "contact": {"name": "Ann Lee", "email": "ann@example.test", "phone": "+49 30 1234"},
    "country": "Germany",
    "region": "Saxony",
    "quantity": 12,
    "needed_by": "2027-03-05",
    "message": "Two of them in blue, please.",
    "accept_terms": True,
}


async def navigate(state: SessionState, goal: str, limit: int = 15) -> tuple[Action, list[Step]]:
    """Return what the session does with a navigate task: steps until the policy ends it."""
    policy = RulesPolicy()
    steps: list[Step] = []
    for index in range(limit):
        url = state.page.url
        decision = await policy.step(state, goal, steps)
        results = []
        for action in decision.actions:
            if action.name in ("complete", "terminate"):
                return action, steps
            result = await state.page.act(action)
            results.append(result)
            if result.error is not None or result.effect.url is not None:
                break
        steps.append(Step(index, url, decision.thought, tuple(results)))
    raise AssertionError([(step.thought, step.results) for step in steps])


def state(page: Context, url: str, item: LoopItem | None = None, **spec: Any) -> SessionState:
    job = JobSpec.model_validate({"url": url, "goal": "ask for a quote", **spec})
    return SessionState(spec=job, loop=None, item=item, page=page)


async def test_a_form_of_two_pages_is_filled_in_and_sent_once(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/quote")
    end, steps = await navigate(state(page, site.url, data=DATA, complete_criterion='the page says "Thank you"'), SEND)
    assert end.name == "complete"
    first, second = site.sent
    assert first == {"sal": ["f"], "customer": ["Ann Lee"], "mail": ["ann@example.test"], "mail2": ["ann@example.test"],
                     "p1": ["+49 30 1234"]}  # fmt: skip
    assert second == {"land": ["DE"], "region": ["Saxony"], "qty": ["12"], "by": ["2027-03-05"],
                      "comments": ["Two of them in blue, please."], "agb": ["on"]}  # fmt: skip
    sending = [r.action for step in steps for r in step.results if r.action.submits]
    assert len(sending) == 1


async def test_what_the_site_refuses_is_matched_to_the_callers_codes(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/quote")
    codes = {"TOO_MANY": "more pieces are wanted than can be delivered", "BAD_MAIL": "the e-mail address is refused"}
    end, _ = await navigate(state(page, site.url, data={**DATA, "quantity": 500}, error_codes=codes), SEND)
    assert end.name == "terminate"
    assert end.args["errors"] == ["TOO_MANY"]
    assert "more than 100 pieces" in end.args["reason"]
    assert len(site.sent) == 2


async def test_a_refusal_without_codes_is_an_error_that_quotes_the_page(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/quote")
    with pytest.raises(FormIncomplete, match="more than 100 pieces"):
        await navigate(state(page, site.url, data={**DATA, "quantity": 500}), SEND)


async def test_a_required_field_without_a_detail_is_named_and_never_invented(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/quote")
    data = {**DATA, "contact": {"name": "Ann Lee", "phone": "1"}}
    with pytest.raises(FormIncomplete, match="e-mail"):
        await navigate(state(page, site.url, data=data), SEND)
    assert site.sent == []


async def test_an_item_in_words_is_opened_by_its_link(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/directory")
    item = LoopItem(0, "chair no. 5", False)
    end, _ = await navigate(state(page, site.url, item, data=None), f"{OPEN} chair no. 5")
    assert end.name == "complete"
    assert page.url == f"{site.url}/chair"


async def test_an_item_that_only_the_search_knows_is_searched_for(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/directory")
    end, _ = await navigate(state(page, site.url, LoopItem(0, "Red kettle", False)), f"{OPEN} Red kettle")
    assert end.name == "complete"
    assert page.url == f"{site.url}/stale"


async def test_an_item_that_the_site_does_not_know_is_not_found(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/directory")
    with pytest.raises(ItemNotFound, match="Green kettle"):
        await navigate(state(page, site.url, LoopItem(0, "Green kettle", False)), f"{OPEN} Green kettle")
