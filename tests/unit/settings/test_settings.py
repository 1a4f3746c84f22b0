"""The environment becomes checked settings, or the process stops with the name of what is wrong."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from shoal.services.errors import BadSetting
from shoal.services.settings import Settings, load_settings

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No SHOAL_ variable of the person who runs the tests reaches them."""
    for name in [name for name in os.environ if name.upper().startswith("SHOAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def refusal(**overrides: object) -> str:
    """Return what the refusal says."""
    with pytest.raises(BadSetting) as caught:
        load_settings(**overrides)
    return caught.value.message


def test_everything_has_a_default_that_lies_in_the_data_folder(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings.data_dir == tmp_path / "shoal"
    assert settings.store_url == f"sqlite:///{tmp_path}/shoal/shoal.db"
    assert settings.artifacts_url == f"{tmp_path}/shoal/artifacts"
    assert settings.secrets_dir == tmp_path / "shoal" / "secrets"
    assert settings.workers >= 1


def test_environment_is_read_and_overrides_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PORT", "9000")
    monkeypatch.setenv("SHOAL_LEASE_S", "2.5")
    monkeypatch.setenv("SHOAL_ALLOW_PRIVATE", "true")
    monkeypatch.setenv("SHOAL_MODEL_URL", "http://model:8000/v1/")
    settings = load_settings(port=9001)
    assert (settings.port, settings.lease_s, settings.allow_private) == (9001, 2.5, True)
    assert settings.model_url == "http://model:8000/v1"


def test_what_a_model_server_wants_beside_the_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_MODEL_EXTRA_BODY", '{"chat_template_kwargs": {"enable_thinking": false}}')
    monkeypatch.setenv("SHOAL_MODEL_TEMPERATURE", "1")
    settings = load_settings()
    assert settings.model_extra_body == {"chat_template_kwargs": {"enable_thinking": False}}
    assert settings.model_temperature == 1
    assert pickle.loads(pickle.dumps(settings)) == settings
    for wrong in ("[1]", "{", "3"):
        assert "SHOAL_MODEL_EXTRA_BODY" in refusal(model_extra_body=wrong)


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PORT", "")
    assert load_settings().port == 8700


def test_hosts_are_split_by_commas_and_networks_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_ALLOW_HOSTS", "shop.internal:8443, 10.1.0.0/16,")
    assert load_settings().allow_hosts == ("shop.internal:8443", "10.1.0.0/16")
    monkeypatch.setenv("SHOAL_ALLOW_HOSTS", "10.1.0.0/33")
    assert "SHOAL_ALLOW_HOSTS" in refusal()


def test_shares_and_quotas_are_named_by_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_TENANT_WEIGHTS", "acme=5, other=0.5,")
    monkeypatch.setenv("SHOAL_TENANT_QUOTAS", "acme=5000,trusted=0")
    settings = load_settings()
    assert settings.tenant_weights == {"acme": 5.0, "other": 0.5}
    assert settings.tenant_quotas == {"acme": 5000, "trusted": 0}


def test_an_unknown_variable_stops_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_MODEL_URI", "http://model:8000/v1")
    assert refusal() == "SHOAL_MODEL_URI is not a setting; did you mean SHOAL_MODEL_URL?"


def test_an_unknown_override_stops_too() -> None:
    assert "'prot' is not a setting; did you mean SHOAL_PORT?" in refusal(prot=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SHOAL_PORT", "eighty"),
        ("SHOAL_PORT", "70000"),
        ("SHOAL_LEASE_S", "0"),
        ("SHOAL_SANDBOX", "maybe"),
        ("SHOAL_STORE_URL", "mysql://somewhere/db"),
        ("SHOAL_ARTIFACTS_URL", "gs://bucket"),
        ("SHOAL_ARTIFACTS_URL", "s3:///prefix"),
        ("SHOAL_MODEL_URL", "model:8000"),
        ("SHOAL_TENANT_WEIGHTS", "acme"),
        ("SHOAL_TENANT_WEIGHTS", "acme=0"),
        ("SHOAL_TENANT_QUOTAS", "acme=1.5"),
        ("SHOAL_TENANT_QUOTAS", "=5"),
        ("SHOAL_TENANT_QUOTAS", "acme=-1"),
    ],
)
def test_a_bad_value_stops_with_its_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    message = refusal()
    assert message.startswith(name)
    assert ";" not in message, "one fault, one sentence"


def test_all_faults_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PORT", "x")
    monkeypatch.setenv("SHOAL_WORKERS", "0")
    monkeypatch.setenv("SHOAL_COLOUR", "red")
    message = refusal()
    assert all(name in message for name in ("SHOAL_PORT", "SHOAL_WORKERS", "SHOAL_COLOUR"))


def test_no_message_shows_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_STORE_URL", "mysql://shoal:hunter2@db/shoal")
    assert "hunter2" not in refusal()
    monkeypatch.setenv("SHOAL_STORE_URL", "postgresql://shoal:hunter2@db/shoal")
    monkeypatch.setenv("SHOAL_MODEL_API_KEY", "hunter3")
    assert "hunter" not in repr(load_settings()) + str(load_settings())


def test_service_links_of_kubernetes_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_PORT", "tcp://10.0.0.7:8700")
    monkeypatch.setenv("SHOAL_SERVICE_HOST", "10.0.0.7")
    monkeypatch.setenv("SHOAL_SERVICE_PORT", "8700")
    monkeypatch.setenv("SHOAL_PORT_8700_TCP_ADDR", "10.0.0.7")
    monkeypatch.setenv("SHOAL_GATEWAY_SERVICE_PORT_HTTP", "8700")
    monkeypatch.setenv("SHOAL_GATEWAY_PORT", "tcp://10.0.0.8:8700")
    assert load_settings().port == 8700


def test_settings_travel_to_other_processes_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pickle.dumps(load_settings(port=1))
    monkeypatch.setenv("SHOAL_PORT", "2")
    assert pickle.loads(packed).port == 1


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1  # type: ignore[misc]


def test_every_setting_says_what_it_means_and_who_uses_it() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description and field.description.endswith("."), name
        assert isinstance(field.json_schema_extra, dict) and field.json_schema_extra["part"], name
