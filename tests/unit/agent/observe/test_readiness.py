"""Waits for pages that go on loading, by a clock of the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from shoal.agent.chromium.acting.settling import readiness
from shoal.agent.chromium.acting.settling.readiness import Readiness
from shoal.agent.chromium.acting.tab import Tab
from shoal.agent.support.json_value import Json

EMPTY = {"empty": True, "titled": False, "hollow": False, "names": [], "said": 0, "count": 0}
EMPTY |= {"scripted": True, "grown": 0.0, "nodes": 3}
FULL = {**EMPTY, "empty": False, "nodes": 90}
LIMIT_S = 10.0


class LoadingTab:
    """A tab whose page shows something once `shows_at` is over."""

    def __init__(self, clock: list[float], shows_at: float, *, answer_s: float = 0.0, open_until: float = 0.0) -> None:
        self._clock = clock
        self._shows_at = shows_at
        self._answer_s = answer_s  # that the page takes for an answer until then
        self._open_until = open_until  # a script is under way
        self.forgot = False

    async def read(self, script: str, arg: Json = None) -> Json:
        if self._clock[0] < self._shows_at:
            self._clock[0] += self._answer_s
        return EMPTY if self._clock[0] < self._shows_at else FULL

    def open_data(self) -> tuple[str, ...]:
        return ("http://site.example/app.js",) if self._clock[0] < self._open_until else ()

    async def traffic(self) -> LoadingTab:
        return self

    def forget_open(self) -> None:
        self.forgot = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    class _Time:
        monotonic: Callable[[], float] = staticmethod(lambda: now[0])

    monkeypatch.setattr(readiness, "time", _Time)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return now


async def waited(clock: list[float], **page: Any) -> tuple[str, float]:
    """Return what was still in progress, and how long the page was waited for."""
    began = clock[0]
    times = {name: value + began if name in ("shows_at", "open_until") else value for name, value in page.items()}
    tab, waits = LoadingTab(clock, **times), Readiness()
    waits.landed = True
    in_progress = await waits.come(lambda: cast(Tab, tab), LIMIT_S)
    assert tab.forgot, "what an action brings about is waited for without what was under way before"
    return in_progress, clock[0] - began


@pytest.mark.parametrize(
    ("page", "comes"),
    [
        ({"shows_at": 4.0}, True),
        ({"shows_at": 6.0}, False),  # nothing is at work there: it is blank
        ({"shows_at": 8.0, "open_until": 8.0}, True),
        ({"shows_at": 8.0, "answer_s": 1.0}, True),  # its scripts, or a busy machine
        ({"shows_at": 60.0, "open_until": 60.0, "answer_s": 1.0}, False),
    ],
)
async def test_a_blank_page_is_waited_for_while_something_is_at_work_and_not_without_end(
    clock: list[float], page: dict[str, float], *, comes: bool
) -> None:
    in_progress, seconds = await waited(clock, **page)
    assert (in_progress == "") == comes, in_progress
    assert seconds <= LIMIT_S + 2 * page.get("answer_s", 0.0) + readiness._POLL_S
