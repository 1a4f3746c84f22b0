"""Random histories of the store on SQLite."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.store_machine import StoreMachine

TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=3, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
