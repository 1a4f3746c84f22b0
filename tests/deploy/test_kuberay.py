"""The manifests for those without Helm are what the chart makes."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml

from scripts import kuberay
from shoal.agent.support.json_value import Json
from tests.deploy import helm, schemas


def test_the_manifests_are_the_chart_s_render() -> None:
    written = list(yaml.safe_load_all((kuberay.FOLDER / "shoal.yaml").read_text()))
    assert written == kuberay.manifests(), "run scripts/kuberay"


def test_kustomize_renders_them_and_kubernetes_accepts_the_result() -> None:
    kubectl = shutil.which("kubectl") or shutil.which("kustomize")
    if kubectl is None:
        pytest.skip("neither kubectl nor kustomize is there")
    verb = ["kustomize"] if kubectl.endswith("kubectl") else ["build"]
    command = [kubectl, *verb, str(helm.ROOT / "deploy" / "kuberay")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    rendered = list(yaml.safe_load_all(ended.stdout))
    expected = kuberay.manifests()
    assert _names(rendered) == _names(expected)
    for obj in rendered:
        schemas.check(obj)
        if obj["kind"] != "PriorityClass":
            assert obj["metadata"].pop("namespace") == "shoal"
    by_name = {(obj["kind"], obj["metadata"]["name"]): obj for obj in rendered}
    for obj in expected:
        assert by_name[obj["kind"], obj["metadata"]["name"]] == obj, "kustomize changes more than the namespace"


def _names(objects: list[Json]) -> list[tuple[str, str]]:
    return sorted((obj["kind"], obj["metadata"]["name"]) for obj in objects)
