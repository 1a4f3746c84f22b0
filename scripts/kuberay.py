"""The chart's render as plain manifests, without what only Helm needs: its labels, its test pods, its list of parts."""

from __future__ import annotations

import sys

import yaml

from scripts.generated import deliver
from shoal.agent.support.json_value import Json
from tests.deploy import helm

FOLDER = helm.ROOT / "deploy" / "kuberay"
_HEAD = "# Written by scripts/kuberay from charts/shoal, values-small.yaml and values.yaml beside this file.\n"


def manifests() -> list[Json]:
    """The objects, in Helm's order."""
    values = yaml.safe_load((FOLDER / "values.yaml").read_text())
    rendered = helm.render(values, "small")
    return [_plain(obj) for obj in rendered if not _of_helm(obj["metadata"])]


def _of_helm(metadata: Json) -> bool:
    """Return whether only Helm uses it: its tests, and what its upgrades compare with."""
    return "helm.sh/hook" in metadata.get("annotations", {}) or metadata["name"].endswith("-parts")


def _plain(value: Json) -> Json:
    """Without the labels that name Helm."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _plain(part)
        for key, part in value.items()
        if key != "helm.sh/chart" and (key, part) != ("app.kubernetes.io/managed-by", "Helm")
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def text() -> str:
    """The content of shoal.yaml."""
    return _HEAD + yaml.dump_all(manifests(), Dumper=_Dumper, sort_keys=False, width=140, explicit_start=True)


if __name__ == "__main__":
    sys.exit(deliver("deploy/kuberay/shoal.yaml", text()))
