"""Who gets the sessions of one claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from shoal.services.dispatch.scheduling.claimer import places_of


@dataclass
class Room:
    """What a claim looks at of a worker."""

    name: str
    free: int
    credit: int


def test_empty_slots_come_first_and_workers_take_turns() -> None:
    workers = [Room("a", 2, 4), Room("b", 1, 2), Room("c", 0, 1)]
    assert places_of(workers) == ["a", "b", "a", "a", "b", "c", "a"]  # type: ignore[arg-type]


def test_a_thousand_workers_are_served_in_pieces() -> None:
    places = places_of([Room(f"w{n}", 2, 10) for n in range(1000)])  # type: ignore[arg-type]
    assert len(places) == 1024
    assert max(Counter(places).values()) == 2, "no queue while others have empty slots"
