"""One session, alone: every end is an outcome."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.browser import ContextOptions
from shoal.agent.errors import (
    ActionRefused,
    ArtifactsAway,
    Canceled,
    ElementNotUsable,
    RobotsForbidden,
    SecretRefused,
)
from shoal.agent.hooks import Upload
from shoal.agent.models.decisions.plan import Plan
from shoal.agent.models.decisions.step import StepDecision
from shoal.agent.policies.policy import SessionState
from shoal.agent.sessions import session
from shoal.agent.sessions.dependencies import SessionDependencies
from shoal.agent.sessions.loops.loop_items import FIRST_ITEMS, ITEMS_AT_ONCE
from shoal.agent.sessions.session_budget import SessionLimits
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, ArtifactRef, Checkpoint, ChildrenSummary, LoopItem, Outcome, Step
from shoal.agent.worker_messages import Work
from tests.doubles import FakeBrowser, FakePage
from tests.worker_world import EXTRACT, LOOP, PlainPolicy, shop

URL = "http://shop.example/"


class Notes:
    """A journal, a keeper and secrets that remember."""

    def __init__(self) -> None:
        self.checkpoints: list[tuple[Checkpoint, bool]] = []
        self.pieces: list[tuple[int, list[LoopItem]]] = []
        self.kept: list[str] = []
        self.bytes_kept: list[bytes] = []
        self.away = False

    async def checkpoint(self, checkpoint: Checkpoint, *, durable: bool) -> None:
        self.checkpoints.append((checkpoint, durable))

    async def items(self, at: int, items: Sequence[LoopItem]) -> None:
        self.pieces.append((at, list(items)))

    async def keep(self, kind: str, data: bytes, content_type: str) -> ArtifactRef:
        if self.away:
            raise ArtifactsAway()
        self.kept.append(kind)
        self.bytes_kept.append(data)
        return ArtifactRef(f"{len(self.kept):032x}", kind, "k", content_type, len(data))

    async def fetch(self, key: str) -> Upload:
        raise ActionRefused(key)

    def resolve(self, value: object, url: str) -> object:
        if value == "secret:pin":
            return "1234"
        if isinstance(value, str) and value.startswith("secret:"):
            raise SecretRefused(value)
        return value

    def granted(self) -> Mapping[str, str]:
        return {}


async def let_all_through(url: str) -> None:
    """Lets everybody pass."""


def work(*, depth: int = 0, **fields: Json) -> Work:
    spec = JobSpec.model_validate({"url": URL} | fields)
    return Work(1, 1, 1, "t", 1, depth, spec, None, None, None, None)


def deps(browser: FakeBrowser, notes: Notes, **more: Any) -> SessionDependencies:
    return SessionDependencies(**({"browser": browser, "policy": PlainPolicy(), "navigation_guard": let_all_through,
                    "artifact_sink": notes, "journal": notes, "secrets": notes} | more))  # fmt: skip


async def run(one: Work, pages: dict[str, FakePage], **more: Any) -> tuple[Outcome, FakeBrowser, Notes]:
    browser, notes = FakeBrowser(pages), Notes()
    outcome = await session.run(one, deps(browser, notes, **more))
    assert browser.open == 0, "the context was not closed"
    return outcome, browser, notes


async def test_a_page_is_read_and_photographed() -> None:
    outcome, browser, notes = await run(work(extract=EXTRACT), {URL: FakePage(read={"n": 7})})

    assert outcome.status is Status.COMPLETED
    (record,) = outcome.records
    assert (record.value, record.url) == ({"n": 7}, URL)
    assert outcome.screenshot == outcome.artifacts[0].id
    assert (notes.kept, outcome.usage.pages, browser.visits) == (["screenshot"], 1, [URL])


async def test_a_leaf_that_is_done_after_one_task_writes_no_checkpoint() -> None:
    _, _, notes = await run(work(extract=EXTRACT), {URL: FakePage(read={"n": 7})})
    assert notes.checkpoints == []


async def test_a_loop_ends_the_run_with_its_items_and_gives_the_browser_back() -> None:
    outcome, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(3))

    assert outcome.status is Status.WAITING
    assert outcome.fan_out is not None
    assert [item.value for item in outcome.fan_out.items] == [f"{URL}{i}" for i in range(3)]
    assert outcome.fan_out.checkpoint.history[-1].status is Status.WAITING


async def test_a_long_loop_goes_to_the_journal_while_it_is_found() -> None:
    n = FIRST_ITEMS + 2 * ITEMS_AT_ONCE + 3

    outcome, _, notes = await run(work(loop=LOOP, extract=EXTRACT), shop(n))

    assert outcome.fan_out is not None
    assert (len(outcome.fan_out.items), outcome.fan_out.n) == (FIRST_ITEMS, n)
    assert [len(items) for _, items in notes.pieces] == [ITEMS_AT_ONCE, ITEMS_AT_ONCE, 3], "nobody holds more"
    assert all(at == items[0].index for at, items in notes.pieces)
    whole = [*outcome.fan_out.items, *(item for _, items in notes.pieces for item in items)]
    assert [item.value for item in whole] == [f"{URL}{i}" for i in range(n)]
    assert outcome.fan_out.checkpoint.history[-1].result == {"expected": n}


async def test_a_session_that_lost_its_lease_finds_no_further_items() -> None:
    class Lost(Notes):
        async def items(self, at: int, items: Sequence[LoopItem]) -> None:
            raise Canceled("the lease of this session has passed to another worker")

    outcome = await session.run(work(loop=LOOP, extract=EXTRACT), deps(FakeBrowser(shop(FIRST_ITEMS + 1)), Lost()))
    assert (outcome.status, outcome.fan_out) == (Status.CANCELED, None)


async def test_links_that_lead_off_the_web_become_no_items_and_are_counted() -> None:
    class Credulous(PlainPolicy):
        async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
            for index, value in enumerate(("file:///etc/passwd", f"{URL}1", "View-Source:http://x/", f"{URL}2")):
                yield LoopItem(index, value, is_link=True)

    outcome, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(3), policy=Credulous())

    assert outcome.fan_out is not None
    assert [(item.index, item.value) for item in outcome.fan_out.items] == [(0, f"{URL}1"), (1, f"{URL}2")]
    assert outcome.fan_out.checkpoint.history[-1].result == {"expected": 2, "left_out": 2}


async def test_max_items_ends_the_collecting() -> None:
    outcome, _, _ = await run(work(loop=LOOP | {"max_items": 2}, extract=EXTRACT), shop(5))
    assert outcome.fan_out is not None
    assert len(outcome.fan_out.items) == 2


async def test_only_items_at_their_first_try_may_share_contexts_and_only_where_the_job_lets_them() -> None:
    item = LoopItem(0, URL, is_link=True)
    plain = work(extract=EXTRACT)
    asked = [
        plain,
        replace(plain, item=item),
        replace(plain, item=item, attempt=2),
        replace(work(extract=EXTRACT, browser={"isolation": "fresh"}), item=item),
        replace(plain, item=item, job=2),
    ]
    keys = [(await run(one, {URL: FakePage(read={"n": 7})}))[1].asked[0].reuse for one in asked]

    assert keys[0] is keys[2] is keys[3] is None
    assert keys[1] is not None
    assert keys[4] not in (keys[1], None)


async def test_a_job_says_how_dialogs_are_answered() -> None:
    for wanted, accepted in (({}, True), ({"dialogs": "dismiss"}, False)):
        _, browser, _ = await run(work(extract=EXTRACT, browser=wanted), {URL: FakePage(read={"n": 7})})
        assert [options.accept_dialogs for options in browser.asked] == [accepted]


class Cutting(PlainPolicy):
    """Collects not all that there is."""

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        async for item in super().collect(state, plan):
            yield item
        state.cut = "the list goes on after page 2, where max_pages ended it"


async def test_a_loop_that_was_cut_short_says_so_in_its_task_and_at_the_end() -> None:
    told = "the list goes on after page 2, where max_pages ended it"
    first, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(3), policy=Cutting())
    assert first.tasks[-1].result == {"expected": 3, "cut": told}
    assert first.fan_out is not None
    again = replace(
        work(loop=LOOP, extract=EXTRACT),
        checkpoint=first.fan_out.checkpoint,
        children=ChildrenSummary(3, 3, 0),
    )
    last, _, _ = await run(again, {}, policy=Cutting())
    assert (last.status, last.reason) == (Status.COMPLETED, f"done; {told}")
    assert last.tasks[-1].result["cut"] == told


async def test_after_its_loop_a_session_sums_up_without_a_browser() -> None:
    first, _, _ = await run(work(loop=LOOP, extract=EXTRACT), shop(3))
    assert first.fan_out is not None
    back = replace(
        work(loop=LOOP, extract=EXTRACT),
        checkpoint=first.fan_out.checkpoint,
        children=ChildrenSummary(expected=3, completed=2, failed=1),
    )
    outcome, browser, _ = await run(back, {})

    assert outcome.status is Status.COMPLETED
    assert browser.opened == 0
    assert outcome.tasks[-1].result["failed"] == 1


@pytest.mark.parametrize(("on_error", "completed"), [("continue", 0), ("stop", 2)])
async def test_a_loop_that_failed_fails_its_parent(on_error: str, completed: int) -> None:
    summary = ChildrenSummary(expected=3, completed=completed, failed=3 - completed)
    one = replace(work(loop=LOOP | {"on_error": on_error}, extract=EXTRACT), children=summary)
    outcome, _, _ = await run(one, {})
    assert outcome.error is not None
    assert outcome.error.code == "loop_failed"


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (404, "page_missing", False),
        (410, "page_missing", False),
        (403, "access_denied", False),
        (418, "request_refused", False),
        (429, "server_busy", True),
        (503, "server_busy", True),
        (500, "server_failed", True),
    ],
)
async def test_an_http_error_is_never_read_as_a_record(status: int, code: str, retryable: bool) -> None:
    pages = {URL: FakePage(status=status, read="sorry, no", retry_after_s=9)}
    outcome, _, _ = await run(work(extract=EXTRACT), pages)

    assert outcome.status is Status.FAILED
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == (code, retryable)
    assert "sorry, no" in outcome.error.message
    assert outcome.retry_after_s == (9 if code == "server_busy" else None)


async def test_the_gate_is_asked_before_any_request() -> None:
    async def closed(url: str) -> None:
        raise RobotsForbidden(url)

    outcome, browser, _ = await run(work(extract=EXTRACT), {URL: FakePage(read={"n": 1})}, navigation_guard=closed)
    assert outcome.error is not None
    assert outcome.error.code == "robots_forbidden"
    assert browser.visits == []


async def test_a_time_limit_ends_the_session() -> None:
    slow = {URL: FakePage(seconds=30)}
    outcome, _, _ = await run(work(extract=EXTRACT), slow, limits=SessionLimits(session_s=0.05))
    assert outcome.error is not None
    assert outcome.error.code == "deadline_passed"


async def test_the_job_s_deadline_ends_it_too() -> None:
    one = replace(work(extract=EXTRACT), seconds_left=0.05)
    outcome, _, _ = await run(one, {URL: FakePage(seconds=30)})
    assert outcome.error is not None
    assert outcome.error.code == "deadline_passed"


async def test_a_canceled_session_closes_its_context() -> None:
    browser, notes = FakeBrowser({URL: FakePage(seconds=30)}), Notes()
    task = asyncio.create_task(session.run(work(extract=EXTRACT), deps(browser, notes)))
    while not browser.visits:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert browser.open == 0


class Clicks(PlainPolicy):
    """Clicks element 1 with a text that may be a secret, `times` times."""

    def __init__(self, text: str = "", times: int = 1) -> None:
        self.text, self.times = text, times

    async def plan(self, state: SessionState) -> Plan:
        if any(task.type == "navigate" for task in state.history):
            return Plan(user_goal_achieved=True)
        return Plan(plan="click", task_type="navigate")

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if len(steps) >= self.times:
            return StepDecision("done", (Action("complete"),))
        return StepDecision("click", (Action("fill", {"bid": "1", "value": self.text}, submits=True),))


FORM = {URL: FakePage(actions={"fill 1": ""})}


async def test_an_action_that_must_not_be_repeated_is_marked_before_and_confirmed_after() -> None:
    one = work(data={"a": 1}, goal="send", repeatable=False)
    _, browser, notes = await run(one, FORM, policy=Clicks())

    marks = [(checkpoint.pending_action, durable) for checkpoint, durable in notes.checkpoints]
    assert marks == [(f"fill on {URL}", True), ("", True)]
    assert len(browser.performed) == 1


async def test_a_session_that_died_within_such_an_action_is_unsure_and_does_nothing() -> None:
    one = replace(work(data={}, goal="send"), checkpoint=Checkpoint(url=URL, pending_action="click on x"))
    outcome, browser, _ = await run(one, FORM, policy=Clicks())
    assert outcome.status is Status.UNSURE
    assert browser.opened == 0


class Sender(PlainPolicy):
    """Sends one form with an action that must not run twice, as the steps say, then reads the page that answers."""

    async def plan(self, state: SessionState) -> Plan:
        if not any(task.type == "navigate" for task in state.history):
            return Plan(plan="send", task_type="navigate")
        if not state.records:
            return Plan(plan="read", task_type="extract")
        return Plan(user_goal_achieved=True)

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        if any(result.action.submits for step in steps for result in step.results):
            return StepDecision("sent", (Action("complete"),))
        return StepDecision("send", (Action("fill", {"bid": "1", "value": "x"}, submits=True),))


ONCE: Json = {"data": {"a": 1}, "goal": "send", "repeatable": False, "extract": EXTRACT}
ANSWERED = {URL: FakePage(actions={"fill 1": f"{URL}thanks"}), f"{URL}thanks": FakePage(read={"n": 1})}


@pytest.mark.parametrize("nth", range(1, 14))
async def test_an_action_that_must_not_be_repeated_runs_once_whatever_breaks_when(nth: int) -> None:
    """The browser breaks at its nth call; the session is tried again from what the store then has, until it ends."""
    one, performed = work(**ONCE), 0
    for attempt in range(1, 5):
        browser, notes = FakeBrowser(ANSWERED, break_nth=nth if attempt == 1 else None), Notes()
        outcome = await session.run(replace(one, attempt=attempt), deps(browser, notes, policy=Sender()))
        performed += len(browser.performed)
        last = notes.checkpoints[-1][0] if notes.checkpoints else one.checkpoint
        one = replace(one, checkpoint=outcome.checkpoint or last)
        if outcome.status is not Status.FAILED:
            break
    assert performed <= 1
    assert outcome.status in (Status.COMPLETED, Status.UNSURE), (outcome.status, outcome.reason)
    assert performed == 1 or outcome.status is Status.UNSURE


async def test_a_session_that_fails_within_such_an_action_is_unsure_at_once() -> None:
    pages = {URL: FakePage(actions={"fill 1": ""}, act_seconds=300)}
    outcome, browser, _ = await run(work(**ONCE), pages, policy=Sender(), limits=SessionLimits(session_s=1.5))
    assert outcome.status is Status.UNSURE
    assert outcome.error is not None
    assert f"fill on {URL}" in outcome.error.message
    assert len(browser.performed) == 1
    assert outcome.checkpoint is None  # the store has the mark


async def test_a_session_goes_on_after_an_action_that_was_confirmed() -> None:
    """The policy knows what was done; it would else look for the form on the page that thanks for it."""
    _, _, notes = await run(work(**ONCE), ANSWERED, policy=Sender())
    confirmed = notes.checkpoints[1][0]
    outcome, browser, _ = await run(replace(work(**ONCE), checkpoint=confirmed), ANSWERED, policy=Sender())
    assert outcome.status is Status.COMPLETED
    assert browser.performed == []
    assert [result.action.name for result in outcome.tasks[0].steps[0].results] == ["fill"]


async def test_a_secret_reaches_the_page_and_nothing_that_is_kept() -> None:
    outcome, browser, notes = await run(work(goal="log in"), FORM, policy=Clicks("secret:pin"))

    assert browser.performed[0].args["value"] == "1234"
    assert "1234" not in repr(outcome)
    assert "1234" not in repr(notes.checkpoints)
    assert "secret:pin" in repr(outcome)


async def test_a_refused_secret_ends_the_session_before_the_action() -> None:
    outcome, browser, _ = await run(work(goal="log in"), FORM, policy=Clicks("secret:other"))
    assert outcome.error is not None
    assert outcome.error.code == "secret_refused"
    assert browser.performed == []


async def test_steps_are_limited() -> None:
    outcome, browser, _ = await run(work(goal="click", max_steps=3), FORM, policy=Clicks(times=99))
    assert outcome.error is not None
    assert outcome.error.code == "step_limit"
    assert len(browser.performed) == 3


async def test_what_fails_again_and_again_is_left_to_another_browser() -> None:
    """A model repeats what it would do: on a page that is broken in this browser alone, to the limit of steps."""
    broken = {URL: FakePage(actions={"fill 1": ""}, refuses=ElementNotUsable("something lies over it"))}
    outcome, _, _ = await run(work(goal="send", data={"a": 1}, repeatable=False), broken, policy=Clicks(times=99))
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable, len(outcome.tasks[0].steps)) == ("nothing_works", True, 8)
    assert "8 times in a row" in outcome.error.message and "something lies over it" in outcome.error.message


async def test_an_action_may_fail_often_where_others_are_tried_between() -> None:
    class Varied(Clicks):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            bid = str(1 + len(steps) % 2)
            return StepDecision("click", (Action("fill", {"bid": bid, "value": ""}),))

    broken = {URL: FakePage(refuses=ElementNotUsable())}
    outcome, _, _ = await run(work(goal="click", max_steps=20), broken, policy=Varied())
    assert outcome.error is not None and outcome.error.code == "step_limit"


async def test_what_a_session_did_before_it_failed_is_told() -> None:
    """Somebody has to find out why, and its steps and actions count like those of any other."""
    outcome, _, _ = await run(work(goal="click", max_steps=3), FORM, policy=Clicks(times=99))
    (task,) = outcome.tasks
    assert (task.type, task.status) == ("navigate", Status.FAILED)
    assert [len(step.results) for step in task.steps] == [1, 1, 1]
    assert outcome.error is not None and task.reason == outcome.error.message
    assert task.seconds > 0


async def test_what_earlier_attempts_did_is_told_apart() -> None:
    first, _, _ = await run(work(goal="click"), FORM, policy=Clicks(times=2))
    assert (len(first.tasks[0].steps), first.steps_before) == (3, 0)
    known = Checkpoint(url=URL, history=first.tasks)
    again, _, _ = await run(replace(work(goal="click"), checkpoint=known, attempt=2), FORM, policy=Clicks())
    assert (again.tasks, again.steps_before) == (first.tasks, 3)


async def test_what_a_session_did_before_its_time_was_over_is_told() -> None:
    class Slow(Clicks):
        async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
            if len(steps) == 2:
                await asyncio.sleep(60)
            return await super().step(state, goal, steps)

    outcome, _, _ = await run(work(goal="click"), FORM, policy=Slow(times=99), limits=SessionLimits(0.3))
    assert outcome.error is not None and outcome.error.code == "deadline_passed"
    (task,) = outcome.tasks
    assert task.status is Status.FAILED and len(task.steps) == 2


async def test_a_failed_action_is_an_observation_not_an_end() -> None:
    outcome, _, _ = await run(work(goal="click"), {URL: FakePage()}, policy=Clicks(times=2))
    assert outcome.status is Status.COMPLETED
    errors = [result.error for step in outcome.tasks[0].steps for result in step.results if result.error]
    assert [error.code for error in errors] == ["element_missing", "element_missing"]


async def test_evidence_that_cannot_be_kept_fails_the_session_for_another_try() -> None:
    browser, notes = FakeBrowser({URL: FakePage(read={"n": 1})}), Notes()
    notes.away = True
    outcome = await session.run(work(extract=EXTRACT), deps(browser, notes))
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("artifacts_away", True)


async def test_evidence_of_a_failure_that_is_lost_is_said_in_the_reason() -> None:
    browser, notes = FakeBrowser({URL: FakePage(status=404)}), Notes()
    notes.away = True
    outcome = await session.run(work(extract=EXTRACT), deps(browser, notes))
    assert outcome.error is not None
    assert outcome.error.code == "page_missing"
    assert outcome.reason.startswith(f"{outcome.error.message}; no screenshot: ")


@pytest.mark.parametrize("nth", range(1, 8))
async def test_whatever_call_into_the_browser_breaks_the_end_is_an_outcome(nth: int) -> None:
    item = LoopItem(0, f"{URL}0", is_link=True)
    for one in (work(loop=LOOP, extract=EXTRACT), replace(work(depth=1, loop=LOOP, extract=EXTRACT), item=item)):
        browser, notes = FakeBrowser(shop(2), break_nth=nth), Notes()
        outcome = await session.run(one, deps(browser, notes))
        assert outcome.status in (Status.FAILED, Status.COMPLETED, Status.WAITING)
        assert outcome.status is not Status.FAILED or (outcome.error and outcome.error.code == "page_crashed")
        assert browser.open == 0


async def test_an_observation_says_how_long_its_session_has_lasted() -> None:
    context = await FakeBrowser({URL: FakePage()}).new_context(ContextOptions())
    await context.goto(URL)
    state = SessionState(work(extract=EXTRACT).spec, None, None, context, began=time.monotonic() - 5)
    seen = await state.observe()
    assert 5 <= seen.elapsed_s < 60
