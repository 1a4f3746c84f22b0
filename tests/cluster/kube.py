"""As much of a Kubernetes client as the tests need, over plain HTTP requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from shoal.agent.support.json_value import Json

AUTOSCALER = "python-requests"
"""The user agent of Ray's autoscaler, by which the API server names the owner of what it patched."""


class Refused(Exception):
    """The API server's answer was an error; the message is its own."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Kube:
    """One API server, by its paths."""

    http: httpx.Client

    def get(self, path: str) -> Json:
        """The object or list at `path`."""
        return self._ask("GET", path)

    def create(self, path: str, body: Json, **params: str) -> Json:
        """`body`, as the server stored it."""
        return self._ask("POST", path, json=body, params=params)

    def patch(self, path: str, operations: list[Json], agent: str) -> Json:
        """The object after a JSON patch (RFC 6902) by the program `agent`."""
        headers = {"Content-Type": "application/json-patch+json", "User-Agent": agent}
        return self._ask("PATCH", path, json=operations, headers=headers)

    def delete(self, path: str) -> None:
        """Begins to remove what is at `path`."""
        self._ask("DELETE", path)

    def may(self, user: str, attributes: Json) -> bool:
        """Return whether `user` may do that: `kubectl auth can-i`, by a SubjectAccessReview."""
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": attributes},
        }
        return bool(self.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)["status"]["allowed"])

    def _ask(self, method: str, path: str, **options: Any) -> Json:
        answer = self.http.request(method, path, **options)
        if answer.is_error:
            raise Refused(answer.status_code, answer.text)
        return answer.json()


@contextmanager
def connected(address: str, token: str | None = None) -> Iterator[Kube]:
    """A client of the server at `address`, whose certificate is not looked at: it is on loopback."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=address, headers=headers, verify=False, timeout=30) as http:
        yield Kube(http)


def scale(kube: Kube, namespace: str, group: str, replicas: int) -> None:
    """Patch the group's number by its place in the list, as Ray's autoscaler does to have so many pods."""
    (cluster,) = kube.get(f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters")["items"]
    groups = [spec["groupName"] for spec in cluster["spec"]["workerGroupSpecs"]]
    path = f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters/{cluster['metadata']['name']}"
    where = f"/spec/workerGroupSpecs/{groups.index(group)}/replicas"
    kube.patch(path, [{"op": "replace", "path": where, "value": replicas}], AUTOSCALER)


def replicas(kube: Kube, namespace: str, group: str) -> int:
    """The number of pods that a group is to have."""
    (cluster,) = kube.get(f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters")["items"]
    return int(next(spec["replicas"] for spec in cluster["spec"]["workerGroupSpecs"] if spec["groupName"] == group))


def install_definitions(kube: Kube, folder: Path) -> None:
    """Makes the custom resource definitions of `folder` and waits until the server serves them."""
    names = []
    for path in sorted(folder.glob("*.yaml")):
        definition = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        kube.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        names.append(definition["metadata"]["name"])

    def served() -> bool:
        found = [kube.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}") for name in names]
        states = [{c["type"]: c["status"] for c in one.get("status", {}).get("conditions", ())} for one in found]
        return all(state.get("Established") == "True" for state in states)

    until(served, "the definitions are served")


def until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Waits for a condition.

    Raises:
        TimeoutError: it did not come true in time.
    """
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)
