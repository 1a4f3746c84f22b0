"""Copies of the chart that call themselves another version."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.deploy import helm


def chart_of_version(version: str, app: str, folder: Path) -> Path:
    """The folder of a copy with this version of the chart and of the program, below `folder`."""
    path = folder / f"{version}-{app}"
    shutil.copytree(helm.CHART, path)
    lines = (path / "Chart.yaml").read_text().splitlines()
    told = {"version": version, "appVersion": app}
    changed = [f"{key}: {told[key]}" if (key := line.partition(":")[0]) in told else line for line in lines]
    (path / "Chart.yaml").write_text("\n".join(changed) + "\n")
    return path
