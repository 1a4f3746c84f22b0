"""The dashboards as a table: per dashboard its rows, per row its panels, each a question and what answers it.

`python deploy/grafana/dashboards.py` writes dashboards/*.json for Grafana; a test says when they are stale.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from shoal.agent.support.json_value import Json

FOLDER = Path(__file__).parent / "dashboards"
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_METRIC = re.compile(r"\b((?:ray_shoal|shoal|vllm)[_:][a-z0-9_:]+)(\{)?")
_WIDTH = 24
_HEIGHT = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """One question."""

    title: str
    queries: dict[str, str]  # legend to expression; a legend may name labels as {{label}}
    unit: str = "short"  # Grafana's name of it
    kind: str = "timeseries"  # or stat, bargauge, table
    most: float | None = None  # upper end of the axis
    help: str = ""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One page."""

    name: str
    title: str
    rows: tuple[tuple[str, tuple[Panel, ...]], ...]
    inputs: dict[str, str] = field(default_factory=dict)  # text fields by name, with their defaults


def quantile(q: float, buckets: str, by: str = "le") -> str:
    """A quantile of one of our histograms; every gateway tells the same figures of the cluster."""
    return f"histogram_quantile({q}, sum by (le) (max by ({by}) (rate({buckets}[$__rate_interval]))))"


def rates(label: str, counter: str) -> dict[str, str]:
    """Return how fast one of our counters grows, a line for each value of its label;
    every gateway tells the same figures.
    """
    return {f"{{{{{label}}}}}": f"max by ({label}) (rate({counter}[$__rate_interval]))"}


def of_release(expression: str) -> str:
    """The expression, asking for the chosen release alone: an average over a healthy one hides what another lost."""
    return _METRIC.sub(
        lambda metric: f'{metric[1]}{{namespace="$namespace",release="$release"{"," if metric[2] else "}"}', expression
    )


_STATUS = "{{status}}"

OVERVIEW = Dashboard(
    "overview",
    "Shoal / Overview",
    (
        (
            "Is it well?",
            (
                Panel("Does the database answer?", {"": "max(shoal_store_up)"}, kind="stat", most=1),
                Panel("How many dispatchers speak?", {"": "max(shoal_dispatchers)"}, kind="stat"),
                Panel("How many pages per second?", {"": "shoal:pages:rate5m"}, unit="reqps", kind="stat"),
                Panel("How many records per second?", {"": "shoal:records:rate5m"}, unit="reqps", kind="stat"),
                Panel(
                    "What share of attempts fails?",
                    {"": "shoal:attempts_failed:ratio5m"},
                    unit="percentunit",
                    kind="stat",
                ),
                Panel("How full are the slots?", {"": "shoal:slot_use:ratio"}, unit="percentunit", kind="stat", most=1),
            ),
        ),
        (
            "What waits, and for what?",
            (
                Panel("How many sessions are there, by status?", {_STATUS: "max by (status) (shoal_sessions)"}),
                Panel(
                    "What do sessions wait for?",
                    {"{{cause}}": "max by (cause) (shoal_sessions_waiting)"},
                    help="children: the items of their loop. concurrency: their loop's own limit. slot: all are busy. "
                    "turn: the next claim takes them.",
                ),
                Panel(
                    "What do queues wait for?",
                    {"{{cause}}": "max by (cause) (shoal_queues_waiting)"},
                    help="A queue is one job on one site.",
                ),
                Panel(
                    "How long was the unluckiest queue not served?", {"age": "max(shoal_queue_age_seconds)"}, unit="s"
                ),
            ),
        ),
        (
            "What do callers see?",
            (
                Panel(
                    "How many requests, by answer?",
                    {_STATUS: "sum by (status) (rate(shoal_http_requests_total[$__rate_interval]))"},
                    unit="reqps",
                ),
                Panel(
                    "How long does an answer take?",
                    {
                        f"p{round(q * 100)}": f"histogram_quantile({q}, sum by (le) "
                        "(rate(shoal_http_request_seconds_bucket[$__rate_interval])))"
                        for q in (0.5, 0.95, 0.99)
                    },
                    unit="s",
                ),
                Panel(
                    "Which submissions are refused, and why?",
                    {"{{code}}": "sum by (code) (rate(shoal_submissions_refused_total[$__rate_interval]))"},
                    unit="reqps",
                ),
                Panel(
                    "How many jobs come in?",
                    {"{{how}}": "sum by (how) (rate(shoal_jobs_submitted_total[$__rate_interval]))"},
                    unit="reqps",
                ),
                Panel(
                    "What becomes of schedules?",
                    {"{{outcome}}": "sum by (outcome) (rate(shoal_schedule_runs_total[$__rate_interval]))"},
                    unit="ops",
                ),
                Panel("How many event streams are open?", {"streams": "sum(shoal_event_streams)"}),
                Panel(
                    "Do records reach their sinks?",
                    {"{{state}}": "max by (state) (shoal_sinks)"},
                    help="failed: given up",
                ),
                Panel(
                    "Do webhooks reach their receivers?",
                    {"{{state}}": "max by (state) (shoal_webhooks)"},
                    help="dead: given up",
                ),
            ),
        ),
    ),
)

LOOPS = Dashboard(
    "loops",
    "Shoal / Loops and sessions",
    (
        (
            "How do attempts end?",
            (
                Panel(
                    "How do attempts end?",
                    {
                        _STATUS: "sum by (status) "
                        "(max by (status, failure) (rate(shoal_attempts_total[$__rate_interval])))"
                    },
                    unit="ops",
                ),
                Panel(
                    "What fails?",
                    {"{{failure}}": 'max by (failure) (rate(shoal_attempts_total{failure!="none"}[$__rate_interval]))'},
                    unit="ops",
                    help="site: a page or its server; data: what was read does not fit the schema; limit: time, steps.",
                ),
                Panel(
                    "How long does an attempt take?",
                    {f"p{round(q * 100)}": quantile(q, "shoal_session_seconds_bucket") for q in (0.5, 0.95)},
                    unit="s",
                ),
            ),
        ),
        (
            "What does a record cost?",
            (
                Panel(
                    "How many slot-seconds per record?", {"seconds": "shoal:slot_seconds_per_record:ratio15m"}, unit="s"
                ),
                Panel("How many model tokens per record?", {"tokens": "shoal:tokens_per_record:ratio15m"}),
                Panel(
                    "What does a thousand records cost?",
                    {
                        "cost": "1000 * max(shoal:slot_seconds_per_record:ratio15m) / 3600 * $slot_hour_price + "
                        "1000 * (max(shoal:tokens_per_record:ratio15m) or vector(0)) / 1e6 * $million_tokens_price"
                    },
                    unit="currencyUSD",
                    help="From the two prices above; set them to yours.",
                ),
                Panel(
                    "What is read without a browser?",
                    rates("outcome", "shoal_documents_total"),
                    unit="ops",
                    help="different: a browser read something else, so the site's pages are opened in a browser again.",
                ),
            ),
        ),
        (
            "What do loops learn?",
            (
                Panel(
                    "How many model calls does a session take?",
                    {
                        "calls": "max(rate(shoal_model_calls_total[$__rate_interval])) / "
                        'sum(max by (failure) (rate(shoal_attempts_total{status="completed"}[$__rate_interval])))'
                    },
                    help="Of a loop that has learned, few: its misses and audits.",
                ),
                Panel(
                    "What becomes of items with a workflow?",
                    rates("outcome", "shoal_replays_total"),
                    unit="ops",
                    help="missed: the page was not as it was learned, and the model or the rules went on.",
                ),
                Panel(
                    "Why are items missed?",
                    rates("reason", "shoal_replay_misses_total"),
                    unit="ops",
                ),
                Panel(
                    "What do audits say?",
                    rates("result", "shoal_audits_total"),
                    unit="ops",
                    help="wrong: the model or the rules read something else twice. The version is given up.",
                ),
                Panel(
                    "What do loops that learn go on with?",
                    rates("phase", "shoal_learning_decisions_total"),
                    unit="ops",
                    help="off: nothing was learned, and the model does all items. items, after replay: a repair.",
                ),
                Panel(
                    "What are elements and fields found by?",
                    {
                        "{{of}} {{family}}": "max by (of, family) "
                        "(rate(shoal_replay_hits_total[$__rate_interval])) > 0",
                    },
                    unit="ops",
                    help="Families that agreed. One that falls off has changed on the site.",
                ),
                Panel(
                    "What becomes of repairs?",
                    rates("outcome", "shoal_repairs_total"),
                    unit="ops",
                    help="compiled: another version is compared. proved: it replays. given_up: nothing better was "
                    "learned, and the model or the rules go on.",
                ),
                Panel(
                    "How long does a repair take?",
                    {
                        f"p{round(q * 100)}": quantile(q, "shoal_repair_seconds_bucket", "le, outcome")
                        for q in (0.5, 0.95)
                    },
                    unit="s",
                    help="From the misses that begin it until another version replays, or the old one goes on.",
                ),
                Panel(
                    "How many model calls do repairs take?",
                    {"calls": "max(rate(shoal_repair_calls_total[$__rate_interval]))"},
                    unit="ops",
                ),
                Panel(
                    "How many records may be wrong?",
                    {"{{of}}": "max by (of) (shoal_audit_bound)"},
                    unit="percentunit",
                    help="At most this share, at 95 %, by the audits of running loops. largest: of the loop that knows "
                    "least.",
                ),
                Panel(
                    "How many records are provisional?",
                    {"records": "max(shoal_provisional_records)"},
                    help="A workflow read them, and no audit has confirmed since what the same branches read.",
                ),
                Panel(
                    "What are records read by?",
                    rates("tier", "shoal_records_read_total"),
                    unit="ops",
                ),
            ),
        ),
        (
            "What do sessions do?",
            (
                Panel(
                    "How long does a step take?",
                    {f"p{round(q * 100)}": quantile(q, "shoal_step_seconds_bucket") for q in (0.5, 0.95)},
                    unit="s",
                ),
                Panel(
                    "How long does an action take?",
                    {f"p{round(q * 100)}": quantile(q, "shoal_action_seconds_bucket") for q in (0.5, 0.95)},
                    unit="s",
                ),
                Panel(
                    "Which actions are done?",
                    {
                        "{{action}}": "sum by (action) "
                        "(max by (action, outcome) (rate(shoal_actions_total[$__rate_interval])))"
                    },
                    unit="ops",
                ),
                Panel(
                    "Which actions fail?",
                    {"{{action}}": 'max by (action) (rate(shoal_actions_total{outcome="failed"}[$__rate_interval]))'},
                    unit="ops",
                ),
            ),
        ),
        (
            "Is work repeated?",
            (
                Panel(
                    "Do leases run out?",
                    {"leases": "max(rate(shoal_leases_expired_total[$__rate_interval]))"},
                    unit="ops",
                ),
                Panel(
                    "Do outcomes come too late?",
                    {
                        "late": "max(rate(shoal_reports_late_total[$__rate_interval]))",
                        "not to be stored": "max(rate(shoal_reports_given_up_total[$__rate_interval]))",
                    },
                    unit="ops",
                ),
                Panel("Do outcomes wait for the database?", {"waiting": "max(shoal_reports_uncommitted)"}),
                Panel(
                    "How much memory do they take?",
                    {"waiting": "max(shoal_reports_uncommitted_bytes)"},
                    unit="bytes",
                ),
            ),
        ),
    ),
    {"slot_hour_price": "0.02", "million_tokens_price": "0.10"},
)

BROWSERS = Dashboard(
    "browsers",
    "Shoal / Browsers",
    (
        (
            "Are there enough?",
            (
                Panel(
                    "How many slots are there, and how many are busy?",
                    {"slots": "max(shoal_slots)", "busy": "max(shoal_slots_busy)"},
                ),
                Panel(
                    "How many workers and browsers run?",
                    {"workers": "max(shoal_workers)", "browsers": "max(shoal_browsers)"},
                ),
                Panel("How many sessions do workers hold?", {"leases": "max(shoal_leases)"}),
                Panel("How many artifacts wait for the artifact store?", {"artifacts": "max(shoal_uploads_waiting)"}),
            ),
        ),
        (
            "Are they well?",
            (
                Panel(
                    "How many pages per second does a worker open?",
                    {"pages": "max(rate(shoal_pages_total[$__rate_interval])) / (max(shoal_workers) > 0)"},
                    unit="reqps",
                ),
                Panel(
                    "How much memory does a worker hold?",
                    {"memory": "max(shoal_worker_memory_bytes) / (max(shoal_workers) > 0)"},
                    unit="bytes",
                ),
                Panel(
                    "How many browsers die?",
                    {"died": "max(increase(shoal_browser_restarts_total[15m]))"},
                    help="in 15 minutes",
                ),
                Panel(
                    "How many workers are lost?",
                    {"lost": "max(increase(shoal_workers_lost_total[15m]))"},
                    help="in 15 minutes",
                ),
                Panel(
                    "How old is what the dispatchers say?",
                    {"age": "max(shoal_dispatcher_snapshot_age_seconds)"},
                    unit="s",
                ),
                Panel(
                    "How many sessions end, and how many fail?",
                    {
                        "ended": "max(rate(shoal_sessions_ended_total[$__rate_interval]))",
                        "failed": "max(rate(shoal_sessions_ended_failed_total[$__rate_interval]))",
                    },
                    unit="ops",
                ),
            ),
        ),
        (
            "Which pods differ?",
            (
                Panel(
                    "Which pods hold how much memory?",
                    {"{{pod}}": "sum by (pod) (ray_shoal_worker_memory_bytes)"},
                    unit="bytes",
                    help="From Ray's metrics of each pod.",
                ),
                Panel("Which pods' slots are busy?", {"{{pod}}": "sum by (pod) (ray_shoal_slots_busy)"}),
            ),
        ),
    ),
)

MODEL = Dashboard(
    "model",
    "Shoal / Model serving",
    (
        (
            "What do sessions see?",
            (
                Panel(
                    "How long does a model call take?",
                    {
                        f"p{round(q * 100)}": quantile(q, "shoal_model_seconds_bucket", "le, outcome")
                        for q in (0.5, 0.95)
                    },
                    unit="s",
                ),
                Panel(
                    "How do model calls end?",
                    rates("outcome", "shoal_model_seconds_count"),
                    unit="ops",
                ),
                Panel(
                    "How many model calls per second?",
                    {"calls": "max(rate(shoal_model_calls_total[$__rate_interval]))"},
                    unit="ops",
                ),
                Panel(
                    "How many tokens per second?",
                    rates("kind", "shoal_tokens_total"),
                ),
                Panel(
                    "How much of the prompts comes from the prefix cache?",
                    {"share": "shoal:prompt_cached:ratio15m"},
                    unit="percentunit",
                    most=1,
                ),
            ),
        ),
        (
            "Does the model hold sessions back?",
            (
                Panel(
                    "How many sessions may ask the model, and how many do?",
                    {"admitted": "max(shoal_model_admitted)", "limit": "max(shoal_model_admission_limit) < Inf"},
                ),
                Panel("How many model servers answer?", {"{{state}}": "max by (state) (shoal_model_servers)"}),
            ),
        ),
        (
            "What do the servers say?",
            (
                Panel(
                    "How many requests does each server run and let wait?",
                    {
                        "{{pod}} runs": "sum by (pod) (vllm:num_requests_running)",
                        "{{pod}} waits": "sum by (pod) (vllm:num_requests_waiting)",
                    },
                ),
                Panel(
                    "How full is the KV cache?",
                    {"{{pod}}": "max by (pod) (vllm:kv_cache_usage_perc)"},
                    unit="percentunit",
                    most=1,
                ),
                Panel(
                    "How long until the first token?",
                    {
                        "p95": "histogram_quantile(0.95, sum by (le) "
                        "(rate(vllm:time_to_first_token_seconds_bucket[$__rate_interval])))"
                    },
                    unit="s",
                ),
            ),
        ),
    ),
)

TENANTS = Dashboard(
    "tenants",
    "Shoal / Tenants",
    (
        (
            "Who has how much?",
            (
                Panel(
                    "Whose sessions wait?",
                    {"{{tenant}}": 'max by (tenant) (shoal_tenant_sessions{status="queued"})'},
                    help="The 20 largest tenants; all others are one.",
                ),
                Panel(
                    "Whose sessions run?", {"{{tenant}}": 'max by (tenant) (shoal_tenant_sessions{status="running"})'}
                ),
                Panel(
                    "Who has how many sessions, by status?",
                    {"{{tenant}} {{status}}": "max by (tenant, status) (shoal_tenant_sessions)"},
                    kind="bargauge",
                ),
                Panel(
                    "What share of whose sessions failed?",
                    {
                        "{{tenant}}": 'max by (tenant) (shoal_tenant_sessions{status="failed"}) / '
                        "(sum by (tenant) (max by (tenant, status) (shoal_tenant_sessions)) > 0)"
                    },
                    unit="percentunit",
                    most=1,
                ),
            ),
        ),
    ),
)

DASHBOARDS = (OVERVIEW, LOOPS, BROWSERS, MODEL, TENANTS)


# --- for Grafana ---------------------------------------------------------------------------------------


def grafana(dashboard: Dashboard) -> Json:
    """The dashboard as Grafana imports it."""
    return {
        "uid": f"shoal-{dashboard.name}",
        "title": dashboard.title,
        "tags": ["shoal"],
        "schemaVersion": 41,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["shoal"], "title": "Shoal", "asDropdown": True, "includeVars": True}],
        "templating": {
            "list": [
                {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0},
                _chosen("namespace", "shoal_store_up"),
                _chosen("release", 'shoal_store_up{namespace="$namespace"}'),
                *(_text(*pair) for pair in dashboard.inputs.items()),
            ]
        },
        "panels": _panels(dashboard),
    }


def _chosen(label: str, series: str) -> Json:
    """A list of the values that a label has, read anew whenever the dashboard's time changes."""
    query = f"label_values({series}, {label})"
    return {
        **{"name": label, "label": label, "type": "query", "datasource": _SOURCE, "definition": query},
        **{"query": {"query": query, "refId": label}, "refresh": 2, "sort": 1, "hide": 0},
    }


def _text(name: str, default: str) -> Json:
    chosen = {"text": default, "value": default}
    return {"name": name, "label": name.replace("_", " "), "type": "textbox", "query": default, "current": chosen}


def _panels(dashboard: Dashboard) -> list[Json]:
    panels: list[Json] = []
    top = 0
    for title, row in dashboard.rows:
        panels.append(
            {
                "id": len(panels) + 1,
                "type": "row",
                "title": title,
                "collapsed": False,
                "gridPos": {"x": 0, "y": top, "w": _WIDTH, "h": 1},
                "panels": [],
            }
        )
        top += 1
        stats = all(panel.kind == "stat" for panel in row)
        per_line, height = (len(row), _HEIGHT // 2) if stats else (min(3, len(row)), _HEIGHT)
        width = _WIDTH // per_line
        for i, panel in enumerate(row):
            line, column = divmod(i, per_line)
            place = {"x": column * width, "y": top + line * height, "w": width, "h": height}
            panels.append(_panel(panel, len(panels) + 1, place))
        top += -(-len(row) // per_line) * height
    return panels


def _panel(panel: Panel, number: int, place: Json) -> Json:
    defaults: Json = {"unit": panel.unit, "min": 0}
    if panel.most is not None:
        defaults["max"] = panel.most
    if panel.kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 10, "lineWidth": 1, "showPoints": "never"}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.help,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [
            {
                **{"refId": chr(ord("A") + i), "expr": of_release(expression)},
                **{"legendFormat": legend or "__auto", "datasource": _SOURCE},
            }
            for i, (legend, expression) in enumerate(panel.queries.items())
        ],
    }


def text_of(dashboard: Dashboard) -> str:
    """The content of its file."""
    return json.dumps(grafana(dashboard), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in DASHBOARDS:
        (FOLDER / f"{one.name}.json").write_text(text_of(one))
