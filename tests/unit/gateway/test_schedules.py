"""Schedules at a gateway: put, looked at, fired, and held against their history."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import Any

import pytest

from shoal.agent.error_info import ErrorInfo
from shoal.agent.status import Status
from shoal.agent.types import Outcome, Record
from shoal.agent.worker_messages import Work
from shoal.services.store.records import AuditFilter, DeliveryFilter
from shoal.services.store.schedules.keys import MOST_KEYS
from shoal.services.web.api.schedules.keys import ScheduleKeyBody, make_schedule_key
from shoal.services.web.http.api_keys import Caller, hash_key, make_key
from shoal.services.web.schedules import scheduler
from shoal.services.web.schedules.scheduler import FULL, scheduler_of
from tests.gateway_world import World, api_world
from tests.unit.gateway.test_workflows import ORDERS

PRICES = {
    "name": "prices",
    "cron": "0 7 * * *",
    "time_zone": "Europe/Berlin",
    "job": {"url": "https://shop.example/", "goal": "read it"},
}


@pytest.fixture
async def w() -> Any:
    async with api_world() as made:
        yield made


async def put(w: World, status: int = 201, **fields: Any) -> dict[str, Any]:
    answer = await w.client.post("/v1/schedules", json=PRICES | fields)
    assert answer.status_code == status, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def run_once(w: World, *records: Any, name: str = "prices") -> dict[str, Any]:
    """Fires a schedule now, ends its run with these records, and judges it; gives the run."""
    answer = await w.client.post(f"/v1/schedules/{name}/fire")
    assert answer.status_code == 200, answer.text
    running = scheduler_of(w.deps)
    while not await running.run_once():
        pass
    await w.run(lambda work: Outcome(Status.COMPLETED, records=tuple(Record(record) for record in records)))
    await running.run_once()
    run: dict[str, Any] = (await w.client.get(f"/v1/schedules/{name}/runs")).json()["runs"][0]
    return run


async def test_a_workflow_and_its_data_are_a_schedules_job(w: World) -> None:
    job = {"policy": "workflow:orders", "data": {"your_name": "Ben"}}
    refused = await put(w, 400, job=job)
    assert refused["errors"] == [{"field": "job.policy", "reason": "there is no workflow 'orders'"}]
    await w.client.post("/v1/workflows", json=ORDERS)
    await w.client.post("/v1/workflows/orders/versions/1/activate")
    assert (await put(w, job=job))["spec"]["job"] == job
    run = await run_once(w)
    spec = (await w.client.get(f"/v1/jobs/{run['job']}")).json()["spec"]
    assert (spec["url"], spec["data"]) == ("https://shop.example/new", {"your_name": "Ben"})


async def test_a_schedule_is_put_shown_and_listed_with_its_next_times(w: World) -> None:
    shown = await put(w)
    assert (shown["name"], shown["paused"], len(shown["next"])) == ("prices", False, 5)
    assert shown["spec"] == PRICES
    assert (await w.client.get("/v1/schedules/prices")).json() == shown
    changed = await put(w, 200, overlap="cancel")
    assert (changed["spec"]["overlap"], changed["next"]) == ("cancel", shown["next"])
    await put(w, name="b")
    page = (await w.client.get("/v1/schedules", params={"limit": 1})).json()
    assert ([one["name"] for one in page["schedules"]], page["next"]) == (["b"], "b")


async def test_secrets_of_its_job_are_not_shown(w: World) -> None:
    job = PRICES["job"] | {"data": {"password": "hunter2"}}  # type: ignore[operator]
    assert "hunter2" not in str(await put(w, job=job))
    row = await w.store.schedules.get("default", "prices")
    assert row.spec.job.data == {"password": "hunter2"}


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"cron": "0 7 * *"}, "body", "has 4 parts; it needs 5"),
        ({"time_zone": "Mars/Olympus"}, "time_zone", "is no IANA time zone"),
        ({"overlaps": "skip"}, "overlaps", "is not a field of a schedule; did you mean 'overlap'?"),
        ({"keep": "10"}, "keep", "must be a whole number"),
        ({"name": "No Name"}, "name", "match pattern"),
        ({"job": {"url": "https://shop.example/", "goal": "g", "gaol": "x"}}, "job.gaol", "is not a field of a job"),
        ({"job": {"url": "file:///etc/passwd", "goal": "g"}}, "job.url", "must start with http"),
        (
            {"job": {"url": "https://shop.example/", "goal": "g", "policy": "workflow:none"}},
            "job.policy",
            "there is no workflow 'none'",
        ),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    w: World, fields: dict[str, Any], field: str, reason: str
) -> None:
    answer = await w.client.post("/v1/schedules", json=PRICES | fields)
    assert answer.status_code == 400, answer.text
    (fault,) = answer.json()["errors"]
    assert fault["field"] == field and reason in fault["reason"]
    assert (await w.client.get("/v1/schedules")).json()["schedules"] == []


async def test_callers_may_not_take_the_keys_of_runs(w: World) -> None:
    body = PRICES["job"] | {"idempotency_key": "schedule:1:2026-11-28T06:00:00Z"}  # type: ignore[operator]
    answer = await w.client.post("/v1/jobs", json=body)
    assert answer.status_code == 400 and "must not begin with schedule:" in answer.text


async def test_commands_and_what_is_wrong_with_them(w: World) -> None:
    await put(w)
    assert (await w.client.post("/v1/schedules/prices/pause")).json()["next"] == []
    assert (await w.client.post("/v1/schedules/prices/fire")).status_code == 409
    assert len((await w.client.post("/v1/schedules/prices/resume")).json()["next"]) == 5
    assert (await w.client.post("/v1/schedules/prices/accept")).status_code == 409
    assert (await w.client.get("/v1/schedules/prices/runs", params={"cursor": "x"})).status_code == 400
    assert (await w.client.get("/v1/schedules/prices/runs/latest")).status_code == 404
    assert (await w.client.delete("/v1/schedules/prices")).status_code == 204
    for path in ("", "/runs", "/runs/latest"):
        assert (await w.client.get(f"/v1/schedules/prices{path}")).status_code == 404


async def test_each_route_needs_its_scope_and_changes_are_audited() -> None:
    async with api_world(auth=True) as w:
        keys = {scope: await w.key(scope, name=scope) for scope in ("read", "submit", "control")}
        needed = [
            ("POST", "/v1/schedules", "submit"),
            ("GET", "/v1/schedules", "read"),
            ("GET", "/v1/schedules/prices/runs", "read"),
            ("POST", "/v1/schedules/prices/pause", "control"),
            ("DELETE", "/v1/schedules/prices", "control"),
        ]
        for method, path, scope in needed:
            for held, key in sorted(keys.items(), key=lambda pair: pair[0] == scope):  # who may comes last
                answer = await w.client.request(
                    method, path, json=PRICES if path == "/v1/schedules" else None, headers=bearer(key)
                )
                assert (answer.status_code == 403) == (held != scope), (method, path, held)
        told = [(entry.actor, entry.action) for entry in await w.store.audit(AuditFilter())]
        assert told == [
            ("control", "DELETE /v1/schedules/{name}"),
            ("control", "POST /v1/schedules/{name}/pause"),
            ("submit", "POST /v1/schedules"),
        ]


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_a_run_that_gives_much_less_is_degraded_and_says_why(w: World) -> None:
    await put(w)
    shop = [{"name": f"p{i}", "price": 10.0 + i} for i in range(20)]
    first = await run_once(w, *shop)
    assert (first["records"], first["degraded"], first["status"]) == (20, [], "completed")
    broken = await run_once(w, *({"name": "Loading"} for _ in shop))
    assert [(one["kind"], one["field"]) for one in broken["degraded"]] == [("constant", "name"), ("given", "price")]
    assert (await w.client.get("/v1/schedules/prices/runs/latest")).json()["job"] == first["job"]
    newest = await w.client.get("/v1/schedules/prices/results")
    own = await w.client.get(f"/v1/jobs/{first['job']}/results")
    assert newest.content == own.content and newest.headers["shoal-job"] == first["job"]
    assert (await run_once(w, *shop))["degraded"] == []
    counted = w.deps.metrics.schedule_runs
    assert [counted.labels(name)._value.get() for name in ("started", "completed", "degraded")] == [3, 2, 1]


async def test_a_run_that_failed_is_told_by_its_status_and_is_no_measure(w: World) -> None:
    await put(w)
    await w.client.post("/v1/schedules/prices/fire")
    running = scheduler_of(w.deps)
    while not await running.run_once():
        pass

    def breaks(work: Work) -> Outcome:
        return Outcome(Status.FAILED, error=ErrorInfo("Broken", "broken", "it broke", retryable=False))

    await w.run(breaks)
    await running.run_once()
    (run,) = (await w.client.get("/v1/schedules/prices/runs")).json()["runs"]
    assert (run["status"], run["records"], run["degraded"]) == ("failed", None, [])
    assert w.deps.metrics.schedule_runs.labels("failed")._value.get() == 1


async def test_a_run_waits_while_the_tenant_has_too_much_waiting() -> None:
    async with api_world(tenant_queued=1) as w:
        await put(w)
        await w.submit()
        await w.client.post("/v1/schedules/prices/fire")
        running = scheduler_of(w.deps)
        while not await running.run_once():
            pass
        (run,) = (await w.client.get("/v1/schedules/prices/runs")).json()["runs"]
        assert (run["state"], run["why"], run["job"]) == ("queued", FULL, None)
        await w.run(lambda work: Outcome(Status.COMPLETED))
        fresh = scheduler_of(w.deps)  # counts the queue anew
        assert await fresh.run_once() == 1
        (run,) = (await w.client.get("/v1/schedules/prices/runs")).json()["runs"]
        assert run["state"] == "started" and run["job"] is not None


async def test_a_run_that_waited_for_its_turn_is_not_late(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(w, overlap="queue")
    machine = scheduler_of(w.deps)
    for _ in range(2):
        await w.client.post("/v1/schedules/prices/fire")
        while not await machine.run_once():
            pass
    states = [run["state"] for run in (await w.client.get("/v1/schedules/prices/runs")).json()["runs"]]
    assert states == ["queued", "started"]
    monkeypatch.setattr(scheduler, "LATE_S", -1.0)
    await w.run(lambda work: Outcome(Status.COMPLETED))
    assert await machine.run_once() == 1
    late = w.deps.metrics.schedule_runs.labels("late")
    assert late._value.get() == 0
    await w.client.post("/v1/schedules/prices/fire")
    while not await machine.run_once():
        pass
    assert late._value.get() == 1


async def test_times_that_are_skipped_and_missed_are_counted() -> None:
    ahead_s = [0.0]
    async with api_world(clock=lambda: time.time() + ahead_s[0]) as w:
        await put(w, cron=None, time_zone="UTC", every="1h")
        for hours in (1, 1, 5.5):
            ahead_s[0] += 3600 * hours + 1
            while not await scheduler_of(w.deps).run_once():
                pass
        counted = w.deps.metrics.schedule_runs
        told = {name: counted.labels(name)._value.get() for name in ("started", "skipped", "missed", "late")}
        assert told == {"started": 1, "skipped": 1, "missed": 5, "late": 0}


async def test_a_run_whose_job_is_refused_by_now_says_why(w: World) -> None:
    await put(w)
    row = await w.store.schedules.get("default", "prices")
    job = row.spec.job.model_copy(update={"policy": "workflow:gone"})
    await w.store.schedules.put("default", row.spec.model_copy(update={"job": job}))
    await w.client.post("/v1/schedules/prices/fire")
    while not await scheduler_of(w.deps).run_once():
        pass
    (run,) = (await w.client.get("/v1/schedules/prices/runs")).json()["runs"]
    assert run["state"] == "refused" and "there is no workflow 'gone'" in run["why"]


async def test_what_changed_since_the_last_good_run_is_told(w: World) -> None:
    w.names.table["hooks.example"] = ["93.184.216.34"]
    hook = {"url": "https://hooks.example/in", "events": ["records.changed"]}
    await put(w, job=PRICES["job"] | {"webhook": hook})  # type: ignore[operator]
    days = [[{"sku": n, "price": n} for n in range(10)]]
    days.append([{"sku": n, "price": n} for n in range(1, 10)] + [{"sku": 10, "price": 1}])
    days.append([{"sku": 99, "price": 1}])  # degraded: told as that alone
    days.append([{"sku": n, "price": n + (n == 3)} for n in range(1, 11)])
    jobs = [(await run_once(w, *records))["job"] for records in (*days, days[-1])]
    rows = await w.store.deliveries(DeliveryFilter())
    told = [json.loads(row.body) for row in rows][::-1]
    assert [(one["job"], one["since"]) for one in told] == [(jobs[1], jobs[0]), (jobs[3], jobs[1])]
    assert told[0]["changes"] == {"appeared": 1, "went": 1, "changed": 0, "unclear": 0}
    assert told[1]["changes"] == {"appeared": 0, "went": 0, "changed": 2, "unclear": 0}


async def test_a_key_of_a_schedule_reads_its_newest_results_and_nothing_else() -> None:
    async with api_world(auth=True) as w:
        operator = bearer(await w.key("read", "submit", "control", name="ops"))
        for name in ("prices", "stocks"):
            assert (await w.client.post("/v1/schedules", json=PRICES | {"name": name}, headers=operator)).is_success
            w.client.headers.update(operator)
            await run_once(w, {"name": f"from {name}"}, name=name)
        keys = "/v1/schedules/prices/keys"
        made = await w.client.post(keys, json={"name": "sheet", "days": 30})
        assert made.status_code == 201, made.text
        key, shown = made.json()["key"], (await w.client.get(keys)).json()["keys"]
        assert [(each["name"], "key" in each) for each in shown] == [("sheet", False)]
        w.client.headers.clear()
        held = bearer(key)
        read = await w.client.get("/v1/schedules/prices/results?columns=record", headers=held)
        assert (read.status_code, json.loads(read.text)) == (200, {"name": "from prices"})
        job = read.headers["shoal-job"]
        refused = [
            "/v1/schedules/stocks/results",
            *("/v1/schedules", "/v1/schedules/prices", "/v1/schedules/prices/runs", keys),
            *("/v1/jobs", f"/v1/jobs/{job}", f"/v1/jobs/{job}/results", f"/v1/jobs/{job}/changes", "/v1/status"),
            *("/v1/questions", "/v1/workflows", "/v1/webhooks", "/v1/notify"),
        ]
        for path in refused:
            answer = await w.client.get(path, headers=held)
            assert answer.status_code == 403, (path, answer.text)
        for method, path in (("POST", "/v1/jobs"), ("POST", keys), ("DELETE", "/v1/schedules/prices")):
            assert (await w.client.request(method, path, json={}, headers=held)).status_code == 403, path
        assert (await w.client.get(f"/v1/artifacts/{job}", headers=held)).status_code in (403, 404)

        number = made.json()["id"]
        assert (await w.client.delete(f"/v1/schedules/stocks/keys/{number}", headers=operator)).status_code == 404
        assert (await w.client.delete(f"{keys}/{number}", headers=operator)).status_code == 204
        row = await w.store.find_key(hash_key(key))
        assert row is not None and row.revoked_at is not None
        assert (await w.client.get(keys, headers=operator)).json()["keys"] == []


async def test_keys_of_schedules_are_bounded_and_end_with_their_schedule() -> None:
    async with api_world(auth=True) as w:
        alone = bearer(await w.key("control", name="alone"))
        w.client.headers.update(bearer(await w.key("read", "submit", "control", name="ops")))
        await put(w)
        keys = "/v1/schedules/prices/keys"
        assert (await w.client.post(keys, json={"name": "x"}, headers=alone)).status_code == 403, "it may not read"
        for body, field in (
            ({"name": ""}, "name"),
            ({"name": "x", "days": 0}, "days"),
            ({"name": "x", "for": 1}, "for"),
        ):
            answer = await w.client.post(keys, json=body)
            assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
        assert (await w.client.post("/v1/schedules/none/keys", json={"name": "x"})).status_code == 404
        asked = [w.client.post(keys, json={"name": f"key {n}"}) for n in range(MOST_KEYS + 5)]
        made = await asyncio.gather(*asked)  # at once: none is counted by what was there a moment ago
        assert Counter(answer.status_code for answer in made) == {201: MOST_KEYS, 409: 5}
        made = [answer for answer in made if answer.is_success]
        other = bearer(await w.key("read", "submit", "control", name="theirs", tenant="other"))
        assert (await w.client.get(keys, headers=other)).status_code == 404
        assert (await w.client.delete("/v1/schedules/prices")).status_code == 204
        await put(w)
        assert (await w.client.get(keys)).json()["keys"] == []
        answer = await w.client.get("/v1/schedules/prices/results", headers=bearer(made[0].json()["key"]))
        assert answer.status_code == 401, "it was of the schedule that is gone"
        told = [entry for entry in await w.store.audit(AuditFilter()) if entry.action.endswith("/keys")]
        assert "(key " in told[-1].detail and told[-1].subject == "prices"


async def test_a_key_of_a_schedule_is_one_of_that_schedule_and_not_of_its_name() -> None:
    async with api_world(auth=True) as w:
        w.client.headers.update(bearer(await w.key("read", "submit", "control", name="ops")))
        await put(w)
        row = await w.store.schedules.get("acme", "prices")
        key = (await w.client.post("/v1/schedules/prices/keys", json={"name": "sheet"})).json()["key"]
        held = await w.store.find_key(hash_key(key))
        assert held is not None and held.scopes == (f"schedule-results:{row.id}",)
        await w.store.schedules.drop("acme", "prices")
        await put(w)
        await run_once(w, {"sku": 1})
        left = bearer(await w.key(f"schedule-results:{row.id}", name="left by a race"))
        assert (await w.client.get("/v1/schedules/prices/results", headers=left)).status_code == 403
        assert (await w.client.get("/v1/schedules/prices/results")).status_code == 200


async def test_a_key_reads_nothing_of_a_schedule_that_takes_the_name_while_it_is_checked() -> None:
    async with api_world(auth=True) as w:
        w.client.headers.update(bearer(await w.key("read", "submit", "control", name="ops")))
        await put(w)
        key = bearer((await w.client.post("/v1/schedules/prices/keys", json={"name": "sheet"})).json()["key"])
        number_of, asked = w.store.schedules.number_of, []

        async def replaced_meanwhile(tenant: str, name: str) -> int | None:
            asked.append(name)
            number = await number_of(tenant, name)
            await w.store.schedules.drop(tenant, name)
            await put(w)
            await run_once(w, {"sku": 1})
            return number

        w.store.schedules.number_of = replaced_meanwhile  # type: ignore[method-assign]
        assert (await w.client.get("/v1/schedules/prices/results", headers=key)).status_code == 404
        assert (await w.client.get("/v1/schedules/prices/results")).status_code == 200
        assert asked == ["prices"], "who may read is not asked about"


async def test_a_key_of_a_schedule_does_not_outlast_the_key_that_made_it() -> None:
    async with api_world(auth=True) as w:
        ops = bearer(await w.key("read", "submit", "control", name="ops"))
        w.client.headers.update(ops)
        await put(w)
        text = make_key()
        maker = await w.store.create_key("week", "acme", ["read", "control"], hash_key(text), 7 * 86_400.0)
        keys = "/v1/schedules/prices/keys"
        answer = await w.client.post(keys, json={"name": "x", "days": 8}, headers=bearer(text))
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "days")
        assert "your own key expires in" in answer.json()["errors"][0]["reason"]
        for body, at_most in (({"days": 6.5}, 6.5), ({}, 7)):
            made = (await w.client.post(keys, json={"name": "x", **body}, headers=bearer(text))).json()
            row = await w.store.find_key(hash_key(made["key"]))
            assert row is not None and row.expires_at is not None and maker.expires_at is not None
            assert row.expires_at <= maker.expires_at and row.left_s <= at_most * 86_400
        made = (await w.client.post(keys, json={"name": "x"}, headers=ops)).json()
        row = await w.store.find_key(hash_key(made["key"]))
        assert row is not None and row.expires_at is None, "as its maker's does not"
        await w.store.revoke_key(maker.id)
        answer = await w.client.post(keys, json={"name": "late"}, headers=bearer(text))
        assert answer.status_code == 401, "a gateway that has just used it makes no key of it"
        person = await w.store.admit_person("ada", "acme", ["read", "control"], "person:ada", 3_600.0)
        assert person is not None
        body = ScheduleKeyBody(name="x", days=30)
        caller = Caller("acme", frozenset(person.scopes), "ada", "person:ada")
        row, _ = await make_schedule_key(w.store, caller, "prices", body)
        assert row.left_s > 29 * 86_400, "a login of hours is no key"
