"""Records in a tab of a spreadsheet, at a played Sheets API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.services.sinks.sheets import SheetsTarget
from shoal.services.store.jobs.sink_records import SinkState
from tests.played_sheets import PlayedSheets, played_sheets
from tests.sink_world import SinkWorld, product, sink_world

NAMES = ["sku", "price", "stock", "new", "since", "tags", "seller.name", "seller.score"]


def of(w: SinkWorld, service: PlayedSheets, tab: str = "Sheet1", site: str = "") -> dict[str, Any]:
    account = w.secret("GOOGLE", service.account(), site or service.url)
    return {"sheets": {"spreadsheet": "the-spreadsheet", "tab": tab, "account": account}}


def line(number: int) -> list[Any]:
    """The cells of `product(number)`."""
    return [f"A{number}", number + 0.99, number, number % 2 == 0, "2026-11-28", '["a","b"]', "=1+1", 4.5]


async def test_the_tab_holds_the_newest_job_s_records_as_they_are(tmp_path: Path) -> None:
    async with played_sheets() as service, sink_world(tmp_path, google=service.url) as w:
        older = await w.job([of(w, service)], [product(n) for n in range(5)])
        await w.until(older, SinkState.DONE)
        assert service.tabs["Sheet1"].values() == [NAMES, *(line(n) for n in range(5))]
        newer = await w.job([of(w, service)], [product(9)])
        await w.until(newer, SinkState.DONE)
        assert service.tabs["Sheet1"].values() == [NAMES, line(9)]
        await w.gateway.store.sinks.again(older, 0)
        row = await w.until(older, SinkState.SKIPPED)
        assert row.error == "the records of a newer job stand there"
        assert service.tabs["Sheet1"].values() == [NAMES, line(9)]


async def test_a_tab_is_made_and_grows_with_what_it_has_to_hold(tmp_path: Path) -> None:
    async with played_sheets() as service, sink_world(tmp_path, google=service.url) as w:
        service.tabs["Sheet1"].rows = service.tabs["Sheet1"].columns = 2
        job = await w.job([of(w, service), of(w, service, "Made now")], [product(n) for n in range(20)])
        for nth in range(2):
            await w.until(job, SinkState.DONE, nth)
        assert service.tabs["Sheet1"].values() == service.tabs["Made now"].values()
        assert len(service.tabs["Sheet1"].values()) == 21


async def test_a_quota_that_is_used_up_delays_the_rest_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SheetsTarget, "batch_records", 4)
    monkeypatch.setattr("shoal.services.sinks.writer.PAUSES_S", (0.01,))  # one that comes on may fail again and again
    async with played_sheets() as service, sink_world(tmp_path, google=service.url) as w:
        service.answers = [200, 200, 429, 200, 429, 200, 503]
        job = await w.job([of(w, service)], [product(n) for n in range(20)])
        row = await w.until(job, SinkState.DONE)
        assert row.attempts == 4
        assert service.tabs["Sheet1"].values() == [NAMES, *(line(n) for n in range(20))]
        assert len([call for call in service.calls if call.endswith(":clear")]) == 1


async def test_what_google_refuses_is_told_and_the_key_is_not(tmp_path: Path) -> None:
    async with played_sheets() as service, sink_world(tmp_path, google=service.url) as w:
        sink = of(w, service)
        sink["sheets"]["spreadsheet"] = "another-one"
        row = await w.failing(await w.job([sink], [product(1)]))
        assert row.error == "Google: HTTP 404: Requested entity was not found."
        row = await w.failing(await w.job([of(w, service, site="other.example")], [product(1)]))
        assert "is bound to https://other.example" in row.error and "PRIVATE" not in row.error
        w.secret("GOOGLE", "no JSON", service.url)
        row = await w.failing(await w.job([{"sheets": {**sink["sheets"], "tab": "T"}}], [product(1)]))
        assert "secret:GOOGLE is no key of a service account" in row.error
