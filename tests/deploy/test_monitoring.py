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
from tests.deploy import helm
from tests.deploy.cases import EXTERNAL
from tests.deploy.helm import ROOT
from tests.deploy.objects import of_kind, pods
from tests.monitoring import DASHBOARDS, filled, names, panels
from tests.prometheus_server import RELEASE

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


# --- several releases that one Prometheus watches ----------------------------------------------------------

_MONITORED = EXTERNAL | {"monitoring": {"monitors": True, "rules": True, "runbookBase": "https://example.com/"}}
_WITH_MODELS = _MONITORED | {"vllm": {"models": [{"name": "qwen", "model": "m"}]}}


def _rules_of(namespace: str, release: str) -> list[Json]:
    """The groups of rules that a release brings."""
    (found,) = of_kind(helm.render(_MONITORED, release=release, namespace=namespace), "PrometheusRule")
    groups: list[Json] = found["spec"]["groups"]
    return [group | {"name": f"{namespace}.{release}.{group['name']}"} for group in groups]


def _healthy(labels: str) -> list[Json]:
    well = {"store_up": "1x60", "dispatchers": "1x60", "slots": "8x60", "slots_busy": "2x60", "workers": "2x60"}
    return [{"series": f"shoal_{name}{{{labels}}}", "values": values} for name, values in well.items()]


_LOSSES: dict[str, list[Json]] = {
    "ShoalGatewayAway": [],
    "ShoalStoreAway": [{"series": "shoal_store_up", "values": "0x60"}],
    "ShoalNoDispatcher": [
        {"series": "shoal_store_up", "values": "1x60"},
        {"series": "shoal_dispatchers", "values": "0x60"},
    ],
    "ShoalNoBrowsers": [
        *({"series": f"shoal_{name}", "values": "1x60"} for name in ("store_up", "dispatchers")),
        {"series": "shoal_slots", "values": "0x60"},
        {"series": 'shoal_sessions{status="queued"}', "values": "4x60"},
    ],
}
"""Critical alerts, and what a release that lost something tells."""


@pytest.mark.parametrize(
    "other", [("staging", "staging"), ("production", "staging"), ("staging", "production")], ids=str
)
def test_a_healthy_release_does_not_hide_another_s_loss(other: tuple[str, str], tmp_path: Path) -> None:
    # JSON is YAML, too.
    groups = {"groups": [*_rules_of("production", "production"), *_rules_of(*other)]}
    (tmp_path / "rules.yaml").write_text(json.dumps(groups))
    lost = [_loss(alert, other) for alert in _LOSSES]
    path = tmp_path / "test.yaml"
    path.write_text(json.dumps({"rule_files": ["rules.yaml"], "evaluation_interval": "30s", "tests": lost}))
    _promtool("check", "rules", tmp_path / "rules.yaml")
    _promtool("test", "rules", path)


def _loss(alert: str, other: tuple[str, str]) -> Json:
    """A test of promtool: `production` has lost something, the other release is well, and the alert fires."""
    lost = 'namespace="production",release="production"'
    told = [
        one
        | {"series": f"{one['series']}{{{lost}}}" if "{" not in one["series"] else one["series"][:-1] + f",{lost}}}"}
        for one in _LOSSES[alert]
    ]
    (rule,) = [rule for rule in _rules() if rule.get("alert") == alert]
    labels = {"severity": "critical", "namespace": "production", "release": "production"}
    page = f"https://example.com/{rule['annotations']['runbook_url']}"
    fires = {"exp_labels": labels, "exp_annotations": rule["annotations"] | {"runbook_url": page}}
    return {
        "name": alert,
        "interval": "30s",
        "input_series": [*told, *_healthy(f'namespace="{other[0]}",release="{other[1]}"')],
        "alert_rule_test": [{"eval_time": "20m", "alertname": alert, "exp_alerts": [fires]}],
    }


def test_rules_name_their_release_wherever_they_ask() -> None:
    for rule in (rule for group in _rules_of("blue", "fish") for rule in group["rules"]):
        _asks_of(rule["expr"], 'namespace="blue",release="fish"')
        assert {"namespace": "blue", "release": "fish"}.items() <= rule["labels"].items(), rule


def test_dashboards_show_the_release_that_is_chosen() -> None:
    for where, panel in panels():
        for target in panel["targets"]:
            _asks_of(target["expr"], 'namespace="$namespace",release="$release"')
        assert panel["targets"], where
    for path in DASHBOARDS:
        variables = {one["name"]: one for one in json.loads(path.read_text())["templating"]["list"]}
        assert list(variables)[:3] == ["source", *RELEASE], path.name
        assert variables["release"]["query"]["query"] == 'label_values(shoal_store_up{namespace="$namespace"}, release)'


def _asks_of(expression: str, matchers: str) -> None:
    """Each metric of the expression is asked for with these labels."""
    found = re.findall(r"\b(?:ray_shoal|shoal|vllm)[_:][a-z0-9_:]+(.{0,200})", expression, re.S)
    assert found and all(rest.startswith(f"{{{matchers}") for rest in found), expression


def test_whatever_is_scraped_has_its_release_as_a_label() -> None:
    objects = helm.render(_WITH_MODELS)
    monitors = of_kind(objects, "PodMonitor")
    assert len(monitors) == 3
    wanted = {"sourceLabels": ["__meta_kubernetes_pod_label_app_kubernetes_io_instance"], "targetLabel": "release"}
    for monitor in monitors:
        assert all(wanted in end["relabelings"] for end in monitor["spec"]["podMetricsEndpoints"])
    assert {pod.labels["app.kubernetes.io/instance"] for pod in pods(objects)} == {helm.RELEASE}


def test_a_model_s_replicas_follow_their_own_release_s_queue() -> None:
    shared = {"weights": {"accessMode": "ReadWriteMany"}}
    model = {"vllm": {"models": [{"name": "qwen", "model": "m"} | shared], "keda": {"enabled": True}}}
    queries = set()
    for release in ("blue", "green"):
        (scaled,) = of_kind(helm.render(EXTERNAL | model, release=release), "ScaledObject")
        queries.add(scaled["spec"]["triggers"][0]["metadata"]["query"])
        name = scaled["spec"]["scaleTargetRef"]["name"]
        (pattern,) = re.findall(r'pod=~"([^"]*)"', scaled["spec"]["triggers"][0]["metadata"]["query"])
        assert re.fullmatch(pattern, f"{name}-6c9f7d8b5-x2x9z"), "the name that a Deployment gives its pod"
    assert len(queries) == 2


def test_every_alert_is_tested_and_has_a_page_in_the_run_book() -> None:
    tested = "".join(path.read_text() for path in (ROOT / "deploy" / "prometheus" / "tests").glob("*.yaml"))
    book = (ROOT / "docs" / "operations" / "operations.md").read_text()
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()) for line in book.splitlines() if line[:1] == "#"}
    for rule in _rules():
        if name := rule.get("alert"):
            assert rule["labels"]["severity"] in ("critical", "warning"), name
            assert rule["annotations"]["summary"].endswith("."), name
            page, _, heading = rule["annotations"]["runbook_url"].partition("#")
            assert page == "docs/operations/operations.md" and heading == name.lower()
            assert heading in headings, f"docs/operations/operations.md has no heading {name}"
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
            assert asked <= labels[name] | {"le", *RELEASE}, expression


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
