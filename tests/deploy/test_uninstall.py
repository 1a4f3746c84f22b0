"""`helm uninstall` by real Helm: the RayCluster and its pods go first, by the very program of the chart's hook."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shoal.agent.support.json_value import Json
from tests.certificates import private_authority
from tests.cluster.rights import Question, by_roles
from tests.deploy import helm
from tests.deploy.cases import EXTERNAL
from tests.deploy.cluster import Cluster, api_of
from tests.deploy.objects import of_kind, title

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_PODS = f"/api/v1/namespaces/{helm.NAMESPACE}/pods"
_REDIS = {
    "ray": {"gcsFaultTolerance": {"enabled": True, "redisAddress": "redis:6379", "existingSecret": "redis"}},
}
_FINALIZER = "ray.io/gcs-ft-redis-cleanup-finalizer"
_NEEDED = {"ServiceAccount", "NetworkPolicy", "PriorityClass", "Secret", "Role", "RoleBinding"}
"""Kinds of objects that draining pods, and KubeRay's Job that empties the Redis, still use."""


@dataclass
class _WithRay(Cluster):
    """A cluster with KubeRay and its pods; a program of a Job runs as in its pod."""

    account: Path = Path()
    api: str = ""
    deleted: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)  # what was gone while pods still drained
    said: str = ""
    draining: bool = False

    def begin(self, pods: int) -> None:
        """Pods of Ray, and one that is none of them."""
        labels = {"ray.io/cluster": "shoal-ray"}
        for number in range(pods):
            self.update(f"{_PODS}/ray-{number}", _pod(f"ray-{number}", labels), "kuberay")
        self.update(f"{_PODS}/another", _pod("another", {"ray.io/cluster": "another"}), "kuberay")
        if "gcsFaultToleranceOptions" in self.ray_cluster()["spec"]:
            self.ray_cluster()["metadata"]["finalizers"] = [_FINALIZER]

    def delete(self, path: str) -> bool:
        self.deleted.append(path.removeprefix(f"/apis/ray.io/v1/namespaces/{helm.NAMESPACE}/"))
        if "/rayclusters/" not in path or path not in self.objects:
            return super().delete(path)
        self.draining = True
        if not self.objects[path].content["metadata"].get("finalizers"):
            super().delete(path)  # its pods are the garbage collector's
        return True

    def of_kind(self, kind: str) -> list[Json]:
        found = super().of_kind(kind)
        if kind == "Pod" and self.draining:
            there = {stored.content["kind"] for stored in self.objects.values()}
            rays = [pod["metadata"]["name"] for pod in found if pod["metadata"]["name"].startswith("ray-")]
            self.missing |= _NEEDED - there
            if rays:
                self.objects.pop(f"{_PODS}/{rays[0]}")  # each look finds one fewer
            for path in [path for path in self.objects if "/rayclusters/" in path and not rays]:
                self.objects.pop(path)  # the Redis is empty: KubeRay takes its finalizer away
        return found

    def run(self, job: Json) -> None:
        if "helm.sh/hook" not in job["metadata"].get("annotations", {}):
            return
        (container,) = job["spec"]["template"]["spec"]["containers"]
        address = urlsplit(self.api)
        environment = {entry["name"]: entry["value"] for entry in container["env"]}
        environment |= {"KUBERNETES_SERVICE_HOST": "localhost", "KUBERNETES_SERVICE_PORT": str(address.port)}
        program = container["args"][0].replace(_ACCOUNT, str(self.account)).replace("time.sleep(2)", "time.sleep(0.01)")
        command = [sys.executable, *container["command"][1:], program]
        ended = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 0, ended.stderr
        self.said = ended.stdout


def _pod(name: str, labels: Json) -> Json:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}}


@contextmanager
def _released(values: Json, folder: Path, pods: int = 3) -> Iterator[tuple[_WithRay, helm.Releases, list[str]]]:
    """A cluster with the release and so many pods of Ray; and what the hook's account asks for, a line each."""
    authority = private_authority(folder / "ca")
    account = folder / "account"
    account.mkdir()
    (account / "ca.crt").write_bytes(authority.certificate.read_bytes())
    (account / "token").write_text("of-the-hook")
    (account / "namespace").write_text(helm.NAMESPACE)
    cluster, asked = _WithRay(account=account), list[str]()

    class Seen(api_of(cluster)):  # type: ignore[misc]
        def parse_request(self) -> bool:
            is_read: bool = super().parse_request()
            if is_read:
                assert self.headers["Authorization"] == "Bearer of-the-hook"
                asked.append(f"{self.command} {self.path}")
            return is_read

    with ExitStack() as stack:
        cluster.api = stack.enter_context(helm.serving(Seen, authority.server))
        address = stack.enter_context(helm.serving(api_of(cluster)))
        config = stack.enter_context(helm.configured(helm.kubeconfig(address), helm.NAMESPACE))
        releases = helm.Releases(config)
        releases.install(values)
        cluster.begin(pods)
        yield cluster, releases, asked


@pytest.mark.parametrize("values", [EXTERNAL, EXTERNAL | _REDIS], ids=["alone", "with a redis"])
def test_ray_s_pods_are_gone_before_anything_that_they_need(values: Json, tmp_path: Path) -> None:
    with _released(values, tmp_path) as (cluster, releases, asked):
        releases.uninstall()
    ours = [path for path in cluster.deleted if "-uninstall" not in path]
    assert ours[0] == "rayclusters/shoal-ray"
    assert cluster.missing == set()
    assert "shoal-ray and its pods are gone" in cluster.said and ", 3 pods left" in cluster.said
    assert {title(stored.content) for stored in cluster.objects.values()} == {"Pod/another"}
    objects = helm.render(values)
    account = next(one for one in of_kind(objects, "ServiceAccount") if one["metadata"]["name"] == "shoal-uninstall")
    for request in asked:
        assert by_roles(objects, _question(account["metadata"]["name"], request)), request


def _question(account: str, request: str) -> Question:
    """A request as RBAC reads it."""
    verb, address = request.split(" ")
    *_, last, name = urlsplit(address).path.split("/")
    group = "ray.io" if last == "rayclusters" else ""
    if last != "rayclusters":
        return Question(account, {"verb": "list", "group": group, "resource": name}, True)
    return Question(account, {"verb": verb.lower(), "group": group, "resource": last, "name": name}, True)


def test_a_cluster_that_is_gone_already_is_no_fault(tmp_path: Path) -> None:
    with _released(EXTERNAL, tmp_path, pods=0) as (cluster, releases, _):
        for path in [path for path in cluster.objects if "/rayclusters/" in path]:
            cluster.objects.pop(path)
        releases.uninstall()
    assert {title(stored.content) for stored in cluster.objects.values()} == {"Pod/another"}


def test_without_the_hook_helm_takes_the_raycluster_last(tmp_path: Path) -> None:
    """Why there is a hook: this is Helm's own order, and it does not wait."""
    without = EXTERNAL | {"uninstall": {"waitForRay": False}}
    assert not any("-uninstall" in obj["metadata"]["name"] for obj in helm.render(without))
    with _released(without, tmp_path) as (cluster, releases, _):
        releases.uninstall()
    order = [path for path in cluster.deleted if "/secrets/sh.helm" not in path]
    assert order[-1] == "rayclusters/shoal-ray"


def test_two_releases_on_one_redis_do_not_share_their_state() -> None:
    """KubeRay keys a cluster's state by its UID, unless it is told a name, which another namespace may have as well."""
    options = []
    for namespace in ("production", "staging"):
        (cluster,) = of_kind(helm.render(EXTERNAL | _REDIS, namespace=namespace), "RayCluster")
        options.append(cluster["spec"]["gcsFaultToleranceOptions"])
    assert all("externalStorageNamespace" not in option for option in options)


def test_a_user_of_the_redis_is_named_with_its_password() -> None:
    values = helm.merged(EXTERNAL | _REDIS, {"ray": {"gcsFaultTolerance": {"username": "shoal"}}})
    (cluster,) = of_kind(helm.render(values), "RayCluster")
    options = cluster["spec"]["gcsFaultToleranceOptions"]
    assert options["redisUsername"] == {"value": "shoal"}
    assert options["redisPassword"]["valueFrom"]["secretKeyRef"] == {"name": "redis", "key": "redis-password"}
