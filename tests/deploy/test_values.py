"""Wrong values are refused, with a message that says which and why."""

from __future__ import annotations

import re

import pytest
import yaml

from shoal.agent.support.json_value import Json
from tests.deploy import helm
from tests.deploy.cases import CASES, EXTERNAL, TRIAL
from tests.deploy.objects import of_kind, pods

_GROUP = {"name": "b", "browsers": 1, "minReplicas": 1, "maxReplicas": 2, "shmMiB": 512, "resources": {}}

_LLM = {"name": "a", "model": "m"}

_TENANT = {"tenant": "acme", "existingSecret": "acme-sites"}

WRONG: tuple[tuple[Json, str], ...] = (
    ({}, "no artifact store: set artifacts.url"),
    ({"artifacts": {"url": "s3://bucket"}}, "no database: set database.existingSecret"),
    (
        EXTERNAL | {"ray": {"extraEnv": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}},
        "ray.extraEnv[1]: A is set by the chart or stands in the list already",
    ),
    (
        EXTERNAL | {"ray": {"extraEnv": [{"name": "HOME", "value": "/root"}]}},
        "ray.extraEnv[0]: HOME is set by the chart",
    ),
    (
        EXTERNAL | {"browsers": {"jobSecrets": [_TENANT, _TENANT | {"existingSecret": "other"}]}},
        "browsers.jobSecrets[1]: acme has an entry already",
    ),
    (
        EXTERNAL | {"imagePullSecrets": [{"name": "registry"}, {"name": "registry"}]},
        "imagePullSecrets[1]: registry stands in the list already",
    ),
    (
        EXTERNAL | {"tls": {"caBundle": {"configMap": "a", "existingSecret": "b"}}},
        "tls.caBundle: configMap and existingSecret are both set",
    ),
    (EXTERNAL | {"gatewy": {}}, "additional properties 'gatewy' not allowed"),
    (EXTERNAL | {"gateway": {"replica": 3}}, "at '/gateway': additional properties 'replica' not allowed"),
    (EXTERNAL | {"gateway": {"replicas": "three"}}, "at '/gateway/replicas': got string, want integer"),
    (EXTERNAL | {"gateway": {"service": {"port": 70000}}}, "at '/gateway/service/port'"),
    (EXTERNAL | {"gateway": {"publicUrl": "shoal.example.com"}}, "at '/gateway/publicUrl'"),
    (EXTERNAL | {"gateway": {"autoscaling": {"maxReplicas": 1}}}, "maxReplicas 1 is less than minReplicas 2"),
    (EXTERNAL | {"gateway": {"ingress": {"enabled": True}}}, "at '/gateway/ingress/hosts': minItems"),
    (EXTERNAL | {"gateway": {"resources": {"limits": {"memory": "lots"}}}}, "at '/gateway/resources/limits/memory'"),
    (EXTERNAL | {"gateway": {"resources": {"limits": {"cpu": 0.5}}}}, "at '/gateway/resources/limits/cpu': got number"),
    (EXTERNAL | {"database": {"url": "mysql://db/shoal"}}, "at '/database/url'"),
    (EXTERNAL | {"database": {"networks": ["10.0.0.1"]}}, "at '/database/networks/0'"),
    (EXTERNAL | {"artifacts": {"url": "gs://bucket"}}, "at '/artifacts/url'"),
    (
        {"database": {"existingSecret": "db"}, "artifacts": {"url": "s3://bucket", "accessKeyId": "id"}},
        "artifacts.secretAccessKey is needed",
    ),
    (EXTERNAL | {"image": {"worker": {"digest": "sha256:abc"}}}, "at '/image/worker/digest'"),
    (EXTERNAL | {"settings": {"leases": 90}}, "at '/settings': additional properties 'leases' not allowed"),
    (EXTERNAL | {"settings": {"store_url": "x"}}, "additional properties 'store_url' not allowed"),
    (EXTERNAL | {"browsers": {"sandbox": True}}, "at '/browsers/sandbox'"),
    (EXTERNAL | {"browsers": {"groups": []}}, "at '/browsers/groups': minItems"),
    (EXTERNAL | {"browsers": {"groups": [_GROUP | {"slots": 4}]}}, "at '/browsers/groups/0'"),
    (EXTERNAL | {"browsers": {"groups": [_GROUP | {"minReplicas": 3}]}}, "b has maxReplicas 2, which is less than its"),
    (EXTERNAL | {"browsers": {"groups": [_GROUP | {"shmMiB": 340}]}}, "leaves Chromium less than 256 MiB"),
    (EXTERNAL | {"browsers": {"groups": [_GROUP, _GROUP]}}, "browsers.groups: two groups are called b"),
    (EXTERNAL | {"browsers": {"drainSeconds": 290}}, "must be at least 30 more than browsers.drainSeconds"),
    (EXTERNAL | {"model": {"url": "https://m/v1"}}, "model.name is needed with model.url"),
    (EXTERNAL | {"model": {"name": "b"}, "vllm": {"models": [{"name": "a", "model": "m"}]}}, "no model of that name"),
    (EXTERNAL | {"vllm": {"models": [{"name": "A b", "model": "m"}]}}, "at '/vllm/models/0/name'"),
    (EXTERNAL | {"vllm": {"models": [{"name": "a"}]}}, "missing property 'model'"),
    (EXTERNAL | {"vllm": {"keda": {"enabled": True}}}, "at '/vllm/models': minItems"),
    (
        EXTERNAL | {"gateway": {"httpRoute": {"enabled": True, "parentRefs": [{"name": "edge", "section": "https"}]}}},
        "at '/gateway/httpRoute/parentRefs/0': additional properties 'section' not allowed",
    ),
    (
        EXTERNAL | {"gateway": {"httpRoute": {"hostnames": ["https://shoal.example.com"]}}},
        "at '/gateway/httpRoute/hostnames/0'",
    ),
    (
        EXTERNAL | {"vllm": {"models": [_LLM | {"replicas": 2}]}},
        "a may have 2 replicas, and only one node can mount its",
    ),
    (
        EXTERNAL | {"vllm": {"models": [_LLM], "keda": {"enabled": True}}},
        "a may have 4 replicas, and only one node can",
    ),
    (
        EXTERNAL | {"vllm": {"models": [_LLM | {"replicas": 2, "weights": {"accessMode": "ReadWriteOncePod"}}]}},
        "a may have 2 replicas, and only one node can mount its weights (ReadWriteOncePod)",
    ),
    (EXTERNAL | {"router": {"enabled": True}}, "at '/vllm/models': minItems"),
    (EXTERNAL | {"ray": {"gcsFaultTolerance": {"enabled": True}}}, "at '/ray/gcsFaultTolerance/redisAddress'"),
    (
        EXTERNAL | {"ray": {"gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:6379", "username": "shoal"}}},
        "ray.gcsFaultTolerance.existingSecret is needed with ray.gcsFaultTolerance.username",
    ),
    (EXTERNAL | {"ray": {"upgradeStrategy": "Rolling"}}, "at '/ray/upgradeStrategy': value must be one of"),
    (EXTERNAL | {"monitoring": {"interval": "15"}}, "at '/monitoring/interval'"),
)

_OWN = ("cookies", "database", "help", "object-store", "postgresql", "s3", "ray")
_EXISTING: tuple[tuple[str, ...], ...] = (
    ("database", "existingSecret"),
    ("postgresql", "existingSecret"),
    ("artifacts", "existingSecret"),
    ("objectStore", "existingSecret"),
    ("gateway", "existingCookieSecret"),
    ("gateway", "existingWebhookSecret"),
    ("gateway", "existingOidcSecret"),
    ("gateway", "existingSmtpSecret"),
    ("help", "existingSecret"),
    ("migration", "existingSecret"),
    ("ray", "existingAuthSecret"),
    ("ray", "gcsFaultTolerance", "existingSecret"),
    ("tls", "caBundle", "existingSecret"),
    ("model", "existingSecret"),
    ("vllm", "existingTokenSecret"),
)


@pytest.mark.parametrize("path", _EXISTING, ids=".".join)
def test_the_chart_s_own_secrets_cannot_be_named_as_yours(path: tuple[str, ...]) -> None:
    """An upgrade to such a value would delete the very Secret that it names."""
    value: Json = f"shoal-{_OWN[_EXISTING.index(path) % len(_OWN)]}"
    for key in reversed(path):
        value = {key: value}
    with pytest.raises(
        helm.Refused, match=re.escape(f"{'.'.join(path)}: shoal-") + ".*give your own Secret another name"
    ):
        helm.render(helm.merged(TRIAL, value))


@pytest.mark.parametrize("name", _OWN)
def test_each_of_the_chart_s_own_secrets_is_known(name: str) -> None:
    with pytest.raises(helm.Refused, match=f"browsers.jobSecrets.0..existingSecret: shoal-{name} is the name"):
        secrets = [{"tenant": "acme", "existingSecret": f"shoal-{name}"}]
        helm.render(TRIAL | {"browsers": {"jobSecrets": secrets}})


def test_the_list_of_the_chart_s_own_secrets_is_whole() -> None:
    inline = {"database": {"url": "postgresql://u:p@db/shoal"}, "help": {"enabled": True}}
    keys = {"artifacts": {"url": "s3://bucket", "accessKeyId": "id", "secretAccessKey": "secret"}}
    made = {
        obj["metadata"]["name"]
        for values in (TRIAL, inline | keys)
        for obj in helm.render(values)
        if obj["kind"] == "Secret"
    }
    assert made | {"shoal-ray"} == {f"shoal-{name}" for name in _OWN}


def test_every_value_that_names_a_secret_is_looked_at() -> None:
    paths = {
        path
        for path in _leaves(helm.default_values())
        if path[-1].startswith("existing") and not path[-1].endswith("Key")
    }
    assert paths == set(_EXISTING)


def _leaves(values: Json, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, value in values.items():
        found += _leaves(value, (*above, key)) if isinstance(value, dict) and value else [(*above, key)]
    return found


@pytest.mark.parametrize(("values", "said"), WRONG, ids=[said for _, said in WRONG])
def test_wrong_values_are_refused_by_name(values: Json, said: str) -> None:
    with pytest.raises(helm.Refused, match=re.escape(said)):
        helm.render(values)


def test_notes_warn_of_what_is_for_trials_only() -> None:
    told = helm.notes(TRIAL | {"browsers": {"sandbox": "off"}})
    assert "one pod without copies or backups" in told
    assert "WARNING: Chromium runs without its sandbox" in told
    assert "shoal keys create" in told
    assert "WARNING" not in helm.notes(EXTERNAL)


def test_profiles_hold_no_value_that_the_chart_does_not_have() -> None:
    """The schema says so too; this names the file."""
    defaults = yaml.safe_load((helm.CHART / "values.yaml").read_text())
    for path in helm.CHART.glob("values-*.yaml"):
        unknown = set(yaml.safe_load(path.read_text())) - set(defaults)
        assert not unknown, f"{path.name}: {unknown}"


def test_the_versions_agree() -> None:
    """Ray in the chart, in the images and in the lock must be one; so must the chart's and the program's."""
    lock = (helm.ROOT / "requirements.lock").read_text()
    values = yaml.safe_load((helm.CHART / "values.yaml").read_text())
    chart = yaml.safe_load((helm.CHART / "Chart.yaml").read_text())
    assert f"ray=={values['ray']['version']}\n" in re.sub(r"\[\w+\]", "", lock)
    assert f'version = "{chart["appVersion"]}"' in (helm.ROOT / "pyproject.toml").read_text()


def test_the_list_of_the_chart_s_own_variables_is_whole() -> None:
    ray_pods = [pod for case in CASES for pod in pods(of_kind(case.objects(), "RayCluster"))]
    containers = [container for pod in ray_pods for container in pod.containers]
    for name in {entry["name"] for container in containers for entry in container.get("env", ())}:
        with pytest.raises(helm.Refused, match=rf"ray.extraEnv.0.: {name} is set by the chart"):
            helm.render(helm.merged(TRIAL, {"ray": {"extraEnv": [{"name": name, "value": "1"}]}}))
