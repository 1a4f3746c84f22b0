"""Commands by which owners change and settle what runs, and look after webhooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from shoal.agent.types import Checkpoint
from shoal.services.store import ids
from shoal.services.store.jobs.sink_records import SinkEnd, SinkState
from tests.gateway_world import completed, failed, loop_of
from tests.unit.cli.conftest import Served, serve

Shoal = Callable[..., Result]


def test_change_sets_and_takes_away_limits(served: Served, shoal: Shoal) -> None:
    job = served.submit(loop={"values": ["a", "b"]})
    shown = json.loads(shoal("change", job, "--concurrency", "3", "--tokens", "50", "--json").stdout)
    assert (shown["concurrency"], shown["job_tokens"], shown["deadline_at"]) == (3, 50, None)
    told = shoal("change", job, "--tokens", "none", "--deadline", "90.5", "--priority", "-2")
    assert "concurrency 3" in told.stderr and "tokens none" in told.stderr and "priority -2" in told.stderr


def test_change_says_what_is_wrong(served: Served, shoal: Shoal) -> None:
    job = served.submit()
    assert "say what is to change" in shoal("change", job, code=2).stderr.lower()
    assert "write a whole number or none" in shoal("change", job, "--tokens", "many", code=2).stderr
    assert "concurrency" in shoal("change", job, "--concurrency", "0", code=2).stderr


def test_settle_shows_the_evidence_before_anything_is_said(served: Served, shoal: Shoal) -> None:
    served.submit()
    (work,) = served.do(served.world.claim())
    marked = Checkpoint(url="https://shop.example/pay", pending_action="click('pay')")
    assert served.do(served.world.store.checkpoint(work.session, work.fence, marked))
    served.do(served.world.store.expire_leases(owner="w1"))
    session = ids.session_id(work.session)
    shown = shoal("settle", session).stdout
    assert "is unsure" in shown and "click('pay')" in shown and "https://shop.example/pay" in shown
    assert "not 'maybe'" in shoal("settle", session, "maybe", code=2).stderr
    assert json.loads(shoal("settle", session, "done", "--json").stdout)["status"] == "completed"
    assert "not unsure" in shoal("settle", session, "retry", code=2).stderr


def test_retry_takes_a_job_or_one_session_of_it(served: Served, shoal: Shoal) -> None:
    job = served.submit(loop={"values": ["a", "b"]})
    served.do(served.world.run(loop_of(["a", "b"], lambda work: failed())))
    told = shoal("retry", "s2").stderr
    assert f"s2 of {job} is queued" in told
    assert "s2 is queued and cannot be retried" in shoal("retry", "s2", code=2).stderr
    served.do(served.world.run(loop_of(["a", "b"], lambda work: completed())))
    assert f"{job} completed in part: 2 items, 1 completed, 1 failed" in shoal("show", job).stdout
    assert f"{job} queued: 2 items, 1 completed" in shoal("retry", job).stderr


def test_a_sink_is_listed_and_written_again(served: Served, shoal: Shoal) -> None:
    job = served.submit(sinks=[{"http": {"url": "https://me.example/in"}}])
    served.do(served.world.run(lambda work: completed()))
    assert "waits to be written already" in shoal("sinks", "again", job, code=2).stderr
    (row,) = served.do(served.world.store.sinks.claim(1, lease_s=60, each=1))
    served.do(served.world.store.sinks.end(row, SinkEnd(SinkState.FAILED, error="HTTP 500")))
    listed = shoal("sinks", "list", job).stdout
    assert "https://me.example/in" in listed and "failed" in listed and "HTTP 500" in listed
    assert f"sink 0 (http, https://me.example/in) of {job} is waiting" in shoal("sinks", "again", job).stderr
    assert json.loads(shoal("sinks", "list", job, "--json").stdout)["state"] == "waiting"
    assert "has no sink 3" in shoal("sinks", "again", job, "3", code=2).stderr


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Served]:
    """A gateway that can set secrets."""
    yield from serve(monkeypatch, secrets_dir=tmp_path)


def test_a_secret_is_set_from_standard_input_and_never_shown(keeping: Served, shoal: Shoal, tmp_path: Path) -> None:
    told = [shoal("secrets", "set", "SHOP", "--domain", "shop.example", stdin="hunter2\n")]
    assert (tmp_path / "default" / "SHOP").read_text() == "hunter2"
    told.append(shoal("secrets", "list"))
    assert "https://shop.example" in told[-1].stdout
    told.append(shoal("secrets", "set", "SHOP", "--domain", "com", stdin="hunter2\n", code=2))
    assert "public suffix" in told[-1].stderr
    told.append(shoal("secrets", "set", "PIN", "--domain", "shop.example", stdin="4711\n"))
    assert "It is weak" in told[-1].stderr and "4711" not in told[-1].stderr
    assert "fewer than 6" in json.loads(shoal("secrets", "list", "--json").stdout.splitlines()[0])["weak"]
    shoal("secrets", "remove", "PIN")
    told.append(shoal("secrets", "remove", "SHOP"))
    assert shoal("secrets", "list", "--json").stdout == ""
    assert not any("hunter2" in one.stdout + one.stderr for one in told)


def test_a_site_is_limited_paused_and_opened(served: Served, shoal: Shoal) -> None:
    assert "are set" in shoal("sites", "limit", "shop.example", "--concurrency", "2", "--delay", "1.5").stderr
    assert "is paused" in shoal("sites", "pause", "shop.example", "--minutes", "5").stderr
    (site,) = [json.loads(line) for line in shoal("sites", "list", "--json").stdout.splitlines()]
    assert (site["concurrency"], site["delay_s"], site["paused"]) == (2, 1.5, True)
    assert "paused" in shoal("sites", "list").stdout
    shown = json.loads(shoal("sites", "resume", "shop.example", "--json").stdout)
    assert (shown["paused"], shown["concurrency"]) == (False, 2)
    assert (
        json.loads(shoal("sites", "limit", "shop.example", "--concurrency", "none", "--json").stdout)["delay_s"] == 1.5
    )
    assert "say what is to change" in shoal("sites", "limit", "shop.example", code=2).stderr.lower()
    assert "write a number" in shoal("sites", "limit", "shop.example", "--delay", "slow", code=2).stderr.lower()


def test_webhooks_are_listed_and_sent_again(served: Served, shoal: Shoal) -> None:
    served.submit(webhook={"url": "https://hooks.example/in"})
    served.do(served.world.run(lambda work: completed()))
    (delivery,) = [json.loads(line) for line in shoal("webhooks", "list", "--json").stdout.splitlines()]
    assert (delivery["state"], delivery["event"]) == ("waiting", "job.finished")
    assert delivery["id"] in shoal("webhooks", "list").stdout
    assert "1 sent again" in shoal("webhooks", "resend", delivery["id"]).stderr
    assert json.loads(shoal("webhooks", "resend", "--dead", "--json").stdout) == {"resent": 0}
    assert "name deliveries" in shoal("webhooks", "resend", code=2).stderr.lower()
    assert shoal("webhooks", "secret").stdout.startswith("whsec_")
