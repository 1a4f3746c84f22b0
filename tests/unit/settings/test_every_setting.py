"""Each setting of docs/settings.md is set by the environment alone, and read back."""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from shoal.services.cluster.gateway import gateway_alone
from shoal.services.cluster.gateway_options import gateway_options
from shoal.services.settings import Settings, load_settings
from shoal.services.store.restarts import Restarts
from shoal.services.web.app import create_app
from shoal.services.web.deps import GatewayDeps
from tests.unit.test_reaches_its_end import another

ROOT = Path(__file__).parents[3]
ROW = re.compile(r"^\| `SHOAL_(\w+)` \|", re.MULTILINE)
DOCUMENTED = tuple(name.lower() for name in ROW.findall((ROOT / "docs" / "settings.md").read_text()))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.upper().startswith("SHOAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))


def written(value: Any) -> str:
    """A value as the documentation says that it is written."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        plain = all(isinstance(each, str | int | float) for each in value.values())
        return ",".join(f"{name}={each}" for name, each in value.items()) if plain else json.dumps(value)
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def value_of(name: str) -> Any:
    """A value that is not the default."""
    special = {"model_extra_body": {"x": {"y": 1}}, "refuse_networks": ("10.0.0.0/8", "fd00::/8")}
    special |= {"store_url": "postgresql://user:word@db.example/shoal", "gateway": "http://127.0.0.1:9000"}
    special |= {"login_proxies": ("10.0.0.1", "10.2.0.0/16", "::1"), "allow_hosts": ("shop.example:8443", "10.0.0.0/8")}
    return special.get(name) or another(name, getattr(Settings(), name), Settings.model_fields[name].annotation)


def test_the_page_names_every_setting() -> None:
    assert sorted(DOCUMENTED) == sorted(Settings.model_fields)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    value = value_of(name)
    default, expected = getattr(Settings(), name), getattr(Settings(**{name: value}), name)
    monkeypatch.setenv(f"SHOAL_{name.upper()}", written(value))
    found = getattr(load_settings(), name)
    assert found == expected != default


def test_paths_of_every_setting_begin_in_the_home_folder_where_they_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SHOAL_UPLOAD_DIRS", "~/one,two")
    monkeypatch.setenv("SHOAL_SECRETS_DIR", "~/secrets")
    settings = load_settings()
    assert settings.upload_dirs == (tmp_path / "one" / "{tenant}", Path.cwd() / "two" / "{tenant}")
    assert settings.secrets_dir == tmp_path / "secrets"


async def test_a_gateway_that_is_started_with_every_setting_in_the_environment_has_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A person whom a proxy names gets in, with a cookie for https only: they have an effect, too."""
    given = {name: value_of(name) for name in DOCUMENTED} | {"host": "127.0.0.1", "port": 0, "metrics_port": 0}
    given |= {"store_url": f"sqlite:///{tmp_path}/shoal.db", "artifacts_url": str(tmp_path / "kept"), "auth": "on"}
    given |= {"login_header": "X-Person", "login_proxies": ("10.0.0.0/8", "127.0.0.1"), "login_roles": {"ada": "admin"}}
    given |= {"smtp_url": "smtp://mail.example", "mail_from": "shoal@example.com", "live_url": "http://127.0.0.1:1"}
    given |= {"oidc_client_secret": "", "webhook_secret": "w" * 40, "cookie_secret": "c" * 40}
    for name, value in given.items():
        monkeypatch.setenv(f"SHOAL_{name.upper()}", written(value))
    started: list[GatewayDeps] = []

    def noted(deps: GatewayDeps) -> FastAPI:
        started.append(deps)
        return create_app(deps)

    monkeypatch.setattr("shoal.services.cluster.gateway.create_app", noted)
    settings = load_settings()
    wrong = {name for name, value in given.items() if getattr(settings, name) != getattr(Settings(**given), name)}
    assert wrong == set()
    async with gateway_alone(settings) as url, httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/admin/keys", headers={"X-Person": "ada"})).status_code == 200
        assert (await client.get("/admin/keys", headers={"X-Person": "eve"})).status_code == 403
        assert (await client.get("/admin/keys")).status_code in (303, 401)
    (deps,) = started
    assert replace(deps.options, restarts=Restarts()) == gateway_options(Settings(**given))
    same = {field.name for field in fields(deps.options) if getattr(deps.options, field.name) == field.default}
    assert same <= NOT_SET


NOT_SET = {"restarts", "announced", "dashboard", "auth"}
"""Options of a gateway that no setting gives; and `auth`, whose `on` is the option's own default."""
