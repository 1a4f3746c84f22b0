"""A dispatcher's estimate of domains between two answers of the store."""

from __future__ import annotations

from shoal.agent.spec import PolitenessSpec
from shoal.services.dispatch.scheduling.domains import Domains
from shoal.services.store.records import ClaimRefusal
from shoal.services.store.waiting_causes import WaitingCause

PLAIN = PolitenessSpec()


def test_a_domain_takes_so_many_sessions_at_once_over_all_jobs() -> None:
    domains = Domains(3)
    domains.started(1, job=1, delay_s=0, now=0)
    domains.started(1, job=2, delay_s=0, now=0)

    assert domains.room(1, 3, PLAIN, 0) == 1
    domains.ended(1, 1)
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


def test_a_domain_is_worth_another_look_when_a_session_ends_or_a_wait_is_over() -> None:
    domains = Domains(8)
    domains.started(1, 1, 0, now=0)
    assert domains.freed(0) == set()
    domains.ended(1, 1)
    domains.refused(2, 1, ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 30, 4), now=0)

    assert domains.freed(1) == {1}
    assert domains.freed(29) == set()
    assert domains.next_change(29) == 1
    assert domains.freed(30) == {2}
    assert domains.next_change(30) is None


def test_a_pause_that_the_store_knows_of_holds_for_all_jobs() -> None:
    domains = Domains(8)
    domains.refused(1, 1, ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 30, 4), now=0)

    assert domains.room(1, 1, PLAIN, 29.9) == 0
    assert (domains.why(1, 1, PLAIN, 5), domains.blocked_s(1, 1, 5)) == (WaitingCause.DOMAIN_PAUSE, 25)
    domains.freed(30)
    assert domains.room(1, 1, PLAIN, 30) == 8, "the store says if it is less"


def test_places_that_others_have_taken_are_asked_for_again_after_a_while() -> None:
    domains = Domains(8)
    domains.started(1, 1, 0, now=0)
    domains.refused(1, 1, ClaimRefusal(WaitingCause.DOMAIN_LIMIT, 1, 1), now=0)

    assert domains.room(1, 1, PLAIN, 0.5) == 0
    assert domains.why(1, 1, PLAIN, 0.5) == WaitingCause.DOMAIN_LIMIT
    assert domains.freed(1) == {1}
    assert domains.room(1, 1, PLAIN, 1) == 7


def test_one_job_s_delay_does_not_hold_back_others() -> None:
    domains = Domains(8)
    domains.refused(1, 1, ClaimRefusal(WaitingCause.DOMAIN_DELAY, 30, 8), now=0)

    assert domains.room(1, 2, PLAIN, 0) == 8


def test_domains_that_nothing_is_known_of_take_no_memory() -> None:
    domains = Domains(8)
    for domain in range(1, 1000):
        domains.started(domain, 1, 0, now=0)
        domains.ended(domain, 1)
    domains.freed(1)

    assert len(domains) == 0


def test_a_delay_is_told_to_the_job_that_keeps_it_with_its_time() -> None:
    domains = Domains(8)
    domains.started(1, job=1, delay_s=5, now=0)
    domains.refused(1, 2, ClaimRefusal(WaitingCause.DOMAIN_DELAY, 20, 8), now=0)  # by the site's own crawl-delay

    assert [(domains.why(1, job, PLAIN, 2), domains.blocked_s(1, job, 2)) for job in (1, 2, 3)] == [
        (WaitingCause.DOMAIN_DELAY, 3),
        (WaitingCause.DOMAIN_DELAY, 18),
        (None, 0),
    ]
    assert (domains.why(1, 1, PLAIN, 5), domains.why(1, 2, PLAIN, 20)) == (None, None)


def test_the_places_of_several_domains_are_those_that_are_left() -> None:
    domains = Domains(8)
    domains.started(1, job=1, delay_s=0, now=0)
    domains.refused(2, 1, ClaimRefusal(WaitingCause.DOMAIN_PAUSE, 30, 4), now=0)
    domains.refused(3, 1, ClaimRefusal(WaitingCause.DOMAIN_LIMIT, 1, 2), now=0)

    assert domains.places([1, 1, 2, 3, 4], now=1) == 7 + 0 + 2 + 8
    assert domains.places([2], now=31) == 4


def test_a_job_that_asks_for_fewer_places_waits_for_the_domain_when_it_has_them_all() -> None:
    domains, one_at_a_time = Domains(8), PolitenessSpec(per_domain=1)
    domains.started(1, job=1, delay_s=0, now=0)

    assert domains.why(1, 1, one_at_a_time, 0) == WaitingCause.DOMAIN_LIMIT
    assert domains.why(1, 1, PLAIN, 0) == domains.why(1, 2, one_at_a_time, 0) is None


def test_places_that_another_dispatcher_has_taken_are_what_a_refused_partition_waits_for() -> None:
    domains = Domains(8)
    domains.refused(1, 1, ClaimRefusal(WaitingCause.DOMAIN_LIMIT, 1, 1), now=0)

    assert (domains.why(1, 1, PLAIN, 0.5), domains.why(1, 2, PLAIN, 0.5)) == (WaitingCause.DOMAIN_LIMIT, None)
    domains.freed(1)
    assert domains.why(1, 1, PLAIN, 1) is None, "it is asked for again"
    assert len(domains) == 0
