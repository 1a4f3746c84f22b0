"""Jobs of which a part is done, from the session to the results: what is valid is kept, what is missing is told."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.spec import JobSpec
from shoal.agent.status import Status
from shoal.agent.types import Record
from shoal.services.store.records import IncompleteLists
from tests.cluster_world import world
from tests.doubles import FakePage
from tests.priced_parts import SCHEMA
from tests.worker_world import FakeParts, PlainPolicy

EXTRACT = {"schema": SCHEMA}
GOOD = [{"name": "a", "price": 1.0}, {"name": "b", "price": 2.0}]


class ListPolicy(PlainPolicy):
    """Reads the list that the page reads as."""

    async def extract(self, state: SessionState) -> Extraction:
        told: dict[str, Any] = await state.page.read("facts")
        records = tuple(Record(value) for value in told["records"])
        return Extraction(records, complete=told["complete"], shown=told.get("shown"), why=told.get("why", ""))


class ListParts(FakeParts):
    def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
        return ListPolicy()


def page(*records: Any, complete: bool = True, **told: Any) -> dict[str, FakePage]:
    said = {"records": list(records), "complete": complete, **told}
    return {"http://shop.example/": FakePage(read=said)}


async def test_valid_records_are_kept_beside_error_lines_for_the_others() -> None:
    async with world(page(GOOD[0], {"name": "no price"}, GOOD[1]), parts=ListParts) as here:
        job = await here.submit(extract=EXTRACT)
        row = await here.final(job)
        assert (row.status, row.is_partial, row.incomplete) == (Status.COMPLETED, True, IncompleteLists(1, 2, 3))
        lines = await here.store.results(job)
    assert [line.record.value if line.record else None for line in lines] == [*GOOD, None]
    (error,) = [line.error for line in lines if line.error is not None]
    assert error.code == "record_invalid"
    assert "price" in error.message and '"no price"' in error.message, "what was read of it"


async def test_a_list_that_is_not_whole_is_told_as_such() -> None:
    async with world(page(*GOOD, complete=False, shown=57, why="no way on"), parts=ListParts) as here:
        job = await here.submit(extract=EXTRACT)
        row = await here.final(job)
        assert (row.status, row.incomplete) == (Status.COMPLETED, IncompleteLists(1, 2, 57))
        outcome = (await here.store.session(row.root_session)).row.outcome
    assert outcome is not None and "no way on" in outcome.reason


@pytest.mark.parametrize(("empty", "status"), [(False, Status.FAILED), (True, Status.COMPLETED)])
async def test_no_record_at_all_is_a_failure_unless_the_list_is_said_to_be_empty(empty: bool, status: Status) -> None:
    class EmptyPolicy(PlainPolicy):
        async def extract(self, state: SessionState) -> Extraction:
            return Extraction((), complete=empty, empty=empty)

    class EmptyParts(FakeParts):
        def policy(self, spec: JobSpec, *, leaf: bool = True) -> Policy:
            return EmptyPolicy()

    async with world(page(), parts=EmptyParts) as here:
        row = await here.final(await here.submit(extract=EXTRACT))
    assert (row.status, row.incomplete, row.is_partial) == (status, None, False)


async def test_a_job_with_failed_items_is_done_in_part() -> None:
    pages = {f"http://shop.example/{n}": FakePage(read={"records": GOOD, "complete": True}) for n in (1, 2)}
    bad = {"http://shop.example/3": FakePage(read={"records": [{"name": 5}], "complete": True})}
    async with world({**pages, **bad}, parts=ListParts) as here:
        job = await here.submit(extract=EXTRACT, loop={"values": [f"http://shop.example/{n}" for n in (1, 2, 3)]})
        row = await here.final(job)
    assert (row.status, row.counts.completed, row.counts.failed, row.is_partial) == (Status.COMPLETED, 2, 1, True)
