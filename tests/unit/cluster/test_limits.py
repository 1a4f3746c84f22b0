"""Seconds that a start may take, and the advice where it took longer."""

from __future__ import annotations

import pytest

from shoal.agent.support.busy import limit_for
from shoal.services.cluster.limits import start_advice


@pytest.mark.parametrize(
    ("load", "cores", "limit_s"),
    [(0.0, 2, 180.0), (2.0, 2, 180.0), (8.0, 2, 720.0), (25.0, 2, 1440.0), (400.0, 2, 1440.0)],
)
def test_a_busy_machine_gets_as_much_longer_as_its_cores_are_shared(load: float, cores: int, limit_s: float) -> None:
    assert limit_for(180.0, load, cores) == limit_s


def test_a_start_that_failed_on_a_busy_machine_advises_to_end_other_programs() -> None:
    assert "load 25 on 2 cores" in start_advice(25.2, 2)
    assert "load 9 on 1 core)" in start_advice(9.0, 1)
    assert "shoal doctor" in start_advice(2.0, 2)
