"""Sites by the API and the dashboard: what goes on there, and limits that an operator sets."""

from __future__ import annotations

import re

import pytest

from shoal.services.store.records import AuditFilter
from tests.gateway_world import World, world

HOST = "shop.example"


async def bearer(here: World, *scopes: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {await here.key(*scopes)}"}


async def test_limits_are_set_shown_and_kept_in_the_audit_log() -> None:
    async with world(auth=True) as here:
        admin = await bearer(here, "admin")
        assert (await here.client.get(f"/v1/sites/{HOST}", headers=admin)).status_code == 404
        body = {"concurrency": 3, "delay_s": 1.5, "paused": True, "pause_s": 600}
        answer = await here.client.patch("/v1/sites/SHOP.example.", json=body, headers=admin)
        assert answer.status_code == 200
        site = answer.json()
        assert (site["host"], site["concurrency"], site["delay_s"], site["paused"]) == (HOST, 3, 1.5, True)
        assert 590 < site["paused_s"] <= 600
        answer = await here.client.patch(f"/v1/sites/{HOST}", json={"paused": True}, headers=admin)
        assert answer.json()["paused_s"] is None and answer.json()["concurrency"] == 3
        answer = await here.client.patch(f"/v1/sites/{HOST}", json={"paused": False, "delay_s": None}, headers=admin)
        assert (answer.json()["paused"], answer.json()["delay_s"]) == (False, None)
        (listed,) = (await here.client.get("/v1/sites", headers=admin)).json()["sites"]
        assert listed == answer.json()
        entries = await here.store.audit(AuditFilter())
        assert [(entry.action, entry.detail) for entry in entries] == [
            ("PATCH /v1/sites/{host}", "delay_s=None paused=False"),
            ("PATCH /v1/sites/{host}", "paused=True"),
            ("PATCH /v1/sites/{host}", "concurrency=3 delay_s=1.5 paused=True pause_s=600.0"),
        ]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"concurrency": 0},
        {"concurrency": "3"},
        {"concurrency": 1 << 40},
        {"delay_s": -1},
        {"delay_s": 1e9},
        {"paused": None},
        {"pause_s": 5},
        {"paused": False, "pause_s": 5},
        {"paused": True, "pause_s": 1e12},
        {"most": 3},
    ],
)
async def test_what_is_refused(body: dict[str, object]) -> None:
    async with world() as here:
        assert (await here.client.patch(f"/v1/sites/{HOST}", json=body)).status_code == 400
        assert await here.store.sites.limits() == {}


@pytest.mark.parametrize("host", ["a b", "<script>", "a..b", "x" * 300, "shop.example:80", "%00", "-\ud800-"])
async def test_what_is_no_host(host: str) -> None:
    async with world() as here:
        path = re.sub(r"[^\w.:%-]", lambda found: f"%{ord(found[0]):02X}" if ord(found[0]) < 128 else "%ED%A0%80", host)
        answer = await here.client.patch(f"/v1/sites/{path}", json={"paused": True})
        assert answer.status_code in (400, 404), answer.text
        assert await here.store.sites.limits() == {}


async def test_only_an_admin_sees_and_changes_them() -> None:
    async with world(auth=True) as here:
        others = await bearer(here, "read", "submit", "control")
        for method, path in (("GET", "/v1/sites"), ("GET", f"/v1/sites/{HOST}"), ("PATCH", f"/v1/sites/{HOST}")):
            body = {"paused": True} if method == "PATCH" else None
            assert (await here.client.request(method, path, json=body, headers=others)).status_code == 403
        key = others["Authorization"].partition(" ")[2]
        await here.client.post("/login", data={"key": key, "next": "/"})
        assert (await here.client.get("/sites")).status_code == 403
        assert (await here.client.post(f"/sites/{HOST}/pause", data={"token": "x"})).status_code == 403
        assert await here.store.sites.limits() == {}


async def test_the_page_sets_limits_and_pauses() -> None:
    async with world() as here:
        await here.submit(url=f"https://{HOST}/")
        token = re.search(r'name="token" value="([^"]+)"', (await here.client.get("/sites")).text)
        assert token is not None
        form = {"token": token[1]}
        opened = await here.client.post("/sites", data={**form, "host": " New.Example "})
        assert opened.headers["location"] == "/sites/new.example"
        assert (await here.client.get("/sites/new.example")).status_code == 200
        await here.client.post("/sites/new.example/pause", data=form)
        await here.client.post("/sites", data={**form, "host": "new.example"})
        page = (await here.client.get("/sites/new.example")).text
        assert "Lift the pause" in page, "opening a site's page changes nothing"
        await here.client.post("/sites/new.example/resume", data=form)
        limits = {**form, "concurrency": "4", "delay_s": "0.5"}
        assert (await here.client.post(f"/sites/{HOST}", data=limits)).status_code == 303
        assert (await here.client.post(f"/sites/{HOST}", data={**form, "concurrency": "many"})).status_code == 400
        assert (await here.client.post(f"/sites/{HOST}", data={**form, "concurrency": "-1"})).status_code == 400
        await here.client.post(f"/sites/{HOST}/pause", data={**form, "minutes": "2"})
        page = (await here.client.get(f"/sites/{HOST}")).text
        assert 'value="4"' in page and 'value="0.5"' in page and "Lift the pause" in page
        await here.client.post(f"/sites/{HOST}/resume", data=form)
        assert "Pause the site" in (await here.client.get(f"/sites/{HOST}")).text
        await here.client.post(f"/sites/{HOST}", data=form)
        assert await here.store.sites.limits() == {}


async def test_a_dispatchers_figures_are_shown() -> None:
    async with world() as here:
        await here.client.patch(f"/v1/sites/{HOST}", json={"concurrency": 2})
        site = await here.store.sites.site(HOST)
        assert site is not None
        for name in ("a", "b"):
            await here.store.put_state(f"dispatcher/{name}", {"sites": {str(site.domain): [10, 4, 30]}})
        shown = (await here.client.get(f"/v1/sites/{HOST}")).json()
        assert (shown["attempts"], shown["failed"], shown["pages"]) == (20, 8, 60)
