"""The pages of schedules: the list, the next times, the strip of runs, and the buttons."""

from __future__ import annotations

import re

import pytest

from shoal.services.store.jobs.sink_records import SinkEnd, SinkState
from tests.gateway_world import world
from tests.unit.gateway.test_schedules import PRICES, run_once


async def test_a_schedule_is_shown_with_its_times_and_runs_and_commanded(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        assert "There is no schedule yet" in (await w.client.get("/schedules")).text
        sinks = [{"http": {"url": "https://me.example/in"}}]
        await w.client.post("/v1/schedules", json={**PRICES, "job": {**PRICES["job"], "sinks": sinks}})
        page = (await w.client.get("/schedules/prices")).text
        assert page.count("<li>") == 5 and "It has not run yet." in page and "Europe/Berlin" in page
        shop = [{"name": f"p{i}", "price": 10.0 + i} for i in range(20)]
        await run_once(w, *shop)
        run = await run_once(w, *({"name": f"p{i}"} for i in range(20)))
        page = (await w.client.get("/schedules/prices")).text
        assert "price: 0% of the records give it; 100% was usual" in page
        assert 'aria-label="Runs, the oldest first: completed, degraded"' in page
        assert f'href="/jobs/{run["job"]}"' in page
        assert "degraded" in (await w.client.get("/schedules")).text
        job = (await w.client.get(f"/v1/jobs/{run['job']}")).json()
        assert (job["schedule"], [reason["field"] for reason in job["degraded"]]) == ("prices", ["price"])
        shown = (await w.client.get(f"/jobs/{run['job']}")).text
        assert "<strong>degraded</strong> price: 0%" in shown
        for text in (page, shown):
            assert '<span class="badge failed">held</span>' in text and "the run is degraded: price: 0% of" in text
            assert f'action="/jobs/{run["job"]}/sinks/0/again"' in text
        told = (await w.client.get(f"/v1/jobs/{run['job']}")).json()["sinks"]
        assert [(sink["state"], sink["written"]) for sink in told] == [("held", 0)]

        token = re.search(r'name="token" value="([^"]*)"', page)
        assert token is not None
        form = {"token": token[1]}
        made = await w.client.post("/schedules/prices/keys", data={**form, "label": "the <b>sheet", "days": "30"})
        assert made.status_code == 201
        assert re.search(r'value="shoal_[^"]+"', made.text) and "the &lt;b&gt;sheet" in made.text
        with monkeypatch.context() as patch:
            patch.setattr(w.store, "keys", None)  # of all tenants
            shown = (await w.client.get("/schedules/prices")).text
        revoke = re.search(r'action="(/schedules/prices/keys/\d+/revoke)"', shown)
        assert revoke is not None and "shoal_" not in shown
        assert (await w.client.post(revoke[1], data={"token": "x"})).status_code == 403
        assert (await w.client.post(revoke[1], data=form)).status_code == 303
        assert revoke[1] not in (await w.client.get("/schedules/prices")).text
        bad = await w.client.post("/schedules/prices/keys", data={**form, "label": "x", "days": "soon"})
        assert bad.status_code == 400 and "days" in bad.text
        assert (await w.client.post("/schedules/prices/pause", data=form)).status_code == 303
        assert "It is paused." in (await w.client.get("/schedules/prices")).text
        assert (await w.client.post("/schedules/prices/eat", data=form)).status_code == 404
        assert (await w.client.post("/schedules/prices/delete", data=form)).status_code == 303
        assert (await w.client.get("/schedules/prices")).status_code == 404


async def test_sinks_are_shown_with_their_last_error_and_written_again_from_both_pages() -> None:
    async with world() as w:
        sinks = [{"http": {"url": "https://me.example/in"}}, {"http": {"url": "https://me.example/<b>"}}]
        await w.client.post("/v1/schedules", json={**PRICES, "job": {**PRICES["job"], "sinks": sinks}})
        job = (await run_once(w, {"name": "a"}))["job"]
        pages = (f"/jobs/{job}", "/schedules/prices")
        for path in pages:
            text = (await w.client.get(path)).text
            assert text.count('<span class="badge queued">waiting</span>') == 2, path
            assert "/again" not in text, "it waits: there is nothing to be said"
        first, second = await w.store.sinks.claim(2, lease_s=60, each=2)
        assert await w.store.sinks.end(first, SinkEnd(SinkState.FAILED, error="HTTP 500: <script>"))
        assert await w.store.sinks.end(second, SinkEnd(SinkState.DONE))
        shown = [(await w.client.get(path)).text for path in pages]
        for path, text, back in zip(pages, shown, ("job", "schedule"), strict=True):
            assert "HTTP 500: &lt;script&gt;" in text and "https://me.example/&lt;b&gt;" in text, path
            assert '<span class="badge failed">failed</span>' in text, path
            token = re.search(r'name="token" value="([^"]*)"', text)
            assert token is not None
            assert f'action="/jobs/{job}/sinks/0/again"' in text and f'name="back" value="{back}"' in text, path
            form = {"token": token[1], "back": back}
            answer = await w.client.post(f"/jobs/{job}/sinks/{0 if back == 'job' else 1}/again", data=form)
            assert (answer.status_code, answer.headers["location"]) == (303, path), answer.text
        assert [sink.state for sink in await w.store.sinks.of_job(int(job[1:]))] == [SinkState.WAITING] * 2
        assert (await w.client.post(f"/jobs/{job}/sinks/0/again", data=form)).status_code == 409
        assert (await w.client.post(f"/jobs/{job}/sinks/7/again", data=form)).status_code == 404
        assert (await w.client.post(f"/jobs/{job}/sinks/0/again", data={"token": "x"})).status_code == 403


async def test_a_schedule_by_an_interval_is_shown_with_it() -> None:
    async with world() as w:
        by_hour = {"name": "hourly", "every": "1h", "job": PRICES["job"]}
        assert (await w.client.post("/v1/schedules", json=by_hour)).is_success
        for path in ("/schedules", "/schedules/hourly"):
            assert "every 1h" in (await w.client.get(path)).text
