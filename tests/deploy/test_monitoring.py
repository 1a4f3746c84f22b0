"""Rules and dashboards: their own tools read them, and every name in them is one that is exported."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from shoal.agent.support.json_value import Json
from shoal.services.browsers.pools.node_metrics import GAUGES
from shoal.services.metrics import CATALOGUE, metric
from tests.deploy.helm import ROOT
from tests.monitoring import DASHBOARDS, filled, names, panels

RULES = sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml"))

_VLLM = {
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "vllm:time_to_first_token_seconds_bucket",
}
"""Of the model servers, not ours; services/inference/load.py reads them too."""


def _promtool(*args: str | Path) -> str:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not there: scripts/setup-deploy installs Debian's prometheus")
    ended = subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def _rules() -> list[Json]:
    return [rule for path in RULES for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def test_promtool_takes_the_rules_and_their_tests_pass() -> None:
    _promtool("check", "rules", *RULES)
    for path in (ROOT / "deploy" / "prometheus" / "tests").glob("*.yaml"):
        _promtool("test", "rules", path)


def test_every_alert_is_tested_and_has_a_page_in_the_run_book() -> None:
    tested = "".join(path.read_text() for path in (ROOT / "deploy" / "prometheus" / "tests").glob("*.yaml"))
    book = (ROOT / "docs" / "operations.md").read_text()
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()) for line in book.splitlines() if line[:1] == "#"}
    for rule in _rules():
        if name := rule.get("alert"):
            assert rule["labels"]["severity"] in ("critical", "warning"), name
            assert rule["annotations"]["summary"].endswith("."), name
            page, _, heading = rule["annotations"]["runbook_url"].partition("#")
            assert page == "docs/operations.md" and heading == name.lower()
            assert heading in headings, f"docs/operations.md has no heading {name}"
            assert re.search(rf"alertname: {name}\n\s+exp_alerts", tested), f"no test sees {name} fire"


def test_rules_and_dashboards_use_only_metrics_that_are_exported() -> None:
    recorded = {rule["record"] for rule in _rules() if "record" in rule}
    exported = {series for line in CATALOGUE for series in line.exposed} | recorded | _VLLM
    exported |= {f"ray_{name}" for name in GAUGES}
    for rule in _rules():
        assert names(rule["expr"]) <= exported, rule
    for where, panel in panels():
        for target in panel["targets"]:
            assert names(target["expr"]) <= exported, f"{where}: {panel['title']}"


def test_what_workers_tell_ray_is_of_the_catalogue() -> None:
    assert {metric(name).type for name in GAUGES} == {"gauge"}


def test_labels_in_expressions_are_those_of_the_catalogue() -> None:
    labels = {series: set(line.labels) for line in CATALOGUE for series in line.exposed}
    expressions = [rule["expr"] for rule in _rules()]
    expressions += [target["expr"] for _, panel in panels() for target in panel["targets"]]
    for expression in expressions:
        for name, inside in re.findall(r"\b(shoal_[a-z0-9_]+)\{([^}]*)\}", expression):
            asked = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", re.sub(r'"[^"]*"', "", inside)))
            assert asked <= labels[name] | {"le"}, expression


def test_dashboards_are_those_of_the_table_and_ask_questions() -> None:
    spec = importlib.util.spec_from_file_location("dashboards", ROOT / "deploy" / "grafana" / "dashboards.py")
    assert spec is not None and spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["dashboards"] = table
    spec.loader.exec_module(table)
    assert {path.stem for path in DASHBOARDS} == {one.name for one in table.DASHBOARDS}
    for one in table.DASHBOARDS:
        assert (table.FOLDER / f"{one.name}.json").read_text() == table.text_of(one), "run deploy/grafana/dashboards.py"
    for where, panel in panels():
        assert panel["title"].endswith("?"), f"{where}: {panel['title']}"
    for path in DASHBOARDS:
        places = [panel["gridPos"] for panel in json.loads(path.read_text())["panels"]]
        cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
        assert len(cells) == len(set(cells)), f"{path.name}: panels lie on each other"
        assert max(p["x"] + p["w"] for p in places) <= 24


def test_prometheus_can_read_every_dashboard_expression(tmp_path: Path) -> None:
    rules = [
        {"record": f"check:{where}:{panel['id']}_{i}", "expr": filled(target["expr"], "1m")}
        for where, panel in panels()
        for i, target in enumerate(panel["targets"])
    ]
    path = tmp_path / "expressions.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboards", "rules": rules}]}))
    _promtool("check", "rules", path)
