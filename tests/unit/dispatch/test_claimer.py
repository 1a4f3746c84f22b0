"""Who gets the sessions of one claim."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from shoal.services.dispatch.config import DispatchConfig
from shoal.services.dispatch.dispatch_state import DispatchState
from shoal.services.dispatch.scheduling.claimer import places_of
from shoal.services.store.records import ClaimRequest, Claims, Partition
from tests.cluster_world import world
from tests.patience import soon


@dataclass
class Room:
    """The fields of a worker that a claim looks at."""

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


async def test_a_session_that_becomes_ready_while_a_claim_finds_nothing_is_claimed_next() -> None:
    """Its worker was lost after the store had answered the claim, and before the claimer had noted the answer."""
    async with world({}) as w:
        state = w.dispatcher._state
        requests: list[ClaimRequest] = []

        async def claim(places: list[str], takes: list[ClaimRequest], **_: object) -> Claims:
            requests.extend(takes)
            if len(requests) == 1:
                state.ready([_partition(10)])
            return Claims((), {}, ())

        w.store.claim = claim  # type: ignore[method-assign]
        state.ready([_partition(30)])
        async with soon(28):
            while len(requests) < 2:
                await asyncio.sleep(0.01)
        assert [request.after for request in requests[:2]] == [30, 10]


async def test_a_claim_s_answer_does_not_hide_a_session_that_became_ready_meanwhile() -> None:
    state = DispatchState.of(DispatchConfig())
    state.ready([_partition(30)])
    with state.claiming():
        state.ready([_partition(10)])
        state.partitions.advance(7, 3, 40)
    (request,) = state.partitions.choose(1, lambda partition: 1)
    assert request.after == 10


def _partition(cursor: int) -> Partition:
    return Partition(7, "default", 3, "shop.example", 0, cursor)
