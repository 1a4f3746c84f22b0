"""`shoal schedules …`, and the same from Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from tests.unit.cli.conftest import Served

Shoal = Callable[..., Result]
PRICES = {"name": "prices", "cron": "0 7 * * *", "job": {"url": "https://shop.example/", "goal": "read it"}}


def test_a_schedule_is_put_listed_shown_commanded_and_deleted(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    assert "prices runs next: 20" in shoal("schedules", "put", str(tmp_path / "prices.json")).stderr
    (listed,) = [json.loads(line) for line in shoal("schedules", "list", "--json").stdout.splitlines()]
    assert (listed["name"], len(listed["next"]), listed["spec"]) == ("prices", 5, PRICES)
    assert "0 7 * * * UTC" in shoal("schedules", "list").stdout
    assert json.loads(shoal("schedules", "show", "prices").stdout) == PRICES
    assert "never: it is paused" in shoal("schedules", "pause", "prices").stderr
    assert "paused" in shoal("schedules", "list").stdout
    shoal("schedules", "fire", "prices", code=2)
    shoal("schedules", "resume", "prices")
    shoal("schedules", "fire", "prices")
    assert shoal("schedules", "runs", "prices", "--json").stdout == ""
    made = shoal("schedules", "key", "prices", "the sheet", "--days", "30")
    assert made.stdout.startswith("shoal_") and "/v1/schedules/prices/results and nothing else" in made.stderr
    (key,) = [json.loads(line) for line in shoal("schedules", "keys", "prices", "--json").stdout.splitlines()]
    assert (key["name"], key["used_at"]) == ("the sheet", None) and key["expires_at"] is not None
    assert "the sheet" in shoal("schedules", "keys", "prices").stdout
    assert "is revoked" in shoal("schedules", "revoke", "prices", str(key["id"])).stderr
    assert "has no key" in shoal("schedules", "revoke", "prices", str(key["id"]), code=2).stderr
    assert shoal("schedules", "keys", "prices", "--json").stdout == ""
    assert "deleted" in shoal("schedules", "delete", "prices").stderr
    shoal("schedules", "show", "prices", code=2)


def test_what_cannot_be_read_or_be_is_wrong_usage(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    assert "must be a JSON object with `name`" in shoal("schedules", "put", str(tmp_path / "a.json"), code=2).stderr
    assert "cannot be read as JSON" in shoal("schedules", "put", str(tmp_path / "none.json"), code=2).stderr
    (tmp_path / "b.json").write_text(json.dumps(PRICES | {"cron": "0 7 * *"}))
    assert "it needs 5" in shoal("schedules", "put", str(tmp_path / "b.json"), code=2).stderr


def test_whom_a_tenant_tells_is_shown_and_set(served: Served, shoal: Shoal, tmp_path: Path) -> None:
    assert "tells no people" in shoal("notify", "show").stderr
    people = tmp_path / "people.json"
    people.write_text(json.dumps([{"by": "slack", "to": "https://chat.example/in", "events": ["job.finished"]}]))
    assert "https://chat.example/in" in shoal("notify", "set", str(people)).stdout
    (told,) = json.loads(shoal("notify", "show", "--json").stdout)["notify"]
    assert (told["by"], told["events"]) == ("slack", ["job.finished"])
    for wrong, said in (
        ('{"by": "slack"}', "must be a JSON list"),
        ('[{"by": "fax", "to": "1"}]', "notify[0].by"),
        ("[", "cannot be read as JSON"),
    ):
        people.write_text(wrong)
        assert said in shoal("notify", "set", str(people), code=2).stderr
    people.write_text("[]")
    assert "tells no people" in shoal("notify", "set", str(people)).stderr
