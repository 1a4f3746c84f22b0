"""Stored secrets by the API and the dashboard: names and sites are shown, values never come back."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from shoal.agent.errors import SecretRefused
from shoal.agent.spec import JobSpec
from shoal.services.browsers.session_parts.secrets import FolderSecrets
from shoal.services.doctor import secrets as examined
from shoal.services.secrets.folder import FolderState, SecretFolder
from shoal.services.settings import Settings
from shoal.services.store.records import AuditFilter
from tests.gateway_world import World, world

VALUE = "hunter2-hunter2"
URL = "https://shop.example/login"


@pytest.fixture
async def locked(tmp_path: Path) -> AsyncIterator[World]:
    async with world(auth=True, secrets_dir=tmp_path) as made:
        yield made


async def bearer(one: World, *scopes: str, tenant: str = "acme") -> dict[str, str]:
    return {"Authorization": f"Bearer {await one.key(*scopes, tenant=tenant)}"}


def filled(folder: Path, name: str = "SHOP", tenant: str = "acme", url: str = URL) -> object:
    spec = JobSpec(url=url, goal="x", secrets={name: {"domains": ["shop.example", "other.example"]}})
    return FolderSecrets(str(folder), tenant, spec).resolve(f"secret:{name}", url)


async def test_a_secret_is_set_used_replaced_and_removed(locked: World, tmp_path: Path) -> None:
    admin = await bearer(locked, "admin")
    body = {"value": VALUE, "domains": ["shop.example"]}
    assert (await locked.client.put("/v1/secrets/SHOP", json=body, headers=admin)).status_code == 204
    assert filled(tmp_path) == VALUE
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "acme").iterdir()} == {0o600}
    body = {"value": VALUE + "2", "domains": ["other.example"]}
    assert (await locked.client.put("/v1/secrets/SHOP", json=body, headers=admin)).status_code == 204
    assert filled(tmp_path, url="https://other.example/") == VALUE + "2"
    with pytest.raises(SecretRefused):
        filled(tmp_path)
    assert (await locked.client.delete("/v1/secrets/SHOP", headers=admin)).status_code == 204
    assert (await locked.client.delete("/v1/secrets/SHOP", headers=admin)).status_code == 404
    assert list((tmp_path / "acme").iterdir()) == []


async def test_a_value_comes_back_nowhere(
    locked: World, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    admin = await bearer(locked, "admin")
    answers = []
    with structlog.testing.capture_logs() as logs:
        for body in (
            {"value": VALUE, "domains": ["shop.example"]},
            {"value": VALUE, "domains": ["a b"]},
            {"value": VALUE, "domains": []},
            {"value": [VALUE], "domains": ["shop.example"]},
            {"value": VALUE, "domains": ["shop.example"], VALUE[:3]: 1},
            {"value": VALUE * 6000, "domains": ["shop.example"]},
            {"value": VALUE + "\0", "domains": ["shop.example"]},
        ):
            answers.append(await locked.client.put("/v1/secrets/SHOP", json=body, headers=admin))
        json_type = {**admin, "Content-Type": "application/json"}
        for text in (
            f'{{"value": "{VALUE}", "domains": ["shop.example"',
            f'{{"value": "{VALUE}\\ud800", "domains": ["shop.example"]}}',
            f'{{"value": "{VALUE}", "value": "{VALUE}"}}',
            f'"{VALUE}"',
        ):
            answers.append(await locked.client.put("/v1/secrets/X", content=text, headers=json_type))
        answers.append(await locked.client.get("/v1/secrets", headers=admin))
        key = admin["Authorization"].partition(" ")[2]
        await locked.client.post("/login", data={"key": key, "next": "/"})
        page = await locked.client.get("/admin/secrets")
        token = re.search(r'name="token" value="([^"]+)"', page.text)
        assert token is not None
        form = {"token": token[1], "tenant": "acme", "name": "FORM", "value": VALUE, "domains": "shop.example"}
        for change in ({}, {"name": "a/b"}, {"value": VALUE * 6000}, {"domains": "a b"}, {"tenant": ".."}):
            answers.append(await locked.client.post("/admin/secrets", data={**form, **change}))
        answers.append(await locked.client.get("/admin/secrets?tenant=acme&name=FORM"))
    assert [answer.status_code for answer in answers[:12]] == [204] + [400] * 10 + [200]
    assert [answer.status_code for answer in answers[12:]] == [303, 400, 400, 400, 400, 200]
    assert filled(tmp_path) == filled(tmp_path, "FORM") == VALUE
    audit = await locked.store.audit(AuditFilter())
    assert [entry.detail for entry in audit] == [
        "secret FORM of acme set, for shop.example",
        "secret SHOP of acme set, for shop.example",
    ]
    told = [answer.text + str(answer.headers) for answer in answers] + [str(audit), str(logs), caplog.text]
    told += list(capsys.readouterr())
    assert not any("hunter2" in text for text in told)


async def test_who_may_see_and_change(locked: World, tmp_path: Path) -> None:
    SecretFolder(tmp_path).put("acme", "SHOP", VALUE, ["shop.example"])
    SecretFolder(tmp_path).put("other", "THEIRS", VALUE, ["shop.example"])
    body = {"value": "x", "domains": ["shop.example"]}
    for scopes, seen, changed in (
        (("read",), None, 403),
        (("submit",), ["SHOP"], 403),
        (("read", "submit", "control"), ["SHOP"], 403),
        (("admin",), ["SHOP", "THEIRS"], 204),
    ):
        who = await bearer(locked, *scopes)
        listed = await locked.client.get("/v1/secrets", headers=who)
        names = [row["name"] for row in listed.json()["secrets"]] if listed.status_code == 200 else None
        assert names == seen, scopes
        answer = await locked.client.put("/v1/secrets/NEW?tenant=other", json=body, headers=who)
        assert answer.status_code == changed, scopes
        assert (await locked.client.delete("/v1/secrets/NEW?tenant=other", headers=who)).status_code == changed
    assert (await locked.client.put("/v1/secrets/NEW", json=body)).status_code == 401


@pytest.mark.parametrize("name", [".hidden", "a.domains", "é", "a b", "x" * 129, "SHOP\n"])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(Exception, match="name:"):
        SecretFolder(tmp_path).put("acme", name, VALUE, ["shop.example"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tenant", ["..", ".", "a/b", "", "a\0"])
def test_tenants_that_would_leave_the_folder(tmp_path: Path, tenant: str) -> None:
    with pytest.raises(Exception, match="tenant:"):
        SecretFolder(tmp_path).put(tenant, "SHOP", VALUE, ["shop.example"])
    assert SecretFolder(tmp_path).secrets(tenant) == []


async def test_a_forged_form_changes_nothing(locked: World, tmp_path: Path) -> None:
    key = await locked.key("admin")
    await locked.client.post("/login", data={"key": key, "next": "/"})
    form = {"token": "forged", "tenant": "acme", "name": "SHOP", "value": VALUE, "domains": "shop.example"}
    assert (await locked.client.post("/admin/secrets", data=form)).status_code == 403
    assert (await locked.client.post("/admin/secrets/remove", data=form)).status_code == 403
    assert list(tmp_path.iterdir()) == []


async def test_a_gateway_without_the_workers_folder_says_so(tmp_path: Path) -> None:
    async with world(secrets_dir=tmp_path / "none") as here:
        page = await here.client.get("/admin/secrets")
        assert "Secrets cannot be changed here" in page.text and "Set secret" not in page.text
        body = {"value": "x", "domains": ["shop.example"]}
        answer = await here.client.put("/v1/secrets/NEW", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
        assert not (tmp_path / "none").exists()


def test_a_folder_that_is_read_only_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SecretFolder(tmp_path)
    folder.put("acme", "SHOP", VALUE, ["shop.example"])
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the tests' own user may write everywhere
    assert folder.state() is FolderState.READ_ONLY
    with pytest.raises(Exception, match="read-only"):
        folder.put("acme", "SHOP", "x", ["other.example"])
    assert [secret.name for secret in folder.secrets("acme")] == ["SHOP"]


def test_no_value_meets_the_sites_of_another(tmp_path: Path) -> None:
    """A worker that reads while a secret is replaced: an old value on new sites would give it to a stranger."""
    folder = SecretFolder(tmp_path)
    pairs = {"old": "shop.example", "new": "other.example"}
    folder.put("acme", "SHOP", "old", [pairs["old"]])
    stop, wrong, right = threading.Event(), [], set()

    def read(site: str) -> None:
        while not stop.is_set():
            try:
                value = filled(tmp_path, url=f"https://{site}/")
            except (SecretRefused, FileNotFoundError):
                continue
            right.add(value)
            if pairs[str(value)] != site:
                wrong.append((value, site))

    readers = [threading.Thread(target=read, args=(site,)) for site in pairs.values()]
    for reader in readers:
        reader.start()
    for turn in range(300):
        value = ("new", "old")[turn % 2]
        folder.put("acme", "SHOP", value, [pairs[value]])
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == [] and right == {"old", "new"}


def test_a_secret_that_is_replaced_twice_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after, the binding says the same sites; the value between is of others."""
    folder, read = SecretFolder(tmp_path), Path.read_text
    folder.put("acme", "SHOP", "new", ["other.example"])

    def replaced_around(path: Path, **named: Any) -> str:
        if path.name != "SHOP" or not turns:
            return read(path, **named)
        folder.put("acme", "SHOP", "old", ["shop.example"])
        text = read(path, **named)
        folder.put("acme", "SHOP", "new", ["other.example"])
        turns.pop()
        return text

    turns = [1]
    monkeypatch.setattr(Path, "read_text", replaced_around)
    assert filled(tmp_path, url="https://other.example/") == "new"
    turns = [1] * 9
    with pytest.raises(SecretRefused, match="being replaced"):
        filled(tmp_path, url="https://other.example/")


async def test_a_weak_secret_is_named_when_it_is_set_and_wherever_it_is_listed(locked: World, tmp_path: Path) -> None:
    admin = await bearer(locked, "admin")
    for value, weak in (("hunter", False), ("12345", True), ("1 2 3 4 5\n", True)):
        body = {"value": value, "domains": ["shop.example"]}
        answer = await locked.client.put("/v1/secrets/PIN", json=body, headers=admin)
        assert answer.status_code == 204
        assert ("fewer than 6 characters" in answer.headers.get("Shoal-Warning", "")) == weak
        (listed,) = (await locked.client.get("/v1/secrets", headers=admin)).json()["secrets"]
        assert ("fewer than 6 characters" in listed["weak"]) == weak
        assert value.strip() not in answer.headers.get("Shoal-Warning", "") + str(listed)
        found = examined(Settings(data_dir=tmp_path, secrets_dir=tmp_path))
        assert found.ok and ("acme/PIN" in found.detail) == weak
    await locked.client.post("/login", data={"key": admin["Authorization"].partition(" ")[2], "next": "/"})
    assert "fewer than 6 characters" in (await locked.client.get("/admin/secrets")).text
