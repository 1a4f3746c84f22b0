"""The session's part beside its policy's decisions: codes, budgets, error codes, records once, secrets out of sight."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.errors import SecretRefused
from shoal.agent.hooks import Hooks
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.sessions import session
from shoal.agent.sessions.attended.human_help import Question
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Checkpoint, ChildrenSummary, LoopItem, Record, Step, Task, Usage
from tests.doubles import FakeBrowser, FakePage, ScriptedModel
from tests.doubles.browser_double import FakeContext, body
from tests.unit.agent.model.pages import el
from tests.unit.session.test_session import FORM, URL, Clicks, Notes, deps, run, work
from tests.worker_world import EXTRACT, LOOP, PLAN, PlainPolicy, shop


class Reads(PlainPolicy):
    """Reads the page twice; each reading gives two records, one of them new."""

    async def plan(self, state: SessionState) -> Plan:
        return Plan(user_goal_achieved=True) if len(state.history) > 1 else Plan(plan="read", task_type="extract")

    async def extract(self, state: SessionState) -> Extraction:
        first = len(state.history)
        values = ({"n": first}, {"n": first + 1, "pin": "hunter2-hunter2"})
        state.hidden.learn("secret:PIN", "hunter2-hunter2")
        return Extraction(tuple(Record(value) for value in values), complete=first > 0, shown=3, unproven=("price",))


async def test_a_page_that_is_read_again_gives_each_record_once_and_no_secret() -> None:
    outcome, _, _ = await run(work(goal="read", extract={"goal": "n"}), {URL: FakePage()}, policy=Reads())
    assert [record.value for record in outcome.records] == [
        {"n": 0},
        {"n": 1, "pin": "secret:PIN"},
        {"n": 1},
        {"n": 2, "pin": "secret:PIN"},
    ]
    assert outcome.tasks[0].result == {
        "records": 2,
        "missing": [],
        "complete": False,
        "shown": 3,
        "not_on_the_page": ["price"],
    }


async def test_a_record_with_a_secret_in_it_is_kept_once_too() -> None:
    class Again(Reads):
        async def extract(self, state: SessionState) -> Extraction:
            state.hidden.learn("secret:PIN", "hunter2-hunter2")
            return Extraction((Record({"pin": "hunter2-hunter2"}),))

    outcome, _, _ = await run(work(goal="read", extract={"goal": "n"}), {URL: FakePage()}, policy=Again())
    assert [record.value for record in outcome.records] == [{"pin": "secret:PIN"}]


async def test_the_same_record_of_the_same_page_is_kept_once() -> None:
    class Again(Reads):
        async def extract(self, state: SessionState) -> Extraction:
            return Extraction((Record({"n": 1}), Record({"n": 1})))

    outcome, _, _ = await run(work(goal="read", extract={"goal": "n"}), {URL: FakePage()}, policy=Again())
    assert len(outcome.records) == 2, "a page may show two alike; reading it again adds none"


async def test_alike_records_that_come_later_on_the_same_page_are_kept() -> None:
    class More(Reads):
        async def extract(self, state: SessionState) -> Extraction:
            return Extraction(tuple(Record({"n": 1}) for _ in range(1 + 2 * len(state.history))))

    outcome, _, _ = await run(work(goal="read", extract={"goal": "n"}), {URL: FakePage()}, policy=More())
    assert len(outcome.records) == 3, "one, then three after `Show more`"


async def test_records_are_held_to_the_schema_that_the_model_proposed() -> None:
    class Proposes(Reads):
        async def extract(self, state: SessionState) -> Extraction:
            schema = {"type": "object", "properties": {"n": {"type": "string"}}}
            return Extraction((Record({"n": 1}),), schema=schema)

    outcome, _, _ = await run(work(goal="read", extract={"goal": "n"}), {URL: FakePage()}, policy=Proposes())
    assert outcome.error is not None
    assert outcome.error.code == "record_invalid"


async def test_codes_that_complete_names_are_in_the_outcome() -> None:
    class Completes(Clicks):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            return StepDecision("done", (Action("complete", {"errors": ["LATE"]}),))

    outcome, _, _ = await run(work(goal="x", error_codes={"LATE": "x"}), FORM, policy=Completes())
    assert (outcome.status, outcome.error_codes) == (Status.COMPLETED, ("LATE",))


async def test_a_budget_of_the_job_ends_the_session_with_its_reason() -> None:
    spent = replace(work(goal="x", budget={"job_tokens": 1000}), job_tokens=1000)
    policy = ModelPolicy(ScriptedModel([PLAN]), PlainPolicy())
    outcome, _, _ = await run(spent, FORM, policy=policy)
    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("budget_spent", False)
    assert outcome.reason == "the job has spent 1,000 of 1,000 tokens"


async def test_a_policy_knows_whose_pages_it_sees() -> None:
    """Lines that pages repeat are learned per job: another job may have the same words and another person's pages."""
    jobs: list[int | None] = []

    class Notes(PlainPolicy):
        async def plan(self, state: SessionState) -> Plan:
            jobs.append(state.job)
            return Plan(user_goal_achieved=True)

    await run(replace(work(goal="x"), job=42), FORM, policy=Notes())
    assert jobs == [42]


async def test_what_earlier_attempts_spent_goes_on_in_the_checkpoint() -> None:
    before = Checkpoint(url=URL, usage=Usage(model_calls=3, prompt_tokens=700))
    again = replace(work(goal="x", budget={"session_tokens": 700}), checkpoint=before)
    outcome, _, _ = await run(again, FORM, policy=ModelPolicy(ScriptedModel([PLAN]), PlainPolicy()))
    assert outcome.error is not None
    assert outcome.error.code == "budget_spent"
    assert outcome.usage.prompt_tokens == 0, "of this attempt alone"
    assert outcome.usage_before == before.usage

    _, _, notes = await run(replace(work(goal="x"), checkpoint=before), FORM, policy=Slow(times=1))
    assert notes.checkpoints[-1][0].usage.prompt_tokens == 700


async def test_what_a_failed_attempt_spent_since_its_checkpoint_is_not_forgotten() -> None:
    before = Checkpoint(url=URL, usage=Usage(model_calls=3, prompt_tokens=700))
    again = replace(work(goal="x"), checkpoint=before)
    outcome, _, _ = await run(again, FORM, policy=ModelPolicy(ScriptedModel(["no plan"] * 2), PlainPolicy()))
    assert outcome.checkpoint is not None
    assert outcome.checkpoint.url == URL
    assert outcome.checkpoint.usage.model_calls == 5
    assert outcome.checkpoint.usage.prompt_tokens == 700 + outcome.usage.prompt_tokens > 700
    # The first attempt, too: there was nothing to go on from, but something was spent.
    outcome, _, _ = await run(work(goal="x"), FORM, policy=ModelPolicy(ScriptedModel(["no plan"] * 2), PlainPolicy()))
    assert outcome.checkpoint is not None
    assert outcome.checkpoint.usage.model_calls == 2


async def test_what_a_step_costs_is_known_before_its_actions_are_done() -> None:
    """A worker may be killed at any of them."""
    step = {"thoughts": "x", "user_goal_achieved": False, "actions": [{"action_type": "CLICK", "id": "4"}]}
    begun = {**PLAN, "user_goal_achieved": False, "plan": "Click", "task_type": "navigate"}
    before = Checkpoint(url=URL, history=(Task("navigate", "log in", Status.COMPLETED),), usage=Usage(model_calls=3))
    again = replace(work(goal="x"), checkpoint=before)
    model = ScriptedModel([json.dumps(begun), json.dumps(step)])
    pages = {URL: FakePage(elements=body(el("4", "button", "Go", role="button")), actions={"click 4": ""})}
    _, _, notes = await run(again, pages, policy=ModelPolicy(model, PlainPolicy()))
    spent = [checkpoint.usage.model_calls for checkpoint, _ in notes.checkpoints]
    assert spent[:2] == [4, 5], "the plan's call is known before a step is asked for"
    assert notes.checkpoints[1][0].history == before.history


async def test_what_a_reading_costs_is_known_though_no_reply_can_be_used() -> None:
    """Each call counts at once: a worker may be killed while the next one runs."""
    read = {**PLAN, "user_goal_achieved": False, "plan": "Read", "task_type": "extract", "require_extraction": True}
    model = ScriptedModel([json.dumps(read), "no records", "no records"])
    _, _, notes = await run(work(goal="x", extract=EXTRACT), FORM, policy=ModelPolicy(model, PlainPolicy()))
    assert [checkpoint.usage.model_calls for checkpoint, _ in notes.checkpoints][:2] == [1, 3]


async def test_the_fields_that_a_model_proposed_go_on_in_the_checkpoint() -> None:
    class Proposes(PlainPolicy):
        async def plan(self, state: SessionState) -> Plan:
            seen.append(state.proposed)
            state.proposed = {"type": "object"}
            return await super().plan(state)

    seen: list[Json] = []
    outcome, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(2), policy=Proposes())
    assert outcome.fan_out is not None
    again = replace(work(loop=LOOP, extract=EXTRACT), checkpoint=outcome.fan_out.checkpoint)
    await run(again, shop(2), policy=Proposes())
    assert seen == [None, {"type": "object"}]


@pytest.mark.parametrize("name", ["terminate", "report_infeasible"])
async def test_a_job_that_must_not_be_given_up_is_planned_on(name: str) -> None:
    class GivesUp(Clicks):
        async def plan(self, state: SessionState) -> Plan:
            return Plan(user_goal_achieved=True) if state.history else Plan(plan="x", task_type="navigate")

        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            return StepDecision("no way", (Action(name, {"reason": "it is sold out"}),))

    outcome, _, _ = await run(work(goal="x", allow_terminate=False), FORM, policy=GivesUp())
    assert outcome.status is Status.COMPLETED
    assert (outcome.tasks[0].status, outcome.tasks[0].reason) == (Status.TERMINATED, "it is sold out")
    outcome, _, _ = await run(work(goal="x"), FORM, policy=GivesUp())
    assert outcome.status is Status.TERMINATED


class Slow(Clicks):
    """Not instant, so that a checkpoint follows each task."""

    instant = False


async def test_the_hooks_of_a_context_ask_the_job_s_helper() -> None:
    asked: list[Question] = []

    async def helper(question: Question) -> str:
        asked.append(question)
        return "123456"

    class Remembers(FakeBrowser):
        async def new_context(self, options: ContextOptions = ContextOptions()) -> FakeContext:
            given.append(options.hooks)
            limits.append(options.human_timeout_s)
            return await super().new_context(options)

    given: list[Hooks] = []
    limits: list[float] = []
    one = work(goal="log in", help={"webhook": "https://hooks.example/x", "timeout_s": 3600})
    await session.run(one, deps(Remembers(FORM), Notes(), policy=Clicks(), helper=helper))
    (hooks,) = given
    assert hooks.verification_code is not None
    assert await hooks.verification_code(URL) == "123456"
    assert asked[0].kind == "code"
    assert limits[0] > asked[0].timeout_s == 3600, "the action must not end before the answer may come"


async def test_a_model_led_session_keeps_its_last_page_for_the_judge() -> None:
    _, _, notes = await run(work(goal="x"), FORM, policy=Slow())
    assert [kind for kind in notes.kept if kind != "evidence"][-2:] == ["page", "screenshot"]
    _, _, notes = await run(work(goal="x", artifacts={"screenshots": "none"}), FORM, policy=Slow())
    assert "page" not in notes.kept


async def test_a_loop_says_that_its_list_has_more_than_was_collected() -> None:
    class Short(PlainPolicy):
        async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
            state.listed = 134
            yield LoopItem(0, f"{URL}0", is_link=True)

    outcome, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(1), policy=Short())
    assert outcome.fan_out is not None
    assert outcome.fan_out.checkpoint.history[-1].result == {"expected": 1, "shown": 134}
    summary = ChildrenSummary(expected=1, completed=1, failed=0)
    back = replace(work(loop=LOOP, extract=EXTRACT), checkpoint=outcome.fan_out.checkpoint, children=summary)
    outcome, _, _ = await run(back, {})
    assert outcome.tasks[-1].result["shown"] == 134


class FillsFrame(Clicks):
    """Fills a secret into an element of a frame."""

    def __init__(self, bid: str) -> None:
        super().__init__()
        self.bid = bid

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if steps:
            return StepDecision("done", (Action("complete"),))
        return StepDecision("fill", (Action("fill", {"bid": self.bid, "value": "secret:pin"}),))


@pytest.mark.parametrize(
    ("bid", "frames", "code"),
    [
        ("a1", ["http://login.shop.example/"], None),
        ("a1", [], None),
        ("a1", ["http://login.shop.example/", "http://ads.example/"], "secret_refused"),
        ("ab1", [], "secret_refused"),
        ("1", ["http://ads.example/"], None),
    ],
)
async def test_a_secret_is_not_filled_into_a_frame_of_somebody_else(bid: str, frames: list[str], code: Any) -> None:
    class Bound(Notes):
        def resolve(self, value: object, url: str) -> object:
            if value == "secret:pin" and "shop.example" not in url:
                raise SecretRefused(url)
            return super().resolve(value, url)

    browser = FakeBrowser({URL: FakePage(read=frames, actions={f"fill {bid}": ""})})
    outcome = await session.run(work(goal="log in"), deps(browser, Bound(), policy=FillsFrame(bid)))
    assert (outcome.error.code if outcome.error else None) == code
    assert [action.args["value"] for action in browser.performed] == ([] if code else ["1234"])
