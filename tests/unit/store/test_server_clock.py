"""PostgreSQL's clock as several threads read it."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from shoal.services.store.database.database import ServerClock


class Server:
    """Says what time it is, and counts how often it was asked."""

    asked = 0

    def exec_driver_sql(self, query: str) -> Server:
        self.asked += 1
        return self

    def scalar_one(self) -> float:
        return 1_800_000_000.0


def test_a_step_of_this_machine_s_time_of_day_moves_no_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    server, clock, real = Server(), ServerClock(), time.time
    first = clock.now(cast("Connection", server))
    monkeypatch.setattr(time, "time", lambda *_: real() + 3600)
    assert clock.now(cast("Connection", server)) == pytest.approx(first, abs=5)
    assert server.asked == 1
    there: Any = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: there() + 120)
    assert clock.now(cast("Connection", server)) == pytest.approx(1_800_000_000.0, abs=5)
    assert server.asked == 2
