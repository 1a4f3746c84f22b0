"""Looking into rendered objects: their pods, what they select, what they refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shoal.agent.support.json_value import Json


@dataclass(frozen=True, slots=True)
class Pods:
    """Like pods that an object makes."""

    owner: str  # Kind/name, with the group for those of a RayCluster
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    spec: Json
    claims: frozenset[str]  # names of the claims that come with each pod

    @property
    def containers(self) -> list[Json]:
        """All containers, those that run first included."""
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]


def title(obj: Json) -> str:
    """`Kind/name`."""
    return f"{obj['kind']}/{obj['metadata']['name']}"


def of_kind(objects: Iterable[Json], *kinds: str) -> list[Json]:
    """Objects of these kinds."""
    return [obj for obj in objects if obj["kind"] in kinds]


def named(objects: Iterable[Json], kind: str, name: str) -> Json:
    """The object of that kind and name."""
    return next(obj for obj in of_kind(objects, kind) if obj["metadata"]["name"] == name)


def without_hooks(objects: Iterable[Json]) -> list[Json]:
    """Return what is there while a release is: no helm tests, and nothing of its removal."""
    return [obj for obj in objects if "helm.sh/hook" not in obj["metadata"].get("annotations", {})]


def pods(objects: Iterable[Json]) -> Iterator[Pods]:
    """Every kind of pod that the objects make, with the labels that KubeRay will add to Ray's."""
    for obj in objects:
        if obj["kind"] == "Pod":
            yield _pods(title(obj), obj, frozenset())
        elif obj["kind"] == "RayCluster":
            yield from _ray_pods(obj)
        elif "template" in obj.get("spec", {}):
            claims = frozenset(claim["metadata"]["name"] for claim in obj["spec"].get("volumeClaimTemplates", ()))
            yield _pods(title(obj), obj["spec"]["template"], claims)


def _pods(owner: str, template: Json, claims: frozenset[str], more: Mapping[str, str] | None = None) -> Pods:
    meta = template.get("metadata", {})
    labels = {**meta.get("labels", {}), **(more or {})}
    return Pods(owner, labels, meta.get("annotations", {}), template["spec"], claims)


def _ray_pods(cluster: Json) -> Iterator[Pods]:
    name = cluster["metadata"]["name"]
    head = cluster["spec"]["headGroupSpec"]
    added = {"ray.io/cluster": name, "ray.io/node-type": "head", "ray.io/group": "headgroup"}
    yield _pods(f"RayCluster/{name}/head", head["template"], frozenset(), added)
    for group in cluster["spec"]["workerGroupSpecs"]:
        added = {"ray.io/cluster": name, "ray.io/node-type": "worker", "ray.io/group": group["groupName"]}
        yield _pods(f"RayCluster/{name}/{group['groupName']}", group["template"], frozenset(), added)


def matches(selector: Json, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector takes these labels."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for rule in selector.get("matchExpressions", ()):
        has = {
            "Exists": rule["key"] in labels,
            "DoesNotExist": rule["key"] not in labels,
            "In": labels.get(rule["key"]) in rule.get("values", ()),
            "NotIn": labels.get(rule["key"]) not in rule.get("values", ()),
        }
        if not has[rule["operator"]]:
            return False
    return True


def port_names(pod: Pods) -> set[str]:
    """Named ports of a pod."""
    return {port["name"] for container in pod.containers for port in container.get("ports", ()) if "name" in port}


def references(pod: Pods) -> Iterator[tuple[str, str, str | None]]:
    """(kind, name, key) of each ConfigMap, Secret and claim that a pod needs; key None: the whole object."""
    for container in pod.containers:
        for source in container.get("envFrom", ()):
            for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                if field in source:
                    yield kind, source[field]["name"], None
        for variable in container.get("env", ()):
            value_from = variable.get("valueFrom", {})
            for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                if field in value_from:
                    yield kind, value_from[field]["name"], value_from[field]["key"]
    for volume in pod.spec.get("volumes", ()):
        yield from _volume_references(volume)
    for secret in pod.spec.get("imagePullSecrets", ()):
        yield "Secret", secret["name"], None


def _volume_references(volume: Json) -> Iterator[tuple[str, str, str | None]]:
    sources = [volume, *volume.get("projected", {}).get("sources", ())]
    for source in sources:
        for field, kind, name in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
            if field in source:
                inner = source[field]
                keys = [item["key"] for item in inner.get("items", ())] or [None]
                for key in keys:
                    yield kind, inner.get(name) or inner["name"], key
    if "persistentVolumeClaim" in volume:
        yield "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"], None


def keys_of(obj: Json) -> set[str]:
    """Keys of a ConfigMap or Secret."""
    return {*obj.get("data", {}), *obj.get("stringData", {})}
