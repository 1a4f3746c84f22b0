"""Schemas of Kubernetes and its operators: their own ones, unknown fields refused."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from shoal.agent.support.json_value import Json
from tests.deploy.gateway_api import HTTP_ROUTE
from tests.deploy.helm import ROOT
from tests.deploy.seccomp_profile import SECCOMP_PROFILE

KUBERNETES = "1.37"
_TOOLS = ROOT / ".venv-deploy"

_CUSTOM = {
    "ray.io": "ray.io_rayclusters.yaml",
    "keda.sh": "keda.sh_scaledobjects.yaml",
    "monitoring.coreos.com": "monitoring.coreos.com_{plural}.yaml",
}
"""API groups with published definitions, and the files that hold them."""

_WRITTEN_HERE = {"gateway.networking.k8s.io": HTTP_ROUTE, "security-profiles-operator.x-k8s.io": SECCOMP_PROFILE}
"""Groups whose definitions are not at hand: what they say of the fields that the chart sets."""


def check(obj: Json) -> None:
    """Fails where Kubernetes, or the operator whose object it is, would refuse `obj`."""
    _check(json.dumps(obj))


@cache
def _check(text: str) -> None:
    """`check`, once for each of the many objects that installations have in common."""
    obj = json.loads(text)
    group = obj["apiVersion"].rpartition("/")[0]
    if group in _WRITTEN_HERE:
        jsonschema.validate(obj, _WRITTEN_HERE[group])
    elif group in _CUSTOM:
        _check_custom(obj, group)
    else:
        _core().validate(obj, KUBERNETES, strict=True)


@cache
def _core() -> Any:
    """The package kubernetes-validate; its dependencies are among ours."""
    if not (_TOOLS / "kubernetes_validate").is_dir():
        pytest.skip("the Kubernetes schemas are not there: scripts/setup-deploy installs kubernetes-validate")
    sys.path.append(str(_TOOLS))
    try:
        import kubernetes_validate
        import kubernetes_validate.utils as inner
    except ImportError as error:
        pytest.skip(f"kubernetes-validate needs more than is installed: {error}")
    finally:
        sys.path.remove(str(_TOOLS))
    inner.schema_contents = cache(inner.schema_contents)  # it reads megabytes for each object
    return kubernetes_validate


def definitions() -> Path | None:
    """The folder with custom resource definitions: CRD_SCHEMAS, else shared/crds beside the checkout."""
    named = os.environ.get("CRD_SCHEMAS")
    folder = Path(named) if named else ROOT.parent / "shared" / "crds"
    return folder if folder.is_dir() else None


def _check_custom(obj: Json, group: str) -> None:
    folder = definitions()
    if folder is None:
        pytest.skip("no custom resource definitions: name a folder with them in CRD_SCHEMAS")
    path = folder / _CUSTOM[group].format(plural=obj["kind"].lower() + "s")
    _custom(path, obj["apiVersion"].rpartition("/")[2]).validate(obj)


@cache
def _custom(path: Path, version: str) -> jsonschema.Draft202012Validator:
    definition = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    found = next(entry for entry in definition["spec"]["versions"] if entry["name"] == version)
    schema = _closed(found["schema"]["openAPIV3Schema"])
    schema["properties"]["metadata"] = {"type": "object"}
    return jsonschema.Draft202012Validator(schema)


def _closed(schema: Json) -> Json:
    """The schema with unknown fields refused, as the API server does in strict mode, and its own words translated."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    is_record = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if is_record and not schema.get("x-kubernetes-preserve-unknown-fields") and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    if isinstance(pattern := schema.get("pattern"), str) and pattern.startswith("^(?i)"):
        closed["pattern"] = "(?i)^" + pattern.removeprefix("^(?i)")  # Go takes flags anywhere
    if schema.get("x-kubernetes-int-or-string") is True:
        closed.pop("anyOf", None)
        closed["type"] = ["integer", "string"]
    return closed
