"""The number of workers to run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shoal.services.dispatch.workers.sizing import Load, Size, SizingBounds, desired, share

IDLE = Load(ready=0, running=0, workers=3, slots=10)
FREE = SizingBounds(least=1, most=100)


def test_the_pool_follows_the_backlog_with_some_headroom() -> None:
    assert desired(replace(IDLE, ready=150, running=50), FREE) == Size(22, "the backlog")


def test_an_idle_pool_shrinks_to_its_least() -> None:
    assert desired(IDLE, FREE) == Size(1, "the operator's least")
    assert desired(IDLE, SizingBounds(least=0, most=100)) == Size(0, "the backlog")


def test_no_more_workers_than_the_operator_allows() -> None:
    assert desired(replace(IDLE, ready=10**6), SizingBounds(most=7)) == Size(7, "the operator's limit")


def test_workers_that_the_model_server_could_not_feed_are_not_started() -> None:
    load = replace(IDLE, ready=1000, model_places=20, model_share=0.5)
    assert desired(load, FREE) == Size(5, "the model server")
    assert desired(replace(load, model_share=0.0), FREE).workers == 100


def test_no_more_workers_than_there_is_memory_for() -> None:
    load = replace(IDLE, ready=1000, worker_bytes=2e9, free_bytes=9e9)
    assert desired(load, FREE) == Size(7, "memory")
    assert desired(replace(load, free_bytes=0.0), FREE) == Size(3, "memory")


def test_a_small_dip_ends_no_worker() -> None:
    busy = replace(IDLE, workers=10, ready=60, running=20)
    assert desired(busy, FREE) == Size(10, "slack")
    assert desired(replace(busy, ready=0), FREE).workers < 10


@given(
    st.builds(
        Load,
        ready=st.integers(0, 10**6),
        running=st.integers(0, 10**5),
        workers=st.integers(0, 2000),
        slots=st.integers(1, 100),
        model_places=st.none() | st.integers(0, 1000),
        model_share=st.floats(0, 1),
    ),
    st.integers(1, 50),
)
def test_the_size_stays_within_its_bounds_and_more_backlog_never_means_fewer(load: Load, most: int) -> None:
    bounds = SizingBounds(least=1, most=most)
    size = desired(load, bounds)
    assert 1 <= size.workers <= most
    assert desired(replace(load, ready=load.ready * 2), bounds).workers >= size.workers


def test_what_is_ready_is_shared_by_the_slots_that_dispatchers_may_still_fill() -> None:
    assert share(100, mine=50, elsewhere=0) == 100
    assert share(100, mine=50, elsewhere=50) == 50
    assert share(100, mine=10, elsewhere=20) == 34, "rounded up: no session is left without a dispatcher"
    assert share(100, mine=0, elsewhere=20) == 0
    assert share(100, mine=0, elsewhere=0) == 100, "no dispatcher has room: the operator's limit says so"
