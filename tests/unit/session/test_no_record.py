"""Sessions that were to read records and have none: failed, unless their page says that its list is empty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.sessions.attempt import Attempt
from shoal.agent.status import Status
from tests.doubles import FakeBrowser, FakePage
from tests.unit.session.test_session import URL, Notes, deps, run, work
from tests.worker_world import PlainPolicy

RECORD = {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}
LIST = {"schema": {"type": "array", "items": RECORD}}
PAGES = {URL: FakePage(read=None)}


class Reads(PlainPolicy):
    """Reads one thing of each page."""

    def __init__(self, extraction: Extraction) -> None:
        self.extraction = extraction

    async def extract(self, state: SessionState) -> Extraction:
        return self.extraction


class Asks(Reads):
    """The same as a policy that thinks."""

    instant = False


@pytest.mark.parametrize("policy", [Reads, Asks])
@pytest.mark.parametrize(
    "extraction",
    [
        Extraction((), complete=True, missing=("name", "price")),
        Extraction((), complete=False, missing=("name", "price"), shown=57),
        Extraction((), complete=False, why="the page shows no list whose entries state name, price"),
    ],
)
async def test_a_list_without_a_record_is_a_failed_session(policy: type[Reads], extraction: Extraction) -> None:
    outcome, _, _ = await run(work(extract=LIST), PAGES, policy=policy(extraction))
    assert (outcome.status, outcome.records) == (Status.FAILED, ())
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("fields_missing", False)
    assert "name, price" in outcome.error.message


async def test_what_was_waited_for_in_vain_may_come_in_another_attempt() -> None:
    awaited = "waited 8.0 s for aria-busy"
    outcome, _, _ = await run(work(extract=LIST), PAGES, policy=Reads(Extraction((), awaited=awaited)))
    assert outcome.error is not None
    assert outcome.error.retryable
    assert awaited in outcome.error.message


async def test_a_list_that_is_shown_to_be_empty_is_completed() -> None:
    outcome, _, _ = await run(work(extract=LIST), PAGES, policy=Reads(Extraction((), empty=True)))
    assert (outcome.status, outcome.incomplete) == (Status.COMPLETED, None)


async def test_a_session_that_reads_nothing_at_all_has_no_record_either() -> None:
    class Forgets(PlainPolicy):
        async def plan(self, state: SessionState) -> Any:
            return replace(await super().plan(state), task_type=None, user_goal_achieved=True)

    outcome, _, _ = await run(work(extract=LIST), PAGES, policy=Forgets())
    assert outcome.error is not None
    assert outcome.error.code == "fields_missing"


@pytest.mark.parametrize(("attempt", "last"), [(1, False), (2, False), (3, True), (4, True)])
async def test_the_last_attempt_knows_that_no_other_follows(attempt: int, last: bool) -> None:
    one = replace(work(extract=LIST), attempt=attempt)
    assert Attempt(one, deps(FakeBrowser({}), Notes())).state.is_last_attempt is last
