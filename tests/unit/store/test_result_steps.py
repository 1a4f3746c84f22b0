"""Result lines are read in steps: memory holds a few sessions, whatever they gave, and none is read without need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from shoal.services.store.read import reading
from shoal.services.web.results.retention import Retention
from tests.gateway_world import World as Gateway
from tests.gateway_world import completed, loop_of, world

TEXT = "x" * 1_000


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many sessions each statement read."""
    seen: list[int] = []
    ask = reading.result_sessions

    def noting(*args: Any, **options: Any) -> Sequence[Any]:
        rows = ask(*args, **options)
        seen.append(len(rows))
        return rows

    monkeypatch.setattr(reading, "result_sessions", noting)
    return seen


async def items(w: Gateway, n: int, records: int) -> str:
    """A final loop of `n` items with so many records of a kilobyte each."""
    values = [f"https://shop.example/{number}" for number in range(n)]
    job = await w.submit(loop={"values": values})
    await w.run(loop_of(values, lambda work: completed(*({"n": number, "text": TEXT} for number in range(records)))))
    return job


async def test_a_page_reads_no_more_sessions_than_hold_it(read: list[int]) -> None:
    async with world() as w:
        job = await items(w, 60, 50)
        page = await w.client.get(f"/v1/jobs/{job}/results", params={"limit": 40})
        assert len(page.text.splitlines()) == 40
        assert sum(read) <= 8


async def test_pages_in_the_middle_of_a_session_are_whole_and_in_order(read: list[int]) -> None:
    async with world() as w:
        job = await items(w, 12, 50)
        path, after, texts = f"/v1/jobs/{job}/results", {}, []
        while True:
            page = await w.client.get(path, params={"limit": 70, **after})
            texts.append(page.text)
            if "shoal-next" not in page.headers:
                break
            after = {"after": page.headers["shoal-next"]}
        assert "".join(texts) == (await w.client.get(path)).text
        assert max(len(text.splitlines()) for text in texts) == 70


async def test_steps_grow_while_outcomes_are_small_and_hold_few_that_are_large(
    read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world() as w:
        job = await items(w, 200, 1)
        path = f"/v1/jobs/{job}/results"
        assert len((await w.client.get(path)).text.splitlines()) == 200
        assert read == [8, 16, 32, 64, 80]
        read.clear()
        monkeypatch.setattr(reading, "_STEP_LENGTH", 5 * len(TEXT))
        assert len((await w.client.get(path, params={"limit": 100})).text.splitlines()) == 100
        assert max(read[1:]) <= 5


async def test_a_session_of_many_records_is_read_once_for_all_of_its_lines(read: list[int]) -> None:
    async with world() as w:
        job = await items(w, 3, 1_200)
        path = f"/v1/jobs/{job}/results"
        whole = (await w.client.get(path)).text
        assert len(whole.splitlines()) == 3_600
        assert sum(read) == 3
        read.clear()
        cursor = (await w.client.get(path, params={"limit": 1_000})).headers["shoal-next"]
        rest = await w.client.get(path, params={"after": cursor})
        assert rest.text.splitlines() == whole.splitlines()[1_000:]


async def test_an_archive_is_made_without_reading_a_session_twice(read: list[int]) -> None:
    async with world() as w:
        await items(w, 3, 1_200)
        await Retention(w.store, w.artifacts, default_days=0).run_once()
        assert sum(read) == 3
