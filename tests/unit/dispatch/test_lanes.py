"""Fair order over tenants, jobs and domains."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.lanes import Lanes
from services.store.records import Lane


def lane(tenant: str, job: int, domain: int = 1, priority: int = 0, cursor: int = 0) -> Lane:
    return Lane(job, tenant, domain, f"h{domain}.example", priority, cursor)


def test_tenants_take_turns_whatever_the_number_of_their_jobs() -> None:
    lanes = Lanes()
    lanes.add([lane("big", job, domain=job) for job in range(1, 101)] + [lane("small", 200, domain=200)])

    takes = lanes.choose(10, lambda _: 100)

    taken = Counter("small" if take.job == 200 else "big" for take in takes for _ in range(take.n))
    assert taken == {"big": 5, "small": 5}


def test_jobs_of_one_tenant_take_turns_and_keep_the_turn_over_calls() -> None:
    lanes = Lanes()
    lanes.add([lane("t", job, domain=job) for job in (1, 2, 3)])

    order = [take.job for _ in range(6) for take in lanes.choose(1, lambda _: 100)]

    assert order == [1, 2, 3, 1, 2, 3]


def test_higher_priority_goes_first_within_a_tenant() -> None:
    lanes = Lanes()
    lanes.add([lane("t", 1, domain=1), lane("t", 2, domain=2, priority=5)])

    assert [(take.job, take.n) for take in lanes.choose(4, lambda _: 3)] == [(2, 3), (1, 1)]


def test_a_full_domain_keeps_nobody_else_waiting_and_keeps_its_place() -> None:
    lanes = Lanes()
    lanes.add([lane("t", 1, domain=1), lane("t", 2, domain=2)])

    assert [take.job for take in lanes.choose(5, lambda x: 0 if x.domain == 1 else 2)] == [2]
    assert [take.job for take in lanes.choose(1, lambda _: 1)] == [1]


def test_two_jobs_share_the_room_of_their_domain() -> None:
    lanes = Lanes()
    lanes.add([lane("a", 1, domain=7), lane("b", 2, domain=7)])

    takes = lanes.choose(100, lambda _: 6)

    assert {take.job: take.n for take in takes} == {1: 3, 2: 3}


def test_a_lane_that_is_added_again_goes_back_to_the_lower_cursor() -> None:
    lanes = Lanes()
    lanes.add([lane("t", 1, cursor=0)])
    lanes.advance(1, 1, 50)
    lanes.add([lane("t", 1, cursor=20)])

    assert lanes.choose(1, lambda _: 1)[0].after == 20


def test_dropped_lanes_are_gone_and_empty_tenants_with_them() -> None:
    lanes = Lanes()
    lanes.add([lane("t", 1), lane("u", 2)])
    lanes.drop(1, 1)

    assert [x.job for x in lanes] == [2]
    lanes.drop(2, 1)
    assert len(lanes) == 0
    assert lanes.choose(5, lambda _: 5) == []


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.integers(1, 4), st.integers(-1, 1)), max_size=20),
    st.integers(0, 30),
    st.dictionaries(st.integers(1, 4), st.integers(0, 5)),
)
def test_never_more_than_the_budget_nor_than_any_domain_has_room_for(
    rows: list[tuple[str, int, int, int]], budget: int, rooms: dict[int, int]
) -> None:
    lanes = Lanes()
    lanes.add(lane(tenant, ord(tenant) * 10 + job, domain, priority) for tenant, job, domain, priority in rows)

    takes = lanes.choose(budget, lambda x: rooms.get(x.domain, 0))

    assert sum(take.n for take in takes) <= budget
    per_domain: Counter[int] = Counter()
    for take in takes:
        per_domain[take.domain] += take.n
    assert all(n <= rooms.get(domain, 0) for domain, n in per_domain.items())
    possible = sum(rooms.get(domain, 0) for domain in {x.domain for x in lanes})
    assert sum(take.n for take in takes) == min(budget, possible)
