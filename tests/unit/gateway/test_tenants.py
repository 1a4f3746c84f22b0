"""Tenants by the API and the pages: what each has, and the quota and weight that an operator sets."""

from __future__ import annotations

import re

import pytest

from shoal.services.store.records import AuditFilter
from shoal.services.web.http import quota
from tests.gateway_world import World, world
from tests.unit.gateway.pages.test_admin_pages import enter, token
from tests.unit.gateway.test_waiting import tell

SPEC = {"url": "https://shop.example/", "goal": "read the prices"}


async def bearer(here: World, *scopes: str, tenant: str = "ops") -> dict[str, str]:
    return {"Authorization": f"Bearer {await here.key(*scopes, tenant=tenant)}"}


async def test_a_quota_and_a_weight_are_set_shown_kept_in_the_audit_log_and_taken_away() -> None:
    async with world(auth=True, tenant_queued=5, tenant_quotas={"acme": 7}) as here:
        admin = await bearer(here, "admin")
        before = (await here.client.get("/v1/tenants/acme", headers=admin)).json()
        assert (before["quota"], before["own_quota"], before["weight"], before["own_weight"]) == (7, None, None, None)
        changed = await here.client.patch("/v1/tenants/acme", json={"quota": 2, "weight": 2.5}, headers=admin)
        assert changed.status_code == 200
        assert {name: changed.json()[name] for name in ("quota", "own_quota", "weight", "own_weight")} == {
            **{"quota": 2, "own_quota": 2},
            **{"weight": 2.5, "own_weight": 2.5},
        }
        assert (await here.client.patch("/v1/tenants/acme", json={"weight": 1.0}, headers=admin)).json()["quota"] == 2
        listed = (await here.client.get("/v1/tenants", headers=admin)).json()["tenants"]
        assert [one["name"] for one in listed] == ["acme", "ops"]
        back = await here.client.patch("/v1/tenants/acme", json={"quota": None, "weight": None}, headers=admin)
        assert (back.json()["quota"], back.json()["own_weight"]) == (7, None)
        entries = await here.store.audit(AuditFilter())
        assert [(entry.action, entry.subject, entry.detail) for entry in entries] == [
            ("PATCH /v1/tenants/{tenant}", "acme", "quota=None weight=None"),
            ("PATCH /v1/tenants/{tenant}", "acme", "weight=1.0"),
            ("PATCH /v1/tenants/{tenant}", "acme", "quota=2 weight=2.5"),
        ]


@pytest.mark.parametrize(
    "body",
    [{}, {"quota": -1}, {"quota": "3"}, {"quota": 1 << 40}, {"quota": True}, {"weight": 0}, {"weight": 1e9}, {"x": 1}],
)
async def test_what_is_refused(body: dict[str, object]) -> None:
    async with world() as here:
        answer = await here.client.patch("/v1/tenants/acme", json=body)
        assert answer.status_code == 400
        assert (await here.store.tenants.limits()).quotas == {}
        assert await here.store.audit(AuditFilter()) == []


async def test_the_only_limit_of_a_tenant_without_a_key_is_taken_away_and_the_audit_log_has_it() -> None:
    async with world(tenant_queued=5) as here:
        assert (await here.client.patch("/v1/tenants/new", json={"quota": 3})).status_code == 200
        back = await here.client.patch("/v1/tenants/new", json={"quota": None})
        assert (back.status_code, back.json()["quota"], back.json()["own_quota"]) == (200, 5, None)
        assert [entry.detail for entry in await here.store.audit(AuditFilter())] == ["quota=None", "quota=3"]
        assert (await here.client.get("/v1/tenants/new")).status_code == 404


async def test_the_page_of_a_tenant_without_a_key_has_the_weight_that_it_would_get() -> None:
    async with world(auth=True) as here:
        await enter(here, "admin")
        weight = re.compile(r"<dt>weight</dt><dd>(.*?)</dd>")
        assert weight.findall((await here.client.get("/admin/tenants/new")).text) == ["–"], "no dispatcher runs"
        await tell(here)
        assert weight.findall((await here.client.get("/admin/tenants/new")).text) == ["1"]


async def test_names_that_no_tenant_may_have_are_refused_and_unknown_ones_are_not_found() -> None:
    async with world() as here:
        for name in ("a%20b", "x" * 65, "%3Cb%3E"):
            assert (await here.client.patch(f"/v1/tenants/{name}", json={"quota": 1})).status_code == 400, name
        assert (await here.client.get("/v1/tenants/nobody")).status_code == 404


@pytest.mark.parametrize("scopes", [("read",), ("read", "submit", "control")])
async def test_an_operator_alone_sees_and_sets_them(scopes: tuple[str, ...]) -> None:
    async with world(auth=True) as here:
        own = await bearer(here, *scopes, tenant="acme")
        assert (await here.client.get("/v1/tenants", headers=own)).status_code == 403
        assert (await here.client.get("/v1/tenants/acme", headers=own)).status_code == 403
        assert (await here.client.patch("/v1/tenants/acme", json={"quota": 0}, headers=own)).status_code == 403
        await enter(here, *scopes)
        assert (await here.client.get("/admin/tenants/acme")).status_code == 403
        assert (await here.client.post("/admin/tenants/acme", data={"quota": "0"})).status_code == 403


async def test_a_quota_holds_without_a_new_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "COUNTED_FOR_S", -1.0)
    async with world(auth=True) as here:
        admin, acme = await bearer(here, "admin"), await bearer(here, "submit", tenant="acme")
        other = await bearer(here, "submit", tenant="other")
        assert (await here.client.post("/v1/jobs", json=SPEC, headers=acme)).status_code == 201
        await here.client.patch("/v1/tenants/acme", json={"quota": 1}, headers=admin)
        refused = await here.client.post("/v1/jobs", json=SPEC, headers=acme)
        assert (refused.status_code, "at most 1 may" in refused.json()["detail"]) == (429, True)
        assert (await here.client.post("/v1/jobs", json=SPEC, headers=other)).status_code == 201
        await here.client.patch("/v1/tenants/acme", json={"quota": None}, headers=admin)
        assert (await here.client.post("/v1/jobs", json=SPEC, headers=acme)).status_code == 201


async def test_the_page_of_a_tenant_sets_and_takes_away() -> None:
    async with world(auth=True, tenant_queued=5) as here:
        await enter(here, "admin")
        opened = await here.client.get("/admin/tenant", params={"name": " new "})
        assert opened.headers["location"] == "/admin/tenants/new"
        form = {"token": await token(here, "/admin/tenants/new"), "quota": "12", "weight": "0.5"}
        assert (await here.client.post("/admin/tenants/new", data={**form, "token": "x"})).status_code == 403
        for wrong in ({"quota": "many"}, {"quota": "-1"}, {"weight": "0"}, {"weight": "nan"}):
            assert (await here.client.post("/admin/tenants/new", data={**form, **wrong})).status_code == 400, wrong
        assert (await here.client.post("/admin/tenants/new", data=form)).headers["location"] == "/admin/tenants/new"
        page = (await here.client.get("/admin/tenants/new")).text
        assert 'name="quota"' in page and 'value="12"' in page and 'value="0.5"' in page
        assert re.search(r'href="/admin/tenants/new"><b>new</b>', (await here.client.get("/admin/tenants")).text)
        await here.client.post("/admin/tenants/new", data={**form, "quota": " ", "weight": ""})
        limits = await here.store.tenants.limits()
        assert (dict(limits.quotas), dict(limits.weights)) == ({}, {})
        assert [entry.actor for entry in await here.store.audit(AuditFilter())] == ["ada", "ada"]
        assert (await here.client.get("/admin/tenants/%3Cscript%3E")).status_code == 400
