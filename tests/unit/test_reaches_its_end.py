"""Declarations in one place that reach the place of their effect: settings, jobs, results, metrics, actions, errors."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from prometheus_client import generate_latest
from pydantic import BaseModel, SecretStr

from scripts.syntax_trees import nodes_of
from shoal.agent import spec
from shoal.agent.actions import ACTION_SETS, PRIMITIVES
from shoal.agent.actions.primitives import code, control, coordinate, element, human, keyboard, misc, navigation, tab
from shoal.agent.browser import ContextOptions
from shoal.agent.chromium.chromium_browser import ChromiumBrowser
from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import AgentError, Recourse
from shoal.agent.fault_table import TREATMENTS
from shoal.agent.spec import BrowserSpec, Viewport
from shoal.agent.status import Status
from shoal.agent.types import CarriedOver, FieldSource, LoopItem, Record, Usage
from shoal.records import Result
from shoal.services import errors as service_errors
from shoal.services.browsers.configs import worker_config
from shoal.services.cluster.configs import dispatch_config
from shoal.services.cluster.gateway_options import gateway_options
from shoal.services.dispatch.status.dispatch_metrics import DispatchMetrics, failure_of
from shoal.services.inference.configs import admission_config, vllm_options
from shoal.services.metrics import CATALOGUE
from shoal.services.settings import Settings
from shoal.services.store.records import ResultRow
from shoal.services.web.api.views.results import ResultView, result_line
from shoal.services.web.deps import new_metrics
from shoal.services.web.http.problems import STATUS
from shoal.services.web.results.table import LEADING, TRAILING, ExportTable, flatten

ROOT = Path(__file__).resolve().parents[2]


def product_files() -> Iterator[Path]:
    for top in ("agent", "services", "shoal"):
        yield from (path for path in (ROOT / top).rglob("*.py") if not (top == "shoal" and len(path.parts) < 2))


@cache
def attributes(path: Path) -> tuple[ast.Attribute, ...]:
    """Every attribute that a file reads or sets."""
    return tuple(node for node in nodes_of(path) if isinstance(node, ast.Attribute))


def reads(path: Path, owner: str) -> set[str]:
    """Names that a file reads of objects whose expression ends in `owner`."""
    return {
        node.attr for node in attributes(path) if ast.unparse(node.value).rpartition(".")[2].lstrip("_").endswith(owner)
    }


# --- settings ----------------------------------------------------------------------------------------

BUILDERS: tuple[Callable[[Settings], object], ...] = (
    dispatch_config,
    worker_config,
    gateway_options,
    admission_config,
    vllm_options,
    Settings.artifact_options,
)
"""Functions that turn settings into the configuration of a part."""

BASE: Mapping[str, Any] = {
    **{"model_url": "http://model.example/v1", "model": "m", "traces_url": "http://traces.example/v1/traces"},
    **{"s3_endpoint_url": "http://s3.example", "cookie_secret": "c" * 40, "webhook_secret": "w" * 40, "auth": "auto"},
    "login_proxies": ("10.0.0.1",),
    **{"smtp_url": "smtp://mail.example", "mail_from": "shoal@example.com"},
    **{"oidc_issuer": "https://id.example", "oidc_client_id": "c", "oidc_roles": {"a": "admin"}, "login_tenant": "t"},
    **{"public_url": "https://shoal.example", "oidc_scopes": ("openid",), "oidc_tenants": {"a": "t"}},
    **{"oidc_tenant_claim": "org"},
}
"""Parts that are off by default are on, so that their settings matter."""

OTHER: Mapping[str, Any] = {
    **{"artifacts_url": "s3://bucket/folder", "chromium": "/opt/chromium", "host": "0.0.0.0", "auth": "on"},
    **{"tenant_weights": {"a": 2.0}, "tenant_quotas": {"a": 3}, "model_extra_body": {"x": 1}},
    **{
        "refuse_networks": ("10.0.0.0/8",),
        "login_proxies": ("10.0.0.2",),
        "login_roles": {"ada": "admin"},
        "vllm_arguments": "--seed 7",
        "model_points": "relative",
        "model_temperature": 1.0,
    },
    **{"oidc_issuer": "https://other.example", "oidc_roles": {"b": "viewer"}, "oidc_tenants": {"b": "u"}},
    **{"oidc_client_secret_file": str(ROOT / "README.md")},
    **{
        "oidc_scopes": ("openid", "groups"),
        "public_url": "https://other.example",
        "smtp_url": "smtps://other.example",
        "mail_from": "other@example.com",
        "ray_address": "auto",
        "vllm_quantization": "fp8",
    },
    **{
        "s3_public_url": "http://public.example",
        "help_url": "http://help.example",
        "search_url": "http://s.example/?q={}",
    },
}
"""Another valid value, where the type does not say one."""


def another(name: str, value: Any, annotation: Any) -> Any:
    """A valid value that differs from the default."""
    if name in OTHER:
        return OTHER[name]
    if isinstance(value, SecretStr):
        return "another-secret-" * 4
    if isinstance(value, bool):
        return not value
    if get_origin(annotation) is Literal:
        return next(choice for choice in get_args(annotation) if choice != value)
    if value is None and float in get_args(annotation):
        return 0.5
    if isinstance(value, float) and value <= 1:
        return value / 2 if value else 0.5
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, Path):
        return str(value / "elsewhere")
    if isinstance(value, tuple):
        return ("elsewhere.example",)
    return "elsewhere" if "url" not in name else "http://elsewhere.example/"


def built(**changed: Any) -> list[object]:
    settings = Settings(**{**BASE, **changed})
    return [build(settings) for build in BUILDERS]


def read_in_configs() -> set[str]:
    """Settings that the builders read."""
    paths = [ROOT / "services" / room / "configs.py" for room in ("cluster", "browsers", "inference")]
    names = set().union(*(reads(path, "settings") for path in paths))
    return names & Settings.model_fields.keys()


def test_every_setting_is_read_where_it_is_used() -> None:
    own = (ROOT / "services" / "settings.py").read_text()
    options = own[own.index("def artifact_options") : own.index("def load_settings")]
    read = set(re.findall(r"self\.(\w+)", options))
    for path in product_files():
        if path != ROOT / "services" / "settings.py":
            read |= reads(path, "settings")
    assert sorted(Settings.model_fields.keys() - read) == [], "settings that have no effect"


@pytest.mark.parametrize("name", sorted(read_in_configs() | {"s3_region", "s3_kms_key", "artifact_spill_mib"}))
def test_a_setting_changes_what_a_part_is_told(name: str) -> None:
    default = getattr(Settings(**BASE), name)
    other = another(name, default, Settings.model_fields[name].annotation)
    assert built(**{name: other}) != built(), f"SHOAL_{name.upper()} changes nothing"


def parts_of(config: object) -> Iterator[type]:
    """The records that a configuration is made of."""
    if is_dataclass(config) and not isinstance(config, type):
        yield type(config)
        for field in fields(config):
            yield from parts_of(getattr(config, field.name))


def test_every_field_of_a_configuration_is_read_by_its_part() -> None:
    paths = [path for path in product_files() if path.name != "configs.py"]
    read = {node.attr for path in paths for node in attributes(path) if isinstance(node.ctx, ast.Load)}
    parts = {part for config in built() for part in parts_of(config)}
    assert len(parts) > 10
    unread = sorted(
        f"{part.__name__}.{field.name}" for part in parts for field in fields(part) if field.name not in read
    )
    assert unread == [], "a setting is passed on to these, and nothing uses it"


def test_every_setting_can_be_set_by_some_value_of_the_chart() -> None:
    chart = ROOT / "charts" / "shoal"
    free = set(json.loads((chart / "values.schema.json").read_text())["properties"]["settings"]["properties"])
    assert free <= set(Settings.model_fields)
    templates = "".join(path.read_text() for path in (chart / "templates").rglob("*.*"))
    made = {name for name in Settings.model_fields if f"SHOAL_{name.upper()}" in templates}
    elsewhere = {name for name in Settings.model_fields if name.startswith("vllm_")} | {
        "api_key",  # of the command line
        "gateway",  # likewise
        "ray_object_store_mib",  # of the embedded cluster; in the chart ray.objectStoreMiB
    }
    assert set(Settings.model_fields) == free | made | elsewhere, "a value in values.yaml, or scripts/chart_values.py"


# --- fields of a job ---------------------------------------------------------------------------------

UNREAD = {"FieldPlace.json_path": "read by its name", "ProxySpec.bypass": "refused"}
"""Fields that no file reads as an attribute, and why."""


def test_every_field_of_a_job_is_read_by_what_it_is_for() -> None:
    paths = [path for path in product_files() if ROOT / "agent" / "spec" not in path.parents]
    read = {node.attr for path in paths for node in attributes(path)}
    parts = [part for part in vars(spec).values() if isinstance(part, type) and issubclass(part, BaseModel)]
    fields = {
        f"{part.__name__}.{name}": name
        for part in parts
        if part.__module__.startswith(f"{spec.__name__}.")
        for name in part.model_fields
    }
    assert len(fields) > 80
    assert {field for field, name in fields.items() if name not in read} == UNREAD.keys()


# --- a job's browser ---------------------------------------------------------------------------------

CONTEXTS = "agent/chromium/chromium_browser.py"
"""Makes both kinds of context: acting ones from each field, reading ones only where `_suits_reading` says so."""

ELSEWHERE = {
    "dialogs": "agent/sessions/attempt.py",
    "isolation": "agent/sessions/attempt.py",
    "proxy": "services/web/specs/browser_checks.py",
    "storage_state": "services/web/specs/browser_checks.py",
    "headless": "services/web/specs/browser_checks.py",
    "attach": "services/web/specs/browser_checks.py",
}
"""Fields that no context is made from, and the file that handles (or refuses) them."""

OTHER_LOOK: Mapping[str, Any] = {
    **{"viewport": Viewport(width=800, height=600), "locale": "de-DE", "timezone": "Europe/Berlin"},
    **{"color_scheme": "dark", "user_agent": "x"},
    **{"headers": {"x": "y"}, "storage_state": "login", "block": ("image",), "dialogs": "dismiss"},
    **{"isolation": "fresh", "headless": False, "attach": "ws://127.0.0.1:1"},
    "proxy": {"server": "http://proxy.example:1"},
}


def test_every_field_of_a_job_s_browser_is_handled() -> None:
    made = reads(ROOT / CONTEXTS, "browser") | reads(ROOT / CONTEXTS, "wanted")
    for field in BrowserSpec.model_fields:
        file = ELSEWHERE.get(field)
        assert (field in made) if file is None else (field in reads(ROOT / file, "browser")), field


@pytest.mark.parametrize("field", BrowserSpec.model_fields)
def test_a_page_past_playwright_is_taken_only_where_it_looks_as_asked(field: str) -> None:
    """A new field is compared as well: until the reading context does what it asks, it must not be taken."""
    browser = object.__new__(ChromiumBrowser)
    browser._window = Viewport()
    plain = ContextOptions(reading=True, browser=BrowserSpec())
    assert browser._suits_reading(plain)
    spec = BrowserSpec.model_validate({field: OTHER_LOOK[field]})
    assert browser._suits_reading(replace(plain, browser=spec)) == (field in ("isolation", "dialogs"))


# --- result lines ------------------------------------------------------------------------------------

LINE = ResultRow(
    cursor="",
    job=1,
    session=2,
    item=LoopItem(0, "v", is_link=True, label="l"),
    status=Status.COMPLETED,
    record=Record({"a": 1}, {"a": FieldSource("label", "p", True)}, carried_over=CarriedOver("s1", "not_modified")),
    error=ErrorInfo("Busy", "busy", "later", retryable=True),
    url="http://a.example/",
    at="2026-01-01T00:00:00Z",
    attempts=1,
    seconds=1.0,
    screenshot="art_1",
    usage=Usage(model_calls=1, prompt_tokens=2, completion_tokens=3),
)


def test_every_leaf_of_a_result_line_is_a_column_and_every_column_a_leaf() -> None:
    line = result_line(LINE)
    leaves = {name for name in flatten(line) if not name.startswith("record.")}
    assert leaves == {*LEADING, *TRAILING}
    assert set(line) == set(ResultView.model_fields)


def test_the_client_s_result_has_every_field_of_a_result_line() -> None:
    assert set(Result.model_fields) == set(ResultView.model_fields)


def test_the_store_fills_every_field_of_a_result_row() -> None:
    """A field with a default is not missed by the type checker."""
    tree = ast.parse((ROOT / "services" / "store" / "read" / "reading.py").read_text())
    makers = ("ResultRow", "replace")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in makers]
    assert {word.arg for call in calls for word in call.keywords} >= {field.name for field in fields(ResultRow)}


def test_a_column_that_is_no_text_keeps_its_type_in_parquet() -> None:
    """The columns around a record are not looked at line by line: one without a type would become text."""
    kinds = {bool: "bool", int: "int", float: "float"}
    columns = {name: value for name, value in flatten(result_line(LINE)).items() if not name.startswith("record.")}
    expected = {name: kinds[type(value)] for name, value in columns.items() if type(value) in kinds}
    assert len(expected) > 5
    table = ExportTable(None)
    assert {name: table.column_kind(name) for name in expected} == expected, "see _FIXED_KINDS"
    table.close()


def test_the_page_of_the_api_names_every_field_of_a_result_line() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    results = text[text.index("\n## Results\n") :]
    assert [name for name in result_line(LINE) if f"`{name}`" not in results] == [], "docs/api.md does not name these"


# --- metrics -----------------------------------------------------------------------------------------

UNBOUNDED = {"shoal_http_requests": "routes and statuses are known once they are asked for"}
"""Labelled counters that cannot begin at 0, and why."""


def test_every_labelled_counter_begins_at_zero() -> None:
    counters = {line.name for line in CATALOGUE if line.type == "counter" and line.labels}
    text = generate_latest(new_metrics().registry).decode()
    told = {name for name, *_ in DispatchMetrics().delta.counts}
    begun = {name for name in counters if name in told or re.search(rf"^{name}_total{{.*}} 0\.0$", text, re.MULTILINE)}
    assert sorted(counters - begun - UNBOUNDED.keys()) == []


def test_every_metric_is_counted_somewhere() -> None:
    paths = [path for path in product_files() if path.name != "metrics.py"]
    # A series that begins at 0 is not counted yet.
    text = "\n".join(line for path in paths for line in path.read_text().splitlines() if "n=0)" not in line)
    for line in CATALOGUE:
        attribute = line.name.removeprefix("shoal_").replace("http_request_seconds", "http_seconds")
        by_gateway = line.by == "gateway" and f".{attribute}" in text
        assert by_gateway or f'"{line.name}"' in text, f"{line.name} is in the catalogue and nothing counts it"


def test_every_metric_is_looked_at_by_a_dashboard_or_a_rule() -> None:
    deploy = ROOT / "deploy"
    files = [*(deploy / "grafana" / "dashboards").glob("*.json"), *(deploy / "prometheus" / "rules").glob("*.yaml")]
    named = set(re.findall(r"\bshoal_[a-z0-9_]+", "".join(path.read_text() for path in files)))
    assert [line.name for line in CATALOGUE if not named & set(line.exposed)] == [], "see deploy/grafana/dashboards.py"


# --- actions -----------------------------------------------------------------------------------------

GROUPS = (code, control, coordinate, element, human, keyboard, misc, navigation, tab)
NO_BROWSER_TEST = {"ask_user", "solve_captcha"}
"""Actions that a person does; tests/unit/session has them."""


def test_every_function_of_a_group_is_an_action() -> None:
    written = {
        function
        for group in GROUPS
        for name, function in vars(group).items()
        if inspect.iscoroutinefunction(function) and function.__module__ == group.__name__ and name[0] != "_"
    }
    assert written == {primitive.function for primitive in PRIMITIVES}, "see agent/actions/registry.py"


def test_every_safe_action_is_in_a_set_that_a_job_can_name() -> None:
    named = {name for group, names in ACTION_SETS.items() if group not in ("all", "workflow") for name in names}
    left_out = [primitive.name for primitive in PRIMITIVES if primitive.name not in named]
    assert left_out == [], "see ACTION_SETS in agent/actions/registry.py"


def test_every_action_is_tried_in_a_browser() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "integration" / "browser").glob("test_*.py"))
    names = {primitive.name for primitive in PRIMITIVES}
    tried = {name for name in names if re.search(rf"[\"'( ]{name}[\"'(]", tests)}
    assert names - tried == NO_BROWSER_TEST, "no test in tests/integration/browser"


# --- errors ------------------------------------------------------------------------------------------


def test_every_recourse_says_whether_another_attempt_follows() -> None:
    assert TREATMENTS.keys() == set(Recourse)
    for recourse, treatment in TREATMENTS.items():
        error = type("Some", (AgentError,), {"recourse": recourse})("it broke")
        assert error.retryable == treatment.again, recourse


OTHER_FAILURES = {
    *("AnswerMissing", "Canceled", "FormIncomplete", "FormRefused", "FormUnclear", "ItemNotFound"),
    *("SampleSendsNothing", "TraceRefused", "WorkflowInvalid", "WorkflowMiss"),
    *("ActionUnconfirmed", "LeaseLost"),  # of leases that expire: no worker reports them
}
"""Errors of a session that the metrics count as `other`."""

NOT_OF_THE_API = {
    *("BadSetting", "ClusterFailed", "MetricsAway", "MetricsMissing"),
    *("ServerEnded", "ServerNotFound", "ServerSilent"),
}
"""Errors that no request meets: a process ends with them, or the dispatcher handles them."""


def classes_below(base: type) -> Iterator[type]:
    for cls in base.__subclasses__():
        if cls.__module__ == base.__module__:
            yield cls
        yield from classes_below(cls)


def test_every_error_of_a_session_has_a_failure_class_in_the_metrics() -> None:
    names = {cls.__name__ for cls in classes_below(AgentError)}
    other = {name for name in names if failure_of(ErrorInfo(name, "code", "message", retryable=False)) == "other"}
    assert other == OTHER_FAILURES, "see _FAMILIES in services/dispatch/status/dispatch_metrics.py"


def test_every_error_of_the_cluster_has_a_status_or_reaches_no_caller() -> None:
    names = {cls.__name__ for cls in classes_below(service_errors.ServiceError) if not set(cls.__mro__) & STATUS.keys()}
    assert names == NOT_OF_THE_API, "see STATUS in services/web/http/problems.py"
