"""Seconds for which queues wait to be served."""

from __future__ import annotations

from shoal.services.dispatch.scheduling.fair_queue import UnservedPartitions
from shoal.services.store.records import Partition


def test_the_age_of_a_queue_begins_anew_when_it_is_served() -> None:
    queues = UnservedPartitions()
    assert queues.longest_s(90.0) == 0
    queues.ready([_partition(1), _partition(2)], 100.0)
    assert queues.longest_s(130.0) == 30
    queues.served(1, 7, 130.0)
    assert queues.longest_s(140.0) == 40
    queues.served(2, 7, 135.0)
    assert queues.longest_s(150.0) == 20
    queues.ready([_partition(1), _partition(3)], 155.0)  # told again, it does not wait anew
    assert queues.longest_s(160.0) == 30
    queues.empty(1, 7)
    assert queues.longest_s(160.0) == 25
    queues.empty(2, 7)
    assert queues.longest_s(160.0) == 5
    queues.empty(3, 7)
    assert queues.longest_s(170.0) == 0


def test_what_was_claimed_from_an_empty_queue_does_not_wait() -> None:
    queues = UnservedPartitions()
    queues.ready([_partition(1)], 10.0)
    queues.empty(1, 7)
    queues.served(1, 7, 20.0)
    assert queues.longest_s(30.0) == 0


def _partition(job: int) -> Partition:
    return Partition(job=job, tenant="t", domain=7, host="x.example", priority=0, cursor=0)
