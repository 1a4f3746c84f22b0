"""Records that are known to be missing from a session's list."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.agent.sessions.loops.shortfall import incomplete, nothing_read
from shoal.agent.status import Status
from shoal.agent.types import Incomplete, Task, TaskType


def done(kind: TaskType, **result: Any) -> Task:
    return Task(kind, "read", Status.COMPLETED, result=result)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([done("extract", records=57, complete=True, shown=57)], None),
        ([done("extract", records=10, complete=False, shown=57, why="no link")], Incomplete(10, 57, "no link")),
        ([done("extract", records=10, complete=False)], Incomplete(10, None)),
        ([done("extract", records=10, complete=False, shown=20), done("extract", records=10, complete=True)], None),
        ([done("extract", records=0, complete=False, shown=120)], Incomplete(0, 120)),
        ([done("extract", records=0, complete=False, why="no list")], Incomplete(0, None, "no list")),
        ([done("extract", records=0, complete=True, empty=True)], None),
        (
            [done("extract", records=9, left_out=1, complete=True)],
            Incomplete(9, 10, "1 record does not fit the schema"),
        ),
        ([done("loop", expected=60)], None),
        ([done("loop", expected=60, shown=120)], Incomplete(60, 120)),
        ([done("loop", expected=60, shown=120, limited=True)], None),
        ([done("loop", expected=60, cut="it goes on")], Incomplete(60, None, "it goes on")),
        ([], None),
    ],
)
def test_what_a_list_lacks(tasks: list[Task], expected: Incomplete | None) -> None:
    assert incomplete(tasks, many=True) == expected


def test_one_record_is_no_part_of_a_list() -> None:
    assert incomplete([done("extract", records=1, complete=False, shown=57)], many=False) is None


@pytest.mark.parametrize(
    ("tasks", "records", "asked", "last"),
    [
        ([done("extract", records=0, complete=False, why="no list")], 0, True, "no list"),
        ([done("extract", records=0, complete=True, why="none fits")], 0, True, "none fits"),
        ([done("extract", records=0, complete=True, empty=True)], 0, True, None),
        ([done("extract", records=9, complete=True), done("extract", records=0, complete=False)], 9, True, None),
        ([done("loop", expected=60)], 0, True, None),
        ([], 0, True, ""),
        ([], 0, False, None),
        ([done("extract", records=0, complete=False, why="no list")], 0, False, "no list"),
    ],
)
def test_no_record_is_known_from_a_list_that_is_empty(
    tasks: list[Task], records: int, asked: bool, last: str | None
) -> None:
    """A session without a record that was to read some has failed; no more so where its items read them."""
    told = nothing_read(tasks, records, asked=asked)
    assert (None if told is None else told.get("why", "")) == last
