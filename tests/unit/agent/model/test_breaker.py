"""The circuit breaker, on a clock of the test's own."""

from __future__ import annotations

from shoal.agent.models.breaker import Breaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def broken(clock: Clock) -> Breaker:
    breaker = Breaker(failures=2, pause_s=10, clock=clock)
    for _ in range(2):
        assert breaker.wait_s() == 0
        breaker.begin()
        breaker.failed()
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    assert broken(Clock()).wait_s() == 10


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = Breaker(failures=2, pause_s=10, clock=Clock())
    for _ in range(5):
        breaker.begin()
        breaker.failed()
        breaker.begin()
        breaker.succeeded()
    assert breaker.wait_s() == 0


def test_after_the_pause_one_request_tries_while_the_others_wait() -> None:
    clock = Clock()
    breaker = broken(clock)
    clock.now = 10
    assert breaker.wait_s() == 0
    breaker.begin()
    assert breaker.wait_s() > 0
    breaker.succeeded()
    assert breaker.wait_s() == 0


def test_a_probe_that_fails_opens_it_again_at_once() -> None:
    clock = Clock()
    breaker = broken(clock)
    clock.now = 10
    breaker.begin()
    breaker.failed()
    assert breaker.wait_s() == 10


def test_a_probe_that_was_canceled_lets_the_next_one_try() -> None:
    clock = Clock()
    breaker = broken(clock)
    clock.now = 10
    breaker.begin()
    breaker.abandoned()
    assert breaker.wait_s() == 0
