"""Installing, upgrading and removing the chart by real Helm, against a played cluster that keeps what it is given."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from tests.deploy import helm
from tests.deploy.cases import EXTERNAL, TRIAL
from tests.deploy.cluster import Cluster, played

_NEW_IMAGE = EXTERNAL | {"image": {"registry": "registry.example.com/team"}}
_BOUNDS = {"name": "browsers", "browsers": 2, "shmMiB": 1024, "resources": {}}
_SECRETS = f"/api/v1/namespaces/{helm.NAMESPACE}/secrets"
_CLAIM = f"/api/v1/namespaces/{helm.NAMESPACE}/persistentvolumeclaims/data-shoal-postgresql-0"


# --- how many browser pods there are ---------------------------------------------------------------------


def test_helm_s_server_side_apply_meets_the_autoscaler_s_fields() -> None:
    """Why upgrades take `--force-conflicts`: the list of groups is one field; the same values conflict, too."""
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL)
        releases.upgrade(EXTERNAL)
        cluster.scale("browsers", 7)
        with pytest.raises(helm.Refused, match=r'conflict with "python-requests": \.spec\.workerGroupSpecs'):
            releases.upgrade(EXTERNAL)
    assert cluster.replicas("browsers") == 7


@pytest.mark.parametrize("how", [{"force_conflicts": True}, {"server_side_apply": "false"}], ids=["server", "client"])
@pytest.mark.parametrize("values", [EXTERNAL, _NEW_IMAGE], ids=["same values", "new image"])
def test_an_upgrade_keeps_the_number_of_browser_pods(values: Json, how: Json) -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL, **{key: value for key, value in how.items() if key == "server_side_apply"})
        cluster.scale("browsers", 7)
        releases.upgrade(values, **how)
    assert cluster.replicas("browsers") == 7
    image = cluster.ray_cluster()["spec"]["workerGroupSpecs"][1]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("registry.example.com") is (values is _NEW_IMAGE), "the upgrade did something"


def test_leaving_the_number_out_would_lose_it(tmp_path: Path) -> None:
    """The other way: the list is replaced as a whole, and a group without a number gets the definition's 0."""
    chart = tmp_path / "shoal"
    shutil.copytree(helm.CHART, chart)
    template = chart / "templates" / "ray.yaml"
    text = template.read_text()
    assert text.count("      replicas: {{ $now.replicas }}\n") == 1
    template.write_text(text.replace("      replicas: {{ $now.replicas }}\n", ""))
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL, chart=chart)
        cluster.scale("browsers", 7)
        releases.upgrade(_NEW_IMAGE, chart=chart, force_conflicts=True)
    assert cluster.replicas("browsers") == 1


@pytest.mark.parametrize(("least", "most", "kept"), [(1, 5, 5), (8, 9, 8), (0, 10, 7)])
def test_the_number_stays_within_the_new_bounds(least: int, most: int, kept: int) -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL)
        cluster.scale("browsers", 7)
        group = _BOUNDS | {"minReplicas": least, "maxReplicas": most}
        releases.upgrade(EXTERNAL | {"browsers": {"groups": [group, group | {"name": "new"}]}}, force_conflicts=True)
    assert cluster.replicas("browsers") == kept
    assert cluster.replicas("new") == least, "a new group begins with the least"


def test_pods_that_the_autoscaler_wants_ended_stay_named() -> None:
    """Between its patch and the operator's deletion an upgrade may come: then nobody else would end them."""
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL)
        path = next(path for path, stored in cluster.objects.items() if stored.content["kind"] == "RayCluster")
        content = cluster.objects[path].content
        content["spec"]["workerGroupSpecs"][1] |= {"replicas": 4, "scaleStrategy": {"workersToDelete": ["pod-a"]}}
        releases.upgrade(_NEW_IMAGE, force_conflicts=True)
    assert cluster.ray_cluster()["spec"]["workerGroupSpecs"][1]["scaleStrategy"] == {"workersToDelete": ["pod-a"]}


def test_without_the_autoscaler_values_say_how_many() -> None:
    fixed = EXTERNAL | {"ray": {"autoscaler": {"enabled": False}}}
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(fixed)
        cluster.scale("browsers", 7)
        releases.upgrade(fixed, force_conflicts=True)
    assert cluster.replicas("browsers") == 1


# --- Jobs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"imagePullSecrets": [{"name": "pull"}]},
        {"podSecurity": {"runAsUser": 20000}},
        {"commonLabels": {"team": "data"}},
        {"image": {"pullPolicy": "Always"}},
        {"priorityClasses": {"create": False}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_pods_makes_new_jobs(change: Json) -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(TRIAL)
        before = {job["metadata"]["name"] for job in cluster.of_kind("Job")}
        releases.upgrade(TRIAL | change, force_conflicts=True)
    after = {job["metadata"]["name"] for job in cluster.of_kind("Job")}
    assert len(before) == len(after) == 2 and not before & after


# --- Secrets that outlive a release --------------------------------------------------------------------------


def _password(cluster: Cluster) -> str:
    """Return what the API server would have: it keeps `stringData` as `data`."""
    stored = cluster.objects[f"{_SECRETS}/shoal-postgresql"].content
    text = stored.pop("stringData", {})
    stored["data"] = stored.get("data", {}) | {key: base64.b64encode(v.encode()).decode() for key, v in text.items()}
    return base64.b64decode(stored["data"]["password"]).decode()


def test_a_second_installation_has_the_password_of_the_volume() -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(TRIAL)
        first = _password(cluster)
        releases.uninstall()
        assert [obj["kind"] for obj in (stored.content for stored in cluster.objects.values())] == ["Secret"]
        releases.install(TRIAL)
        again = cluster.objects[f"{_SECRETS}/shoal-postgresql"].content["stringData"]
    assert again["password"] == first and first in again["url"]


def test_a_volume_whose_password_is_gone_is_told() -> None:
    cluster = Cluster()
    cluster.update(
        _CLAIM, {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-shoal-postgresql-0"}}, "kubelet"
    )
    with played(cluster) as releases:
        with pytest.raises(helm.Refused, match="holds a database whose password was in the Secret shoal-postgresql"):
            releases.install(TRIAL)
        releases.install(TRIAL | {"postgresql": {"enabled": True, "existingSecret": "mine"}})


# --- what the namespace refuses ------------------------------------------------------------------------------


def _in_namespace_of(level: str) -> Cluster:
    cluster = Cluster()
    metadata = {"name": helm.NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": level}}
    cluster.update(f"/api/v1/namespaces/{helm.NAMESPACE}", {"kind": "Namespace", "metadata": metadata}, "admin")
    return cluster


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_a_namespace_that_would_refuse_the_profile_s_installer_is_told(level: str) -> None:
    with played(_in_namespace_of(level)) as releases:
        with pytest.raises(
            helm.Refused, match=f'enforces Pod Security "{level}".*browsers.seccomp.install to operator'
        ):
            releases.install(EXTERNAL)
        releases.install(EXTERNAL | {"browsers": {"seccomp": {"install": "none"}}})


def test_an_account_that_may_not_read_the_namespace_is_told_by_helm() -> None:
    cluster = Cluster(forbidden={f"/api/v1/namespaces/{helm.NAMESPACE}"})
    with played(cluster) as releases:
        with pytest.raises(helm.Refused, match="forbidden"):
            releases.install(EXTERNAL)
        releases.install(EXTERNAL | {"browsers": {"seccomp": {"checkNamespace": False}}})


@pytest.mark.parametrize("values", [{"sandbox": "off"}, {"seccomp": {"checkNamespace": False}}], ids=str)
def test_the_namespace_is_looked_at_for_the_installer_alone(values: Json) -> None:
    with played(_in_namespace_of("restricted")) as releases:
        releases.install(EXTERNAL | {"browsers": values})


def test_a_privileged_namespace_takes_it() -> None:
    with played(_in_namespace_of("privileged")) as releases:
        releases.install(EXTERNAL)


# --- the plan ------------------------------------------------------------------------------------------------


def _plan(release: Json) -> dict[str, str]:
    """Part and what becomes of it, by what Helm prints."""
    text = release["info"]["notes"].partition("What this upgrade restarts:\n")[2]
    lines = [line.strip() for line in text.splitlines() if line.startswith("  ")]
    return dict(line.split(": ", 1) for line in lines[: len([line for line in lines if ": " in line])])


def test_an_upgrade_says_what_it_restarts() -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        first = releases.install(EXTERNAL)
        assert "What this upgrade restarts" not in first["info"]["notes"]
        assert "nothing: no pod changes" in releases.upgrade(EXTERNAL)["info"]["notes"]
        log = EXTERNAL | {"settings": {"log_level": "debug"}}
        assert {"gateway", "supervisor"} == _plan(releases.upgrade(log)).keys() & _PARTS
        told = _plan(releases.upgrade(_NEW_IMAGE))
        assert told.keys() & _PARTS == {"gateway", "supervisor", "migration", "ray-head", "ray-control", "ray-browsers"}
        assert "each drains for up to 270 s: kubectl -n shoal delete pod" in told["ray-browsers"]
        model = {"vllm": {"models": [{"name": "qwen", "model": "m"}]}}
        assert _plan(releases.upgrade(_NEW_IMAGE | model))["vllm-qwen"] == "is new"
        assert _plan(releases.upgrade(_NEW_IMAGE))["vllm-qwen"] == "is removed"


_PARTS = frozenset(
    {
        *("gateway", "supervisor", "migration", "router", "postgresql", "object-store"),
        *("ray-head", "ray-control", "ray-browsers", "vllm-qwen"),
    }
)


def test_recreating_all_ray_pods_at_once_is_told() -> None:
    at_once = {"ray": {"upgradeStrategy": "Recreate"}}
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL | at_once)
        told = _plan(releases.upgrade(_NEW_IMAGE | at_once))
    assert all("ends ALL Ray pods at once" in told[part] for part in ("ray-head", "ray-control", "ray-browsers"))


def test_a_release_that_kept_no_list_is_told() -> None:
    cluster = Cluster()
    with played(cluster) as releases:
        releases.install(EXTERNAL)
        del cluster.objects[f"/api/v1/namespaces/{helm.NAMESPACE}/configmaps/shoal-parts"]
        assert "unknown: Helm did not look at the cluster" in releases.upgrade(EXTERNAL)["info"]["notes"]
