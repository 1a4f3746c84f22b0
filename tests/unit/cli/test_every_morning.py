"""docs/how-to/every-morning.md, step by step: its schedule is handed in, and its commands do what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from shoal.agent.types import Outcome
from shoal.agent.worker_messages import Work
from shoal.services.web.schedules.scheduler import scheduler_of
from tests.gateway_world import completed
from tests.unit.cli.conftest import Served

Shoal = Callable[..., Result]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "every-morning.md"
PRODUCTS = [{"name": f"product {n}", "price": 10.0 + n} for n in range(200)]
LAYOUT_DAY = [{"name": record["name"]} for record in PRODUCTS]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.S | re.M)


def run_due(served: Served, records: list[dict[str, object]]) -> None:
    """A gateway fires what is due, workers end the run with these records, and it is judged."""

    async def work() -> None:
        scheduler = scheduler_of(served.world.deps)
        while not await scheduler.run_once():
            pass

        def answer(_: Work) -> Outcome:
            return completed(*records)

        await served.world.run(answer)
        await scheduler.run_once()

    served.do(work())


def test_the_page_is_run(served: Served, shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (spec,) = blocks("json")
    Path("every-morning.json").write_text(spec)
    hand_in, newest, changed = [[shlex.split(line)[1:] for line in text.splitlines()] for text in blocks("bash")]
    put, fire, runs = hand_in
    shoal(*put)
    for day in range(7):
        shoal(*fire)
        run_due(served, LAYOUT_DAY if day == 3 else PRODUCTS[day:])
    lines = [json.loads(line) for line in shoal(*runs, "--json").stdout.splitlines()][::-1]
    assert [bool(run["degraded"]) for run in lines] == [day == 3 for day in range(7)]
    assert [run["records"] for run in lines] == [200, 199, 198, 200, 196, 195, 194]
    (reason,) = lines[3]["degraded"]
    assert reason["text"] == "price: 0% of the records give it; 100% was usual"
    assert "price: 0% of the records give it" in shoal(*runs).stdout
    assert json.loads(shoal(*newest[0]).stdout)["job"] == lines[-1]["job"]
    for command in changed:
        shoal(*command)
    assert len(json.loads(shoal("schedules", "show", "prices", "--json").stdout)["next"]) == 5
