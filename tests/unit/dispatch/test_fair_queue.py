"""Fair order over tenants, jobs and domains."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from hypothesis import given
from hypothesis import strategies as st

from shoal.services.dispatch.scheduling.fair_queue import FairQueue, Scarce, Shares
from shoal.services.store.records import Partition


def partition(tenant: str, job: int, domain: int = 1, priority: int = 0, cursor: int = 0) -> Partition:
    return Partition(job, tenant, domain, f"h{domain}.example", priority, cursor)


def test_tenants_take_turns_whatever_the_number_of_their_jobs() -> None:
    partitions = FairQueue()
    partitions.add([partition("big", job, domain=job) for job in range(1, 101)] + [partition("small", 200, domain=200)])

    requests = partitions.choose(10, lambda _: 100)

    taken = Counter("small" if take.job == 200 else "big" for take in requests for _ in range(take.n))
    assert taken == {"big": 5, "small": 5}


def test_tenants_are_served_by_their_weights() -> None:
    partitions = FairQueue({"gold": 3.0})
    partitions.add([partition("gold", 1, domain=1), partition("tin", 2, domain=2)])

    taken = Counter[int]()
    for _ in range(40):
        taken.update({take.job: take.n for take in partitions.choose(1, lambda _: 1)})

    assert taken == {1: 30, 2: 10}


def test_a_weight_that_is_changed_holds_from_the_next_choice_on() -> None:
    partitions = FairQueue({"gold": 3.0})
    partitions.add([partition("gold", 1, domain=1), partition("tin", 2, domain=2)])

    def choices(rounds: int) -> Counter[int]:
        total = Counter[int]()
        for _ in range(rounds):
            total.update({take.job: take.n for take in partitions.choose(1, lambda _: 1)})
        return total

    assert choices(40) == {1: 30, 2: 10}
    partitions.set_weights({"tin": 3.0, "later": 4.0})
    assert choices(40) == {1: 10, 2: 30}
    partitions.add([partition("later", 3, domain=3)])
    assert choices(80) == {1: 10, 2: 30, 3: 40}


def test_slots_are_shared_by_time_not_by_the_number_of_sessions() -> None:
    took = {"long": 100.0, "short": 1.0}
    partitions = FairQueue({"long": 1.0, "short": 1.0})
    partitions.add([partition("long", 1, domain=1), partition("short", 2, domain=2)])
    tenants = {1: "long", 2: "short"}
    running: list[tuple[float, str, int]] = []  # when it ends
    spent = Counter[str]()
    now = 0.0
    while now < 5_000:
        for take in partitions.choose(20 - len(running), lambda _: 20):
            for _ in range(take.n):
                heappush(running, (now + took[tenants[take.job]], tenants[take.job], take.job))
        ends, tenant, job = heappop(running)
        now = ends
        partitions.ended(tenant, job, took[tenant])
        spent[tenant] += round(took[tenant]) if now > 500 else 0  # not before it is known what they take

    assert 0.45 < spent["short"] / spent.total() < 0.55


def test_sessions_that_take_no_time_are_shared_by_their_number() -> None:
    partitions = FairQueue()
    partitions.add([partition("a", 1, domain=1), partition("b", 2, domain=2)])
    for job, tenant in ((1, "a"), (2, "b")):
        partitions.ended(tenant, job, 0.0)

    assert {take.job: take.n for take in partitions.choose(10, lambda _: 10)} == {1: 5, 2: 5}


def test_jobs_of_one_tenant_take_turns_and_keep_the_turn_over_calls() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", job, domain=job) for job in (1, 2, 3)])

    order = [take.job for _ in range(6) for take in partitions.choose(1, lambda _: 100)]

    assert order == [1, 2, 3, 1, 2, 3]


def test_higher_priority_is_served_more_often_and_nobody_starves() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, domain=1), partition("t", 2, domain=2, priority=20)])

    assert {take.job: take.n for take in partitions.choose(50, lambda _: 100)} == {1: 10, 2: 40}


def test_a_priority_that_is_changed_holds_from_the_next_look_on() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, domain=1), partition("t", 2, domain=2)])
    assert {take.job: take.n for take in partitions.choose(10, lambda _: 100)} == {1: 5, 2: 5}

    partitions.add([partition("t", 2, domain=2, priority=20)])

    assert {take.job: take.n for take in partitions.choose(50, lambda _: 100)} == {1: 10, 2: 40}


def test_a_full_domain_keeps_nobody_else_waiting_and_keeps_its_place() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, domain=1), partition("t", 2, domain=2)])

    assert [take.job for take in partitions.choose(5, lambda x: 0 if x.domain == 1 else 2)] == [2]
    assert [take.job for take in partitions.choose(1, lambda _: 1)] == [1]


def test_two_jobs_share_the_room_of_their_domain() -> None:
    partitions = FairQueue()
    partitions.add([partition("a", 1, domain=7), partition("b", 2, domain=7)])

    requests = partitions.choose(100, lambda _: 6)

    assert {take.job: take.n for take in requests} == {1: 3, 2: 3}


def test_a_tenant_that_comes_back_has_neither_credit_nor_is_its_debt_forgotten() -> None:
    partitions = FairQueue()
    partitions.add([partition("busy", 1, domain=1)])
    partitions.choose(100, lambda _: 100)
    partitions.add([partition("late", 2, domain=2)])

    assert {take.job: take.n for take in partitions.choose(10, lambda _: 100)} == {1: 5, 2: 5}

    taken = Counter[int]()
    for _ in range(20):  # a partition that is emptied and filled again each time gains nothing by it
        for take in partitions.choose(1, lambda _: 100):
            taken[take.job] += take.n
        partitions.drop(2, 2)
        partitions.add([partition("late", 2, domain=2)])
    assert taken == {1: 10, 2: 10}


def test_partitions_of_a_full_domain_are_opened_one_by_one_in_fair_order() -> None:
    partitions = FairQueue()
    partitions.add([partition("big", job, domain=7) for job in range(1, 50)])
    partitions.add([partition("small", 100, domain=7)])
    assert partitions.choose(10, lambda _: 0, freed=()) == []

    jobs = [take.job for _ in range(4) for take in partitions.choose(10, lambda _: 1, freed=[7])]

    assert len(jobs) == 4
    assert jobs.count(100) == 2


def test_a_parked_partition_is_left_alone_until_its_domain_is_freed() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, domain=7)])
    partitions.park(1, 7)

    assert partitions.choose(1, lambda _: 1, freed=()) == []
    assert [take.job for take in partitions.choose(1, lambda _: 1, freed=[7])] == [1]


def test_a_job_with_a_limit_of_its_own_does_not_keep_others_from_their_domain() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, domain=7), partition("t", 2, domain=7)])
    assert partitions.choose(9, lambda _: 0, freed=()) == []

    requests = partitions.choose(9, lambda x: 0 if x.job == 1 else 3, freed=[7])

    assert [(take.job, take.n) for take in requests] == [(2, 3)]


def test_what_waits_for_something_scarce_goes_on_when_there_is_some() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", job, domain=job) for job in (1, 2, 3)])
    assert partitions.choose(9, lambda _: 9, Scarce(lambda _: True, 0), freed=()) == []

    got = [
        take.job for _ in range(3) for take in partitions.choose(9, lambda _: 9, Scarce(lambda _: True, 1), freed=())
    ]

    assert sorted(got) == [1, 2, 3]


def test_a_partition_that_is_added_again_goes_back_to_the_lower_cursor() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1, cursor=0)])
    partitions.advance(1, 1, 50)
    partitions.add([partition("t", 1, cursor=20)])

    assert partitions.choose(1, lambda _: 1)[0].after == 20


def test_dropped_partitions_are_gone() -> None:
    partitions = FairQueue()
    partitions.add([partition("t", 1), partition("u", 2)])
    partitions.drop(1, 1)

    assert [x.job for x in partitions] == [2]
    assert partitions.tenants() == {"u": 1}
    partitions.drop(2, 1)
    assert len(partitions) == 0
    assert partitions.choose(5, lambda _: 5) == []


def test_a_choice_among_ten_thousand_jobs_does_not_look_at_all_of_them() -> None:
    partitions = FairQueue()
    partitions.add([partition(f"t{job % 200}", job, domain=job % 5000) for job in range(10_000)])
    asked = Counter[int]()

    def room(one: Partition) -> int:
        asked[one.job] += 1
        return 1

    partitions.choose(128, room, freed=())

    assert asked.total() == 128


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.integers(1, 4), st.integers(-1, 1)), max_size=20),
    st.integers(0, 30),
    st.lists(st.dictionaries(st.integers(1, 4), st.integers(0, 5)), min_size=1, max_size=4),
)
def test_never_more_than_the_budget_nor_than_any_domain_has_room_for(
    rows: list[tuple[str, int, int, int]], budget: int, calls: list[dict[int, int]]
) -> None:
    partitions = FairQueue()
    partitions.add(
        partition(tenant, ord(tenant) * 10 + job, domain, priority) for tenant, job, domain, priority in rows
    )

    for rooms in calls:
        requests = partitions.choose(budget, lambda x, rooms=rooms: rooms.get(x.domain, 0))  # type: ignore[misc]

        per_domain: Counter[int] = Counter()
        for take in requests:
            per_domain[take.domain] += take.n
        assert all(n <= rooms.get(domain, 0) for domain, n in per_domain.items())
        possible = sum(rooms.get(domain, 0) for domain in {x.domain for x in partitions})
        assert sum(take.n for take in requests) == min(budget, possible)


def test_tenants_that_went_away_are_forgotten_and_come_back_with_neither_credit_nor_debt() -> None:
    partitions = FairQueue()
    partitions.add([partition("served", 1, domain=1), partition("stays", 2, domain=2)])
    partitions.choose(90, lambda one: 99 if one.job == 1 else 0)  # the other one has no room
    partitions.drop(1, 1)
    for number in range(10, 3_010):  # tenants that pass by
        partitions.add([partition(f"passing-{number}", number, domain=number)])
        assert [take.job for take in partitions.choose(1, lambda one: 9 if one.job > 2 else 0, freed=())] == [number]
        partitions.park(number, number)  # a trace of it stays where it was parked
        partitions.drop(number, number)

    assert partitions.remembered < 1_100
    assert partitions.tenants() == {"stays": 1}
    partitions.add(
        [partition("served", 1, domain=1), partition("passing-10", 10, domain=10), partition("new", 5_000, domain=5)]
    )
    order = [take.job for _ in range(40) for take in partitions.choose(1, lambda _: 9)]
    assert all(9 <= order.count(job) <= 11 for job in (1, 2, 10, 5_000)), Counter(order)


def test_a_tenant_that_holds_its_share_gets_nothing_more_whatever_is_free() -> None:
    partitions = FairQueue()
    partitions.add([partition("big", job, domain=job) for job in range(1, 101)] + [partition("small", 200, domain=200)])

    requests = partitions.choose(10, lambda _: 100, shares=Shares(4, Counter(big=1)))

    taken = Counter("small" if take.job == 200 else "big" for take in requests for _ in range(take.n))
    assert taken == {"big": 3, "small": 4}
    assert partitions.choose(10, lambda _: 100, shares=Shares(4, Counter(big=4, small=4))) == []
    (request,) = partitions.choose(10, lambda _: 100, shares=Shares(4, Counter(big=3, small=4)))
    assert request.n == 1


def test_what_a_tenant_at_its_share_has_parked_takes_nobodys_place_and_is_not_forgotten() -> None:
    partitions = FairQueue()
    partitions.add([partition("big", job, domain=7) for job in range(1, 51)])
    partitions.choose(5, lambda _: 0)  # the domain is full: all are parked
    partitions.add([partition("small", 200, domain=7)])
    partitions.choose(5, lambda _: 0)

    (request,) = partitions.choose(1, lambda _: 3, freed=[7], shares=Shares(2, Counter(big=2)))
    assert request.job == 200

    # The domain has room still, and nothing says so again: that the tenant holds less is enough.
    (request,) = partitions.choose(1, lambda _: 3, freed=(), shares=Shares(2, Counter(big=1, small=2)))
    assert request.job < 200


@given(
    moves=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.integers(0, 3)), max_size=60),
    most=st.integers(1, 4),
)
def test_no_tenant_ever_holds_more_than_its_share_and_none_starves(
    moves: list[tuple[str, int, int]], most: int
) -> None:
    """Sessions begin and end in any order, on domains with and without room."""
    partitions, held, running = FairQueue(), Counter[str](), list[str]()
    names = {1: "a", 2: "b", 3: "c"}
    partitions.add([partition(name, job, domain=domain) for job, name in names.items() for domain in (job, 9)])
    for _, budget, ended in moves:
        for _ in range(min(ended, len(running))):
            held[running.pop(0)] -= 1
        for take in partitions.choose(budget, lambda _: 2, freed=None, shares=Shares(most, Counter(held))):
            held[names[take.job]] += take.n
            running += [names[take.job]] * take.n
        assert max(held.values(), default=0) <= most
    held.clear()
    last = Counter[str]()
    for _ in range(3):
        for take in partitions.choose(30, lambda _: 30, shares=Shares(most, Counter(last))):
            last[names[take.job]] += take.n
    assert last == dict.fromkeys("abc", most)
