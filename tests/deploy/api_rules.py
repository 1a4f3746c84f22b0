"""Rules by which an API server refuses objects although the schemas allow them: networks, names, labels, amounts, lists
with keys.

`problems` tells every such fault of a rendering, so that rendering alone shows what an installation would have met.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterator

from shoal.agent.support.json_value import Json
from tests.deploy.objects import Pods, of_kind, pods, title

_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_1123 = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")

_REVISION = "-" + "0" * 10
"""Suffix that the controller adds to a StatefulSet's name for the label `controller-revision-hash` of its pods."""

_LONGEST = {"Service": 63, "Job": 63, "StatefulSet": 63 - len(_REVISION), "RayCluster": 53}
"""Characters of names. Job: the label `job-name`. RayCluster: KubeRay's own bound."""

_BINARY = {
    "": 1,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}


def problems(objects: list[Json]) -> list[str]:
    """Each fault in words, with the object that has it."""
    return [*_networks(objects), *_names(objects), *_labels(objects), *_containers(objects), *_twice(objects)]


def within(inner: str, outer: str) -> bool:
    """Return whether `inner` is a strict subset of `outer`, as the API server reckons:
    IPv4-mapped IPv6 is IPv4 to it.
    """
    one, other = ipaddress.ip_network(inner), ipaddress.ip_network(outer)
    if isinstance(one, ipaddress.IPv6Network) and one.network_address.ipv4_mapped is not None:
        return False
    return one != other and one.version == other.version and one.subnet_of(other)  # type: ignore[arg-type]


def _networks(objects: list[Json]) -> Iterator[str]:
    for policy in of_kind(objects, "NetworkPolicy"):
        spec = policy["spec"]
        for rule in [*spec.get("ingress", ()), *spec.get("egress", ())]:
            for block in [
                peer["ipBlock"] for peer in [*rule.get("from", ()), *rule.get("to", ())] if "ipBlock" in peer
            ]:
                for inner in block.get("except", ()):
                    if not within(inner, block["cidr"]):
                        yield f"{title(policy)}: except {inner} must be a strict subset of cidr {block['cidr']}"
            for port in rule.get("ports", ()):
                if "endPort" in port and not port["port"] <= port["endPort"] <= 65535:
                    yield f"{title(policy)}: ports {port['port']} to {port['endPort']}"


def _names(objects: list[Json]) -> Iterator[str]:
    for obj in objects:
        kind, name = obj["kind"], obj["metadata"]["name"]
        shape = _LABEL_1035 if kind in ("Service", "RayCluster") else _SUBDOMAIN
        if not shape.fullmatch(name):
            yield f"{title(obj)}: not a name for this kind"
        if len(name) > _LONGEST.get(kind, 253):
            yield f"{title(obj)}: {len(name)} characters, {_LONGEST.get(kind, 253)} are allowed"
        for key in {**obj.get("data", {}), **obj.get("stringData", {})} if kind in ("ConfigMap", "Secret") else ():
            if not _DATA_KEY.fullmatch(key):
                yield f"{title(obj)}: key {key!r}"
    for pod in pods(objects):
        parts = [*pod.containers, *pod.spec.get("volumes", ())]
        for part in parts:
            if not _LABEL_1123.fullmatch(part["name"]) or len(part["name"]) > 63:
                yield f"{pod.owner}: a container or volume called {part['name']!r}"


def _labels(objects: list[Json]) -> Iterator[str]:
    sets = [(title(obj), obj["metadata"].get("labels", {})) for obj in objects]
    sets += [(pod.owner, pod.labels) for pod in pods(objects)]
    sets += [(title(obj), obj["spec"]["selector"]) for obj in of_kind(objects, "Service")]
    for where, labels in sets:
        for key, value in labels.items():
            prefix, _, name = key.rpartition("/")
            good_key = (
                0 < len(name) <= 63 and _LABEL_VALUE.fullmatch(name) and (not prefix or _SUBDOMAIN.fullmatch(prefix))
            )
            if not good_key or len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
                yield f"{where}: label {key}={value}"


def _containers(objects: list[Json]) -> Iterator[str]:
    for pod in pods(objects):
        for container in pod.containers:
            resources = container.get("resources", {})
            limits = resources.get("limits", {})
            for name, amount in resources.get("requests", {}).items():
                if name in limits and quantity(amount) > quantity(limits[name]):
                    yield f"{pod.owner}: {container['name']} asks for {name} {amount}, its limit is {limits[name]}"


def quantity(text: str | float) -> float:
    """An amount of Kubernetes as a number."""
    number, unit = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(text)).groups()  # type: ignore[union-attr]
    return float(number) * _BINARY[unit]


def _twice(objects: list[Json]) -> Iterator[str]:
    """Entries with the same key, which server-side apply refuses."""
    yield from _counted("the rendering", [f"{obj['apiVersion']} {title(obj)}" for obj in objects])
    for pod in pods(objects):
        yield from _counted(f"volumes of {pod.owner}", [volume["name"] for volume in pod.spec.get("volumes", ())])
        yield from _counted(f"containers of {pod.owner}", [container["name"] for container in pod.containers])
        for container in pod.containers:
            where = f"{container['name']} of {pod.owner}"
            yield from _counted(f"variables of {where}", [entry["name"] for entry in container.get("env", ())])
            yield from _counted(
                f"mounts of {where}", [entry["mountPath"] for entry in container.get("volumeMounts", ())]
            )


def _counted(where: str, keys: list[str]) -> Iterator[str]:
    for key, times in Counter(keys).items():
        if times > 1:
            yield f"{where}: {key} stands there {times} times"


# --- Pod Security ------------------------------------------------------------------------------------------

_BASELINE_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_RESTRICTED_VOLUMES = frozenset(
    {
        *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"),
    }
)


def pod_security(pod: Pods) -> str:
    """The strictest of Kubernetes' Pod Security levels that takes `pod`: privileged, baseline or restricted."""
    spec, context = pod.spec, pod.spec.get("securityContext", {})
    own = [container.get("securityContext", {}) for container in pod.containers]
    sources = {key for volume in spec.get("volumes", ()) for key in volume if key != "name"}
    added = {name for each in own for name in each.get("capabilities", {}).get("add", ())}
    baseline = (
        not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
        and "hostPath" not in sources
        and not any(each.get("privileged") for each in own)
        and added <= _BASELINE_CAPABILITIES
        and all(each.get("seccompProfile", {}).get("type") != "Unconfined" for each in [context, *own])
        and not any("hostPort" in port for container in pod.containers for port in container.get("ports", ()))
    )
    restricted = (
        baseline
        and sources <= _RESTRICTED_VOLUMES
        and added <= {"NET_BIND_SERVICE"}
        and all(each.get("allowPrivilegeEscalation") is False for each in own)
        and all("ALL" in each.get("capabilities", {}).get("drop", ()) for each in own)
        and all(each.get("runAsNonRoot", context.get("runAsNonRoot")) is True for each in own)
        and all(each.get("runAsUser", context.get("runAsUser")) != 0 for each in own)
        and all("type" in (each.get("seccompProfile") or context.get("seccompProfile") or {}) for each in own)
    )
    return "restricted" if restricted else "baseline" if baseline else "privileged"
