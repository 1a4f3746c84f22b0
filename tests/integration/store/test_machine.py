"""Random histories of the store on PostgreSQL."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests import postgres
from tests.store_machine import StoreMachine

HISTORIES = int(os.environ.get("TEST_SEEDS", "4"))  # `make test-fuzz` takes more
pytestmark = pytest.mark.timeout(600)  # beside other rings on two cores


def test_random_histories(postgres_server: str) -> None:
    class OnPostgres(StoreMachine):
        """Each history has a database of its own."""

        def __init__(self) -> None:
            self.database = postgres.database(postgres_server)
            self.url = self.database.__enter__()
            super().__init__()

        def teardown(self) -> None:
            try:
                super().teardown()
            finally:
                self.database.__exit__(None, None, None)

    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        OnPostgres,
        settings=settings(
            max_examples=HISTORIES, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
