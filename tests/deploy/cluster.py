"""A played cluster for Helm: an API server in memory that keeps objects and who owns their fields.

It plays what upgrades of the chart depend on, and no more: `lookup`, server-side apply with conflicts, where every list
is atomic (as `spec.workerGroupSpecs` of a RayCluster is), defaults of a RayCluster's groups, immutable pod templates of
Jobs, the merge patches of Helm's client-side apply, and hooks, whose Jobs are complete at once. `make test-cluster`
asks a real API server.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import yaml

from shoal.agent.support.json_value import Json
from tests.deploy import helm
from tests.deploy.protobuf import name_and_labels, secret_list

Path = tuple[str, ...]

HELM, AUTOSCALER = "helm", "python-requests"
"""Field managers, as the API server would call them by their user agents."""

_LISTS = {helm.plural(kind): kind for kinds in helm.KINDS.values() for kind in kinds.split()}
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_MISSING = object()
_GROUP_DEFAULTS = {"numOfHosts": 1, "replicas": 0, "minReplicas": 0}
"""Defaults of KubeRay's definition for a group that names none."""


class Conflict(Exception):
    """The API server's answer 409 or 422; the message is told to Helm."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


@dataclass
class Stored:
    """One object, and who owns which of its fields."""

    content: Json
    owned: dict[str, set[Path]] = field(default_factory=dict)


@dataclass
class Cluster:
    """Objects by their paths in the API, such as `/api/v1/namespaces/shoal/secrets/shoal-cookies`."""

    objects: dict[str, Stored] = field(default_factory=dict)
    records: dict[str, bytes] = field(default_factory=dict)  # Helm's own Secrets, as it sent them
    forbidden: set[str] = field(default_factory=set)  # paths that Helm's account may not read

    def of_kind(self, kind: str) -> list[Json]:
        """Return what is there of that kind."""
        return [stored.content for stored in self.objects.values() if stored.content["kind"] == kind]

    def ray_cluster(self) -> Json:
        """The one RayCluster."""
        (found,) = self.of_kind("RayCluster")
        return found

    def delete(self, path: str) -> bool:
        """Takes what is at `path` away; whether something was."""
        return (self.objects.pop(path, None), self.records.pop(path, None)) != (None, None)

    def run(self, job: Json) -> None:
        """Do what the pod of a Job does, before the Job is said to be complete: nothing here."""

    def scale(self, group: str, replicas: int) -> None:
        """Patch the number of a group's pods, as Ray's autoscaler does."""
        (path,) = (path for path, stored in self.objects.items() if stored.content["kind"] == "RayCluster")
        content = copy.deepcopy(self.objects[path].content)
        for spec in content["spec"]["workerGroupSpecs"]:
            if spec["groupName"] == group:
                spec["replicas"] = replicas
        self.update(path, content, AUTOSCALER)

    def replicas(self, group: str) -> int:
        """The number of a group's pods that KubeRay keeps: what is asked for, within its bounds."""
        groups = self.ray_cluster()["spec"]["workerGroupSpecs"]
        found = next(spec for spec in groups if spec["groupName"] == group)
        return int(max(found["minReplicas"], min(found["replicas"], found["maxReplicas"])))

    def update(self, path: str, content: Json, manager: str) -> Json:
        """Stores `content` whole; the fields that changed belong to `manager` alone from now on."""
        old = self.objects.get(path)
        before = old.content if old else {}
        _check_immutable(before, content)
        after = _defaulted(content)
        changed = {leaf for leaf in _leaves(before) | _leaves(after) if _at(before, leaf) != _at(after, leaf)}
        owned = {name: paths - changed for name, paths in (old.owned if old else {}).items()}
        owned[manager] = owned.get(manager, set()) | (changed & _leaves(after))
        self.objects[path] = Stored(after, owned)
        return after

    def apply(self, path: str, wanted: Json, manager: str, *, force: bool) -> Json:
        """Server-side apply.

        Raises:
            Conflict: another manager owns a field that would change, and `force` is not set.
        """
        old = self.objects.get(path, Stored({}))
        mine = _leaves(wanted)
        taken = {
            leaf: owner
            for owner, leaves in old.owned.items()
            for leaf in leaves & mine
            if owner != manager and _at(old.content, leaf) != _at(wanted, leaf)
        }
        if taken and not force:
            words = ", ".join(f'conflict with "{owner}": .{".".join(leaf)}' for leaf, owner in sorted(taken.items()))
            raise Conflict(409, "Conflict", f"Apply failed with {len(taken)} conflict: {words}")
        others = {name: leaves - taken.keys() for name, leaves in old.owned.items() if name != manager}
        dropped = old.owned.get(manager, set()) - mine - set[Path]().union(*others.values())
        content = _without(_merged(old.content, wanted), dropped)
        _check_immutable(old.content, content)
        if content["kind"] == "Job":
            self.run(content)
        self.objects[path] = Stored(_defaulted(content), others | {manager: mine})
        return self.objects[path].content


@contextmanager
def played(cluster: Cluster) -> Iterator[helm.Releases]:
    """Helm with `cluster` behind its API."""
    with played_at(cluster) as (_, releases):
        yield releases


@contextmanager
def played_at(cluster: Cluster) -> Iterator[tuple[str, helm.Releases]]:
    """`played`, with the address of the API for others than Helm."""
    with helm.serving(api_of(cluster)) as address, helm.configured(helm.kubeconfig(address), helm.NAMESPACE) as config:
        yield address, helm.Releases(config)


def api_of(cluster: Cluster) -> type[helm.Api]:
    """Return what answers for `cluster`."""
    return type("Api", (_Api,), {"cluster": cluster})


class _Api(helm.Api):
    cluster: Cluster

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        stored = self.cluster.objects.get(path)
        if path in self.cluster.forbidden:
            self._status(403, "Forbidden", f"{path} is forbidden")
        elif stored is not None:
            self._answer(200, stored.content)
        elif path in self.cluster.records:
            self._send(200, self.cluster.records[path], _PROTOBUF)
        elif (kind := _LISTS.get(path.rpartition("/")[2])) and "labelSelector=name" not in query:
            # Nothing is watched: a client that wants to lists again.
            wanted = dict(pair.split("=", 1) for pair in parse_qs(query).get("labelSelector", ()))
            items = [one for one in self.cluster.of_kind(kind) if wanted.items() <= _labels(one).items()]
            found = {"kind": f"{kind}List", "metadata": {"resourceVersion": "1"}, "items": items}
            self._answer(404 if "watch=true" in query else 200, found)
        elif path.endswith("/secrets"):
            asked = dict(pair.split("=", 1) for pair in parse_qs(query)["labelSelector"][0].split(","))
            found = [raw for raw in self.cluster.records.values() if asked.items() <= name_and_labels(raw)[1].items()]
            self._send(200, secret_list(found), _PROTOBUF)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = self._body()
        if not body.startswith(b"{"):
            self.cluster.records[f"{self.path.partition('?')[0]}/{name_and_labels(body)[0]}"] = body
            self._send(201, body, _PROTOBUF)
            return
        content = json.loads(body)
        path = f"{self.path.partition('?')[0]}/{content['metadata']['name']}"
        self._answer(201, self.cluster.update(path, content, HELM))

    def do_PUT(self) -> None:
        path, body = self.path.partition("?")[0], self._body()
        self.cluster.records[path] = body
        self._send(200, body, _PROTOBUF)

    def do_PATCH(self) -> None:
        path, _, query = self.path.partition("?")
        body, kind = self._body(), self.headers["Content-Type"]
        try:
            if "json-patch+json" in kind:
                content = copy.deepcopy(self.cluster.objects[path].content)
                for operation in json.loads(body):
                    _replace(content, operation)
                self._answer(200, self.cluster.update(path, content, self.headers["User-Agent"]))
            elif "apply-patch" in kind:
                force = "force=true" in query
                self._answer(200, self.cluster.apply(path, yaml.safe_load(body), HELM, force=force))
            else:
                merged = _merged(self.cluster.objects[path].content, json.loads(body), removing=True)
                self._answer(200, self.cluster.update(path, merged, HELM))
        except Conflict as conflict:
            self._status(conflict.code, conflict.reason, str(conflict))

    def do_DELETE(self) -> None:
        self._body()
        path = self.path.partition("?")[0]
        if self.cluster.delete(path):
            self._answer(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})
        else:
            self._status(404, "NotFound", "not found")


def _labels(content: Json) -> Mapping[str, str]:
    found: Mapping[str, str] = content["metadata"].get("labels", {})
    return found


# --- fields ----------------------------------------------------------------------------------------------


def _leaves(value: Json, above: Path = ()) -> set[Path]:
    """Paths of everything that is no object; a list is one leaf."""
    if isinstance(value, Mapping) and value:
        return set().union(*(_leaves(inner, (*above, key)) for key, inner in value.items()))
    return {above}


def _at(value: Json, path: Path) -> Json:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return _MISSING
        value = value[key]
    return value


def _merged(base: Json, over: Json, *, removing: bool = False) -> Json:
    """Objects by key, everything else replaced; with `removing` null takes a key away (RFC 7396)."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    result = dict(base)
    for key, value in over.items():
        if removing and value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value, removing=removing)
    return result


def _replace(content: Json, operation: Json) -> None:
    """Carries out one `replace` of RFC 6902, in place."""
    assert operation["op"] == "replace", operation
    *above, last = operation["path"].lstrip("/").split("/")
    for key in above:
        content = content[int(key)] if isinstance(content, list) else content[key]
    content[int(last) if isinstance(content, list) else last] = operation["value"]


def _without(content: Json, leaves: set[Path]) -> Json:
    result = copy.deepcopy(content)
    for leaf in leaves:
        inner = _at(result, leaf[:-1])
        if isinstance(inner, dict):
            inner.pop(leaf[-1], None)
    return result


def _defaulted(content: Json) -> Json:
    if content["kind"] == "Job":  # its pod is done at once
        return content | {"status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}}
    if content["kind"] != "RayCluster":
        return content
    result = copy.deepcopy(content)
    result["spec"]["workerGroupSpecs"] = [_GROUP_DEFAULTS | group for group in result["spec"]["workerGroupSpecs"]]
    return result


def _check_immutable(before: Json, after: Json) -> None:
    if before and after["kind"] == "Job" and before["spec"]["template"] != after["spec"]["template"]:
        name = after["metadata"]["name"]
        raise Conflict(422, "Invalid", f'Job.batch "{name}" is invalid: spec.template: field is immutable')
