"""Browser workers by the API and the dashboard: who sees them, and who has one replaced."""

from __future__ import annotations

import re

from shoal.services.store.records import DRAIN
from shoal.services.store.restarts import Restarts
from tests.gateway_world import World, world

WORKER = {
    **{"name": "w-1", "node": "<b>pod-7</b>", "slots": 4, "busy": 1, "waiting": 0, "browsers": 2, "rss_bytes": 5},
    **{"browser_restarts": 3, "age_s": 7200.0, "browser_age_s": 61.0},
}


async def put_snapshot(here: World) -> None:
    snapshot = {"workers": [{**WORKER, "leaving": False}], "slots": 4, "busy": 1, "leases": 1}
    await here.store.put_state("dispatcher/main", snapshot)


async def test_an_operator_has_a_worker_replaced() -> None:
    async with world(auth=True) as here:
        await put_snapshot(here)
        admin = {"Authorization": f"Bearer {await here.key('admin')}"}
        (listed,) = (await here.client.get("/v1/workers", headers=admin)).json()["workers"]
        assert listed == {**WORKER, "leaving": False}
        assert (await here.client.post("/v1/workers/w-1/drain", headers=admin)).status_code == 202
        assert list(await here.store.states(DRAIN)) == [f"{DRAIN}w-1"]
        assert (await here.client.post("/v1/workers/w-2/drain", headers=admin)).status_code == 404


async def test_others_see_workers_and_replace_none() -> None:
    async with world(auth=True) as here:
        await put_snapshot(here)
        key = {"Authorization": f"Bearer {await here.key('read', 'control')}"}
        (listed,) = (await here.client.get("/v1/workers", headers=key)).json()["workers"]
        assert listed == {**WORKER, "node": "", "leaving": False}  # names of machines are the operator's
        assert "pod-7" not in (await here.client.get("/v1/status", headers=key)).text
        assert (await here.client.post("/v1/workers/w-1/drain", headers=key)).status_code == 403
        assert await here.store.states(DRAIN) == {}


async def test_the_status_page_has_the_button_for_operators_only() -> None:
    async with world() as here:
        await put_snapshot(here)
        page = await here.client.get("/status")
        assert "Drain and replace this worker" in page.text
        row = " ".join(re.sub(r"<[^>]+>", " ", page.text.split("w-1", 1)[1].split("</tr>")[0]).split())
        assert "on &lt;b&gt;pod-7&lt;/b&gt;" in row and "1 of 4 0 2 h 00 min 2 1 min 01 s 3 5 B" in row
        posted = await here.client.post("/workers/w-1/drain", data={"token": "forged"})
        assert posted.status_code == 403
        assert await here.store.states(DRAIN) == {}


async def test_the_status_page_says_how_often_dispatchers_and_workers_were_started_again() -> None:
    once, often = Restarts().ended("its process died", 1.0), Restarts(n=6).ended("signal 11 (SIGSEGV)", 1.0)
    async with world() as here:
        for ends in ({}, {"restarts": Restarts().data(), "workers_lost": Restarts().data()}):
            await here.store.put_state("dispatcher/main", {"workers": [], **ends})
            assert "started again" not in (text := (await here.client.get("/status")).text) and "has lost" not in text
        ends = {"restarts": once.data(), "workers_lost": often.data()}
        await here.store.put_state("dispatcher/main", {"workers": [], **ends})
        text = (await here.client.get("/status")).text
    assert "Dispatcher main was started again 1 time; its process died." in text
    assert "has lost 7 browser workers and replaced them; the last one: signal 11 (SIGSEGV)." in text


async def test_a_worker_of_an_earlier_version_tells_less() -> None:
    async with world() as here:
        older = {name: value for name, value in WORKER.items() if name not in ("node", "age_s", "browser_age_s")}
        await here.store.put_state("dispatcher/main", {"workers": [{**older, "leaving": False}]})
        (listed,) = (await here.client.get("/v1/workers")).json()["workers"]
        assert (listed["node"], listed["age_s"], listed["browser_age_s"]) == ("", None, None)
        assert (await here.client.get("/status")).status_code == 200
