"""`shoal export`: a job's record, for those too who have not installed what `shoal eval` needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from tests.gateway_world import completed
from tests.unit.cli.conftest import Served


def test_a_finished_job_is_exported_without_statistics(
    served: Served, shoal: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("shoal.services.evaluation.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("scipy", "scipy.stats", "sklearn", "sklearn.metrics"):
        monkeypatch.setitem(sys.modules, name, None)
    served.work(lambda work: completed({"name": "a"}))
    job = served.submit()
    assert shoal("watch", job).exit_code == 0
    told = json.loads(shoal("export", job, "--out", str(tmp_path / "other"), "--json").stdout)
    assert told["job"] == job and Path(told["path"]).exists()
    result = shoal("export", job, "--out", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    written = Path(result.stdout.strip())
    assert written.parent == tmp_path / "execution" / "execution_unsure"
    assert json.loads(written.read_text())["unique_id"] == job
