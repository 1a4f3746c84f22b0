"""Ray's own autoscaler reads the pods of an installation, its helm tests' pods among them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from ray.autoscaler._private.kuberay.node_provider import IKubernetesHttpApiClient
from ray.autoscaler.v2.instance_manager.cloud_providers.kuberay.cloud_provider import KubeRayProvider

from shoal.agent.support.json_value import Json
from tests.deploy import helm
from tests.deploy.cases import CASES, Case
from tests.deploy.objects import Pods, of_kind, pods

_LEFT_BEHIND = {"state": {"terminated": {"exitCode": 1}}}
"""A pod of `helm test` that failed stays until the next one."""


class _Kubernetes(IKubernetesHttpApiClient):
    """The API server as the autoscaler asks it, with one pod of each kind that a rendering makes."""

    def __init__(self, cluster: Json, there: list[Pods]) -> None:
        self._cluster = cluster
        self._pods = there

    def get(self, path: str) -> dict[str, Any]:
        kind, _, query = path.partition("?")
        if kind == "pods":
            (selector,) = parse_qs(query)["labelSelector"]
            key, _, value = selector.partition("=")
            found = [_stored(pod) for pod in self._pods if pod.labels.get(key) == value]
            return {"metadata": {"resourceVersion": "1"}, "items": found}
        if kind.startswith("pods/"):
            return {"metadata": {"resourceVersion": "1"}}
        assert urlsplit(path).path == f"rayclusters/{self._cluster['metadata']['name']}"
        return self._cluster

    def patch(self, path: str, payload: Any, content_type: str = "") -> dict[str, Any]:
        raise AssertionError(f"reading changes nothing, but {path} was patched")

    def delete(self, path: str) -> dict[str, Any]:
        raise AssertionError(f"reading deletes nothing, but {path} was deleted")


def _stored(pod: Pods) -> Json:
    status = {"containerStatuses": [_LEFT_BEHIND if pod.owner.startswith("Pod/") else {"state": {"running": {}}}]}
    name = pod.owner.lower().replace("/", "-")
    return {"metadata": {"name": name, "labels": dict(pod.labels)}, "spec": pod.spec, "status": status}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_autoscaler_reads_nodes_of_ray_and_no_other_pods(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_HEAD_POD_NAME", "head")
    objects = case.objects()
    (cluster,) = of_kind(objects, "RayCluster")
    name = cluster["metadata"]["name"]
    kubernetes = _Kubernetes(cluster, list(pods(objects)))
    provider = KubeRayProvider(name, {"namespace": helm.NAMESPACE}, gcs_client=None, k8s_api_client=kubernetes)
    nodes = {instance.node_type for instance in provider._fetch_instances().values()}
    assert nodes == {"headgroup", *(group["groupName"] for group in cluster["spec"]["workerGroupSpecs"])}
