"""How gently domains are treated."""

from __future__ import annotations

from agent.spec import PolitenessSpec
from services.dispatch.domains import Domains

PLAIN = PolitenessSpec()


def test_a_domain_takes_so_many_sessions_at_once_over_all_jobs() -> None:
    domains = Domains(3)
    domains.started(1, job=1, delay_s=0, now=0)
    domains.started(1, job=2, delay_s=0, now=0)

    assert domains.room(1, 3, PLAIN, 0) == 1
    domains.ended(1, 1, busy_s=None, asked=True, now=1)
    assert domains.room(1, 3, PLAIN, 1) == 2
    assert domains.room(2, 3, PLAIN, 1) == 3


def test_a_job_may_ask_for_less_but_not_for_more() -> None:
    domains = Domains(3)
    assert domains.room(1, 1, PolitenessSpec(per_domain=2), 0) == 2
    assert domains.room(1, 1, PolitenessSpec(per_domain=20), 0) == 3


def test_a_delay_lets_one_session_start_at_a_time() -> None:
    domains, slow = Domains(5), PolitenessSpec(delay_s=2)
    assert domains.room(1, 1, slow, 10) == 1
    domains.started(1, 1, 2, now=10)

    assert domains.room(1, 1, slow, 11.9) == 0
    assert domains.next_change(11.5) == 0.5
    assert domains.room(1, 1, slow, 12) == 1
    assert domains.room(1, 2, PLAIN, 11.9) == 4  # another job on the same domain did not ask for it


def test_a_busy_site_rests_and_gets_half_as_much_afterwards() -> None:
    domains = Domains(8)
    domains.started(1, 1, 0, now=0)
    domains.ended(1, 1, busy_s=30, asked=True, now=0)

    assert domains.room(1, 1, PLAIN, 29.9) == 0
    assert domains.why(1, 5) == "the site asked for a pause"
    assert domains.room(1, 1, PLAIN, 30) == 4


def test_good_answers_bring_the_limit_back() -> None:
    domains = Domains(8)
    domains.ended(1, 1, busy_s=0, asked=True, now=0)
    for _ in range(20):
        domains.started(1, 1, 0, now=100)
        domains.ended(1, 1, busy_s=None, asked=True, now=100)

    assert domains.room(1, 1, PLAIN, 100) == 5


def test_sessions_that_never_asked_the_site_say_nothing_about_it() -> None:
    domains = Domains(8)
    domains.ended(1, 1, busy_s=0, asked=True, now=0)
    for _ in range(50):
        domains.started(1, 1, 0, now=100)
        domains.ended(1, 1, busy_s=None, asked=False, now=100)

    assert domains.room(1, 1, PLAIN, 100) == 4
