"""A sample of a job: few items of its loop, and nothing sent."""

from __future__ import annotations

from shoal.agent.browser import ContextOptions
from shoal.agent.sessions.loops.sample import sends_form
from shoal.agent.status import Status
from shoal.agent.types import Action, BeforeSending
from tests.doubles import FakePage
from tests.unit.session.test_session import URL, run, work
from tests.worker_world import EXTRACT, LOOP, shop


async def test_a_loop_opens_its_first_items_and_counts_all() -> None:
    outcome, _, notes = await run(work(loop=LOOP, extract=EXTRACT, sample=2), shop(30))

    assert outcome.fan_out is not None
    assert [item.value for item in outcome.fan_out.items] == [f"{URL}0", f"{URL}1"]
    assert (outcome.fan_out.later, notes.pieces) == (0, [])
    result = outcome.tasks[-1].result
    assert isinstance(result, dict)
    told = result["sample"]
    assert (told["found"], told["whole"], len(told["first"])) == (30, True, 10)
    assert result["expected"] == 2


async def test_a_form_is_not_sent() -> None:
    outcome, browser, _ = await run(
        work(data={"name": "Ann"}, goal="send", sample=3), {URL: FakePage(read={"n": 7})}, context=ContextOptions()
    )
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert outcome.error.code == "sample_sends_nothing"
    assert browser.performed == []


def test_a_search_is_part_of_a_sample() -> None:
    send = Action("click", {"bid": "1"}, submits=True)
    assert sends_form(send, BeforeSending(method="post"), once=True)
    assert sends_form(send, None, once=False)
    assert not sends_form(send, BeforeSending(method="GET"), once=True)
    assert not sends_form(Action("click", {"bid": "1"}), None, once=False)
