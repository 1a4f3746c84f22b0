"""The chart in a real control plane: what `make test-deploy` plays, asked of the API server itself.

There is no kubelet and no KubeRay: objects are stored, admitted, scaled and removed; no pod runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.agent.support.json_value import Json
from tests.cluster.conftest import Space
from tests.cluster.kube import Refused, replicas, scale, until
from tests.cluster.rights import questions
from tests.deploy import helm
from tests.deploy.cases import CASES, EXTERNAL, TRIAL, Case
from tests.deploy.charts import chart_of_version
from tests.deploy.objects import pods, without_hooks

_UNKNOWN_HERE = ("operator", "exposed", "openshift")
"""Parts of names of cases whose kinds have no definition among CRD_SCHEMAS: SeccompProfile, HTTPRoute."""

_INSTALLABLE = [case for case in CASES if not any(part in case.name for part in _UNKNOWN_HERE)]
_LATER: tuple[Json, ...] = (
    {"image": {"registry": "registry.example.com/team"}},
    {"imagePullSecrets": [{"name": "pull"}]},
    {"podSecurity": {"runAsUser": 20000}},
    {"commonLabels": {"team": "data"}},
    {"image": {"pullPolicy": "Always"}},
)


def _values(case: Case) -> Json:
    # Priority classes are the cluster's; each namespace has names of its own, so they do not meet.
    return helm.with_profiles(case.values, *case.profiles)


@pytest.mark.parametrize("case", _INSTALLABLE, ids=lambda case: case.name)
def test_it_is_installed_upgraded_and_removed(case: Case, space: Space) -> None:
    space.helm.install(_values(case))
    space.helm.upgrade(_values(case), force_conflicts=True)
    space.helm.uninstall()


@pytest.mark.parametrize("how", [{"force_conflicts": True}, {"server_side_apply": "false"}], ids=["server", "client"])
def test_upgrades_keep_what_the_autoscaler_set(space: Space, tmp_path: Path, how: Json) -> None:
    space.helm.install(EXTERNAL, **{key: value for key, value in how.items() if key == "server_side_apply"})
    for number, change in enumerate(_LATER):
        scale(space.kube, space.name, "browsers", 2 + number)
        space.helm.upgrade(EXTERNAL | change, **how)
        assert replicas(space.kube, space.name, "browsers") == 2 + number, change
    scale(space.kube, space.name, "browsers", 7)
    space.helm.upgrade(EXTERNAL, chart=chart_of_version("0.2.0", "0.2.0", tmp_path), **how)
    assert replicas(space.kube, space.name, "browsers") == 7


def test_without_the_flag_an_upgrade_conflicts_and_changes_nothing_of_ray(space: Space) -> None:
    space.helm.install(EXTERNAL)
    scale(space.kube, space.name, "browsers", 7)
    with pytest.raises(helm.Refused, match=r"conflict.*spec\.workerGroupSpecs"):
        space.helm.upgrade(EXTERNAL)
    assert replicas(space.kube, space.name, "browsers") == 7


def test_it_is_rolled_back(space: Space) -> None:
    space.helm.install(TRIAL, server_side_apply="false")
    space.helm.upgrade(TRIAL | _LATER[0], server_side_apply="false")
    space.helm.rollback(1)
    deployment = space.kube.get(f"/apis/apps/v1/namespaces/{space.name}/deployments/shoal-gateway")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "shoal/gateway:0.1.0"


def test_the_trial_s_password_outlives_the_release(space: Space) -> None:
    secret = f"/api/v1/namespaces/{space.name}/secrets/shoal-postgresql"
    space.helm.install(TRIAL)
    first = space.kube.get(secret)["data"]["password"]
    space.helm.uninstall()
    assert space.kube.get(secret)["data"]["password"] == first
    space.helm.install(TRIAL)
    assert space.kube.get(secret)["data"]["password"] == first


@pytest.mark.parametrize("level", ["baseline", "restricted"])
@pytest.mark.parametrize("values", [TRIAL, EXTERNAL | {"vllm": {"models": [{"name": "a", "model": "m"}]}}])
def test_pods_are_admitted_under_pod_security(space: Space, level: str, values: Json) -> None:
    name = f"{space.name}-{level}"
    labels = {"pod-security.kubernetes.io/enforce": level}
    metadata = {"name": name, "labels": labels}
    space.kube.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    for number, pod in enumerate(pods(helm.render(values, namespace=name))):
        # What a controller would add is not there yet: no account of that name, no class of that name.
        spec = {key: value for key, value in pod.spec.items() if key not in ("serviceAccountName", "priorityClassName")}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        until(lambda path=account: _is_there(space, path), "the namespace's account")  # type: ignore[misc]
        if pod.owner.endswith("-seccomp"):
            with pytest.raises(Refused, match="violates PodSecurity"):
                space.kube.create(f"/api/v1/namespaces/{name}/pods", body, dryRun="All")
        else:
            space.kube.create(f"/api/v1/namespaces/{name}/pods", body, dryRun="All")
    space.kube.delete(f"/api/v1/namespaces/{name}")


def _is_there(space: Space, path: str) -> bool:
    try:
        space.kube.get(path)
    except Refused as refused:
        if refused.code != 404:
            raise
        return False
    return True


def test_a_namespace_that_would_refuse_the_installer_is_told_before(space: Space) -> None:
    label = [{"op": "replace", "path": "/metadata/labels/pod-security.kubernetes.io~1enforce", "value": "baseline"}]
    space.kube.patch(f"/api/v1/namespaces/{space.name}", label, "tests")
    with pytest.raises(helm.Refused, match='enforces Pod Security "baseline"'):
        space.helm.install(EXTERNAL)


def test_a_quota_and_a_limit_range_take_the_profile_for_them(space: Space) -> None:
    base = f"/api/v1/namespaces/{space.name}"
    hard = {"limits.cpu": "100", "limits.memory": "200Gi", "requests.cpu": "50", "requests.memory": "100Gi"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all"}, "spec": {"hard": hard}}
    range_ = {"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "all"}, "spec": {"limits": [range_]}}
    space.kube.create(f"{base}/resourcequotas", quota)
    space.kube.create(f"{base}/limitranges", limits)
    values = helm.with_profiles({}, "small", "quota")
    space.helm.install(values)
    for number, pod in enumerate(pods(helm.render(values, namespace=space.name))):
        spec = {key: value for key, value in pod.spec.items() if key != "priorityClassName"}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}
        if "serviceAccountName" in spec or _is_there(space, f"{base}/serviceaccounts/default"):
            space.kube.create(f"{base}/pods", body, dryRun="All")


@pytest.mark.parametrize("values", [TRIAL, EXTERNAL | {"ray": {"autoscaler": {"enabled": False}}}], ids=["on", "off"])
def test_service_accounts_may_do_what_they_need_and_no_more(space: Space, values: Json) -> None:
    space.helm.install(values)
    for question in questions(without_hooks(helm.render(values, namespace=space.name)), space.name):
        assert space.kube.may(question.user, question.attributes) is question.allowed, question
