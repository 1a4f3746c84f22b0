"""SQL names states; the numbers come from one enum, and the columns of every database hold them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.services.store.database.queries import load, read
from shoal.services.store.database.states import DELIVERY_STATES, State, with_numbers

ROOT = Path(__file__).resolve().parents[3]
NUMBER = re.compile(r"\b(?:state|status)(?: \+ 0)? (?:=|<>|in) \(?\d")
STATES = {
    **{"QUEUED": 0, "RUNNING": 1, "WAITING": 2, "PAUSED": 3, "COMPLETED": 4, "TERMINATED": 5},
    **{"FAILED": 6, "UNSURE": 7, "CANCELED": 8, "DELAYED": 9, "HELD": 10},
}
"""Numbers of states in databases in use."""


def test_the_numbers_of_states_never_change() -> None:
    assert {state.name: state.value for state in State} == STATES
    assert [str(state) for state in DELIVERY_STATES] == ["waiting", "delivered", "dead"]


def test_no_statement_and_no_index_names_a_state_by_its_number() -> None:
    bare = [
        f"{file}: {query}"
        for file in ("common", "sqlite", "postgresql")
        for query, (_, sql) in read(file).items()
        if NUMBER.search(sql)
    ]
    assert bare == []
    assert not NUMBER.search((ROOT / "services/store/database/indexes.py").read_text())


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_databases_are_sent_numbers(dialect: str) -> None:
    queries = load(dialect)
    assert not [name for name, sql in queries.items() if re.search(r"\{[A-Z_]+\}", sql)]
    assert "state = 0" in queries["ready_count"]


def test_a_name_that_is_no_state_is_refused() -> None:
    assert with_numbers("state in ({QUEUED}, {DELIVERY_DEAD})") == "state in (0, 2)"
    with pytest.raises(KeyError):
        with_numbers("state = {QUEUD}")
