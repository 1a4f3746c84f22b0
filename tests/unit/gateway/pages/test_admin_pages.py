"""Administration: keys are made and revoked, changes are kept with who made them, messages are sent again."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from shoal.services.errors import StoreAway
from shoal.services.store.records import AuditFilter, NewAuditEntry
from tests.gateway_world import World, completed, world

EVIL = "<script>alert(1)</script>"


@pytest.fixture
async def locked() -> AsyncIterator[World]:
    async with world(auth=True) as made:
        yield made


async def enter(one: World, *scopes: str, tenant: str = "acme", name: str = "ada") -> str:
    key = await one.key(*scopes, tenant=tenant, name=name)
    assert (await one.client.post("/login", data={"key": key, "next": "/"})).status_code == 303
    return key


async def token(one: World, path: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', (await one.client.get(path)).text)
    assert found is not None
    return found[1]


async def test_a_key_is_made_shown_once_works_and_is_revoked(locked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.http.auth.KNOWN_FOR_S", 0.0)
    await enter(locked, "admin")
    form = {"token": await token(locked, "/admin/keys"), "name": EVIL, "tenant": "new", "scope": ["read"], "days": "2"}
    answer = await locked.client.post("/admin/keys", data=form)
    assert answer.status_code == 201
    assert "<script>alert" not in answer.text
    key = re.search(r'readonly value="(shoal_[^"]+)"', answer.text)
    assert key is not None
    headers = {"Authorization": f"Bearer {key[1]}"}
    assert (await locked.client.get("/v1/jobs", headers=headers)).status_code == 200
    assert key[1] not in (await locked.client.get("/admin/keys")).text
    row = (await locked.store.keys())[-1]
    assert (row.tenant, row.scopes, round(row.left_s / 86400)) == ("new", ("read",), 2)
    done = await locked.client.post(f"/admin/keys/{row.id}/revoke", data={"token": form["token"]})
    assert done.headers["location"] == "/admin/keys"
    assert (await locked.client.get("/v1/jobs", headers=headers)).status_code == 401
    entries = await locked.store.audit(AuditFilter())
    assert [entry.action for entry in entries] == ["POST /admin/keys/{key}/revoke", "POST /admin/keys"]
    assert all(key[1] not in entry.detail and entry.actor == "ada" for entry in entries)


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"tenant": "a/b"}, {"scope": []}, {"scope": ["root"]}, {"days": "0"}, {"days": "nan"}]
)
async def test_a_key_that_cannot_be_is_refused_by_its_field(locked: World, wrong: dict[str, object]) -> None:
    await enter(locked, "admin")
    form = {"token": await token(locked, "/admin/keys"), "name": "ci", "tenant": "new", "scope": ["read"], "days": ""}
    answer = await locked.client.post("/admin/keys", data={**form, **wrong})
    assert answer.status_code == 400
    assert next(iter(wrong)) in answer.text
    assert len(await locked.store.keys()) == 1
    assert await locked.store.audit(AuditFilter()) == []


async def test_only_an_admin_sees_keys_and_only_its_own_form_counts(locked: World) -> None:
    assert (await locked.client.get("/admin/keys")).status_code == 303
    await enter(locked, "read", "submit", "control")
    assert (await locked.client.get("/admin/keys")).status_code == 403
    assert (await locked.client.post("/admin/keys", data={"name": "x"})).status_code == 403
    await enter(locked, "admin")
    form = {"name": "ci", "tenant": "new", "scope": ["read"]}
    assert (await locked.client.post("/admin/keys", data=form)).status_code == 403
    good = {**form, "token": await token(locked, "/admin/keys")}
    foreign = {"Origin": "https://evil.example"}
    assert (await locked.client.post("/admin/keys", data=good, headers=foreign)).status_code == 403
    assert (await locked.client.post("/admin/keys/1/revoke", data={})).status_code == 403


async def test_changes_are_kept_with_who_made_them_and_seen_by_their_tenant(locked: World) -> None:
    key = await enter(locked, "read", "submit", "control")
    headers = {"Authorization": f"Bearer {key}"}
    spec = {"url": "https://a.example/", "goal": "x"}
    job = (await locked.client.post("/v1/jobs", json=spec, headers=headers)).json()["id"]
    await locked.client.post(f"/v1/jobs/{job}/pause", headers=headers)
    await locked.client.post(f"/v1/jobs/{job}/pause")  # without a key: refused
    await locked.client.post(f"/v1/jobs/{job}/retry", headers=headers)  # refused: it is not over
    page_token = await token(locked, f"/jobs/{job}")
    await locked.client.post(f"/jobs/{job}/cancel", data={"token": page_token})
    await locked.client.post("/new/check", data={"token": await token(locked, "/new"), **spec})
    seen = [(entry.actor, entry.action, entry.subject) for entry in await locked.store.audit(AuditFilter())]
    assert seen == [
        ("ada", "POST /jobs/{job}/{verb}", f"{job} cancel"),
        ("ada", "POST /v1/jobs/{job}/pause", job),
    ]
    page = (await locked.client.get("/admin/audit")).text
    assert page.count(f"{job}") >= 2
    lines = (await locked.client.get("/admin/audit/export")).text.splitlines()
    assert [json.loads(line)["subject"] for line in lines] == [f"{job} cancel", job]
    await enter(locked, "read", "control", tenant="other")
    assert "Nothing was changed yet." in (await locked.client.get("/admin/audit")).text
    assert (await locked.client.get("/admin/audit/export")).text == ""
    await enter(locked, "read", tenant="acme")
    assert (await locked.client.get("/admin/audit")).status_code == 403
    await enter(locked, "admin", tenant="ops")
    assert f"{job} cancel" in (await locked.client.get("/admin/audit")).text


async def test_a_change_that_is_done_is_answered_though_its_entry_could_not_be_written(
    locked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await locked.key("read", "submit", "control")
    headers = {"Authorization": f"Bearer {key}"}
    spec = {"url": "https://a.example/", "goal": "x"}
    job = (await locked.client.post("/v1/jobs", json=spec, headers=headers)).json()["id"]

    async def away(entry: object) -> None:
        raise StoreAway("the store is away")

    monkeypatch.setattr(locked.store, "add_audit", away)
    assert (await locked.client.post(f"/v1/jobs/{job}/pause", headers=headers)).status_code == 200


async def test_webhook_messages_are_listed_by_state_for_their_tenant(locked: World) -> None:
    key = await enter(locked, "read", "submit", "control")
    spec = {"url": "https://a.example/", "goal": "x", "webhook": {"url": "https://hooks.example/<b>"}}
    await locked.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    await locked.run(lambda work: completed())
    page = (await locked.client.get("/admin/webhooks")).text
    assert "hooks.example/&lt;b&gt;" in page and "job.finished" in page
    assert "There is no such message." in (await locked.client.get("/admin/webhooks?state=dead")).text
    assert (await locked.client.get("/admin/webhooks?state=x")).status_code == 400
    await enter(locked, "read", tenant="other")
    assert "There is no such message." in (await locked.client.get("/admin/webhooks")).text


SERVER = {
    **{"up": False, "limit": 4, "running": 2, "waiting": 7, "kv_cache": 0.5},
    **{"first_token_s": 1.5, "cache_hits": None},
}


async def test_sites_and_model_servers_are_shown_to_who_sees_all_tenants(locked: World) -> None:
    key = await locked.key("submit", tenant="other")
    spec = {"url": "https://lamps.example/", "goal": "x"}
    await locked.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
    await locked.claim()
    await locked.store.put_state(
        "dispatcher/main", {"workers": [], "model": {"limit": 4, "active": 2, "servers": [SERVER]}}
    )
    await enter(locked, "read", tenant="acme")
    page = (await locked.client.get("/status")).text
    assert "lamps.example" not in page and "Model servers" not in page
    await enter(locked, "admin", tenant="ops")
    page = (await locked.client.get("/status")).text
    assert 'href="/sites/lamps.example"' in page
    assert "Model servers" in page and "away" in page and "50 %" in page


async def test_the_page_of_tenants_shows_quotas_weights_and_sessions_to_admins_alone() -> None:
    async with world(auth=True, tenant_queued=1, tenant_quotas={"big": 0, "idle": 9}) as made:
        for tenant in ("big", "small"):
            key = await made.key("submit", tenant=tenant)
            spec = {"url": "https://shop.example/", "goal": "look"}
            await made.client.post("/v1/jobs", json=spec, headers={"Authorization": f"Bearer {key}"})
        await made.store.put_state("dispatcher/main", {"workers": [], "weights": {"big": 2.5, EVIL: 1.0}})
        await enter(made, "read", "control")
        assert (await made.client.get("/admin/tenants")).status_code == 403
        await enter(made, "admin")
        page = (await made.client.get("/admin/tenants")).text
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in page.split("<tbody>")[1].split("</tr>") if "<td" in row]
    assert [row[0] for row in rows] == ["&lt;script&gt;alert(1)&lt;/script&gt;", "acme", "big", "idle", "small"]
    assert rows[2:] == [
        ["big", "1", "0", "1", "no", "limit", "2.5"],
        ["idle", "0", "0", "0", "9", "1"],
        ["small", "1", "0", "1", "full", "1", "1"],
    ]


async def test_the_audit_log_is_narrowed_by_who_what_and_when_and_exported_so() -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    async with world(auth=True, clock=lambda: now.timestamp()) as made:
        for day, actor, detail in ((18, "Ada", "50% of all"), (19, "otto", "500 of all"), (20, "ada b", EVIL)):
            now = datetime(2026, 11, day, 12, tzinfo=UTC)
            await made.store.add_audit(NewAuditEntry("acme", actor, "PATCH /v1/sites/{host}", f"h{day}", detail, "r"))
        await made.store.add_audit(NewAuditEntry("other", "ada", "POST /admin/keys", "", "", "r"))
        await enter(made, "read", "control")

        async def subjects(**query: str) -> list[str]:
            lines = (await made.client.get("/admin/audit/export", params=query)).text.splitlines()
            page = await made.client.get("/admin/audit", params=query)
            exported = [str(json.loads(line)["subject"]) for line in lines]
            assert [subject for subject in ("h20", "h19", "h18") if f">{subject} <" in page.text] == exported
            return exported

        assert await subjects() == ["h20", "h19", "h18"]
        assert await subjects(who="ADA") == ["h20", "h18"]
        assert await subjects(what="50%") == ["h18"]
        assert await subjects(what="<SCRIPT>") == ["h20"]
        assert await subjects(what="h1", who="t_o") == []
        assert await subjects(since="2026-11-19") == ["h20", "h19"]
        assert await subjects(since="2026-11-19", until="2026-11-19") == ["h19"]
        assert await subjects(who="\0ada", until="2026-11-19") == ["h18"]
        for wrong in ({"since": "today"}, {"until": "2026-13-01"}, {"who": "x" * 301}):
            assert (await made.client.get("/admin/audit", params=wrong)).status_code == 400, wrong
        page = (await made.client.get("/admin/audit", params={"who": '"><b>', "until": "2026-11-19"})).text
        assert "&#34;&gt;&lt;b&gt;" in page and '"><b>' not in page and "No change matches" in page
        assert "/admin/audit/export?who=%22%3E%3Cb%3E&amp;until=2026-11-19" in page


async def test_older_changes_of_a_narrowed_log_are_narrowed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.services.web.pages.admin.audit_log.ENTRIES_SHOWN", 2)
    async with world(auth=True) as made:
        for number in range(8):
            actor = "ada" if number % 2 else "otto"
            await made.store.add_audit(NewAuditEntry("acme", actor, "POST /x", f"n{number}", "d", "r"))
        await enter(made, "read", "control")
        address, seen = "/admin/audit?who=ada", []
        while address:
            page = (await made.client.get(address)).text
            seen += re.findall(r">(n\d) <", page)
            following = re.search(r'href="([^"]+)">Older', page)
            address = following[1].replace("&amp;", "&") if following else ""
        assert seen == ["n7", "n5", "n3", "n1"]
