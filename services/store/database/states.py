"""The session table's states for statuses, and the two kinds of `queued` that cannot be claimed yet."""

from __future__ import annotations

import re
from enum import IntEnum

from shoal.agent.status import FINAL, RETRIED, Status
from shoal.services.store.records import DeliveryState


class State(IntEnum):
    """The `state` columns. Partial indexes are built on these numbers: never renumber."""

    QUEUED = 0
    RUNNING = 1
    WAITING = 2
    PAUSED = 3
    """Jobs only: sessions of a paused job stay as they are and are shown as paused."""
    COMPLETED = 4
    TERMINATED = 5
    FAILED = 6
    UNSURE = 7
    CANCELED = 8
    DELAYED = 9
    """Queued, and its `ready_at` lies ahead."""
    HELD = 10
    """Queued behind its loop's `concurrency`: a sibling that ends lets it go."""

    @property
    def status(self) -> Status:
        """Return what callers see."""
        return _SHOWN[self]

    @property
    def column(self) -> str:
        """Return where rows of jobs and of totals count the items that ended so."""
        return _COLUMNS[self]


_SHOWN = {state: Status.__members__.get(state.name, Status.QUEUED) for state in State}
_COLUMNS = {state: state.name.lower() for state in State}
QUEUED_STATES = (State.QUEUED, State.DELAYED, State.HELD)
FINAL_STATES = tuple(sorted(State[status.name] for status in FINAL))
RETRIED_STATES = tuple(sorted(State[status.name] for status in RETRIED))
DELIVERY_STATES = tuple(DeliveryState)
"""States of deliveries by the number in their column."""

_NAME = re.compile(r"\{([A-Z_]+)\}")
_NUMBERS = {state.name: str(state.value) for state in State} | {
    f"DELIVERY_{state.name}": str(number) for number, state in enumerate(DELIVERY_STATES)
}


def with_numbers(sql: str) -> str:
    """SQL with the numbers of states instead of their names: a partial index holds for statements with constants.

    Raises:
        KeyError: a name is no state.
    """
    return _NAME.sub(lambda match: _NUMBERS[match[1]], sql)


def state_of(status: Status) -> State:
    """The number of a status."""
    return State[status.name]


def states_of(status: Status) -> tuple[State, ...]:
    """Every state that is shown as `status`."""
    return tuple(state for state in State if state.status is status)
