"""Imports point one way, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.architecture_docs import PAGE, TOPS, files, imports_of, page
from scripts.generated import wrapped
from scripts.syntax_trees import nodes_of

ROOT = Path(__file__).resolve().parents[2]

EVERYWHERE = {"shoal.agent.support.json_value"}
"""Modules that any module may import: they import nothing themselves."""

MAY = {
    "shoal.agent": {"shoal.agent", "shoal.prompts"},
    "shoal.agent.page": {
        "shoal.agent.errors",
        "shoal.agent.page",
        "shoal.agent.support.bounded_cache",
        "shoal.agent.support.page_names",
    },
    "shoal.prompts": {"shoal.prompts"},
    "shoal.services.errors": set[str](),
    "shoal.services.events": set[str](),
    "shoal.services.settings": {"shoal.services.errors", "shoal.services.artifacts.options"},
    "shoal.services.logs": {"shoal.services.events"},
    "shoal.services.metrics": set[str](),
    "shoal.services.metrics_delta": {"shoal.services.metrics"},
    "shoal.services.tracing": {"shoal.services.errors"},
    "shoal.services.interpreter": set[str](),
    "shoal.services.addresses": {"shoal.agent.support.sites.sites"},
    "shoal.services.names": {"shoal.agent.support.sites.sites", "shoal.services.addresses"},
    "shoal.services.private": set[str](),
    "shoal.services.secrets": {
        "shoal.agent.support.sites.sites",
        "shoal.agent.redaction.spellings",
        "shoal.services.errors",
        "shoal.services.private",
        "shoal.services.secrets",
    },
    "shoal.services.live_messages": {"shoal.agent.types"},
    "shoal.services.machine": set[str](),
    "shoal.services.trust": set[str](),
    "shoal.services.answers": {"shoal.agent.support.bounded_answers", "shoal.services.trust"},
    "shoal.services.store": {
        "shoal.agent.compressed_items",
        "shoal.agent.error_info",
        "shoal.agent.types",
        "shoal.agent.spec",
        "shoal.agent.status",
        "shoal.agent.worker_messages",
        "shoal.agent.errors",
        "shoal.agent.sessions.once",
        "shoal.agent.redaction.masking",
        "shoal.agent.redaction.redactor",
        "shoal.agent.support.web_addresses",
        "shoal.agent.workflows.format",
        "shoal.agent.workflows.judging",
        "shoal.agent.workflows.divergences",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.private",
        "shoal.services.schedules",
        "shoal.services.store",
    },
    "shoal.services.schedules": {"shoal.agent.spec", "shoal.services.schedules"},
    "shoal.services.artifacts": {
        "shoal.agent.errors",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.private",
        "shoal.services.artifacts",
    },
    "shoal.services.browsers": {
        "shoal.agent",
        "shoal.services.artifacts",
        "shoal.services.addresses",
        "shoal.services.answers",
        "shoal.services.demo",
        "shoal.services.live_messages",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.interpreter",
        "shoal.services.logs",
        "shoal.services.machine",
        "shoal.services.metrics",
        "shoal.services.names",
        "shoal.services.secrets",
        "shoal.services.settings",
        "shoal.services.metrics_delta",
        "shoal.services.tracing",
        "shoal.services.trust",
        "shoal.services.browsers",
    },
    "shoal.services.inference": {
        "shoal.services.answers",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.settings",
        "shoal.services.inference",
    },
    "shoal.services.dispatch": {
        "shoal.agent.actions",
        "shoal.agent.documents.kept_pages",
        "shoal.agent.documents.outcome",
        "shoal.agent.error_info",
        "shoal.agent.types",
        "shoal.agent.spec",
        "shoal.agent.status",
        "shoal.agent.worker_messages",
        "shoal.agent.errors",
        "shoal.agent.fault_table",
        "shoal.agent.workflows.format",
        "shoal.agent.workflows.judging",
        "shoal.agent.support.moments",
        "shoal.agent.workflows.learning",
        "shoal.agent.workflows.divergences",
        "shoal.services.artifacts",
        "shoal.services.store",
        "shoal.services.browsers",
        "shoal.services.inference",
        "shoal.services.live_messages",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.interpreter",
        "shoal.services.logs",
        "shoal.services.metrics_delta",
        "shoal.services.tracing",
        "shoal.services.dispatch",
    },
    "shoal.services.sinks": {
        "shoal.agent.spec",
        "shoal.agent.status",
        "shoal.agent.support.retry_after",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.secrets",
        "shoal.services.settings",
        "shoal.services.store",
        "shoal.services.webhooks",
        "shoal.services.sinks",
    },
    "shoal.services.webhooks": {
        "shoal.services.secrets.folder",
        "shoal.agent.support.bounded_answers",
        "shoal.agent.support.retry_after",
        "shoal.services.trust",
        "shoal.services.store",
        "shoal.services.addresses",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.logs",
        "shoal.services.names",
        "shoal.services.webhooks",
    },
    "shoal": {
        "shoal.agent",
        "shoal.services.addresses",
        "shoal.services.artifacts",
        "shoal.services.browsers",
        "shoal.services.cluster",
        "shoal.services.errors",
        "shoal.services.web.specs.specs",
        "shoal.services.logs",
        "shoal.services.settings",
    },
    "shoal.services.web": {
        "shoal.agent.artifact_kind",
        "shoal.agent.read.glossary",
        "shoal.agent.read.schema",
        "shoal.agent.read.values.quantities",
        "shoal.agent.support.bounded_cache",
        "shoal.agent.redaction.masking",
        "shoal.agent.support.printable",
        "shoal.agent.replay_detail",
        "shoal.agent.types",
        "shoal.agent.spec",
        "shoal.agent.status",
        "shoal.agent.sureness",
        "shoal.agent.errors",
        "shoal.agent.policies.choose",
        "shoal.agent.actions",
        "shoal.agent.support.schemas",
        "shoal.agent.support.sites",
        "shoal.agent.workflows.exchange",
        "shoal.agent.workflows.format",
        "shoal.agent.workflows.judging",
        "shoal.services.demo",
        "shoal.services.store",
        "shoal.services.artifacts",
        "shoal.services.addresses",
        "shoal.services.answers",
        "shoal.services.metrics",
        "shoal.services.names",
        "shoal.services.schedules",
        "shoal.services.secrets",
        "shoal.services.sinks",
        "shoal.services.metrics_delta",
        "shoal.services.tracing",
        "shoal.services.live_messages",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.logs",
        "shoal.services.webhooks",
        "shoal.services.web",
    },
    "shoal.services.cluster": {
        "shoal.agent.chromium.process",
        "shoal.agent.support.busy",
        "shoal.services.artifacts",
        "shoal.services.browsers.configs",
        "shoal.services.dispatch.actor",
        "shoal.services.dispatch.config",
        "shoal.services.errors",
        "shoal.services.events",
        "shoal.services.inference.configs",
        "shoal.services.interpreter",
        "shoal.services.logs",
        "shoal.services.private",
        "shoal.services.settings",
        "shoal.services.store.restarts",
        "shoal.services.sinks",
        "shoal.services.store.store",
        "shoal.services.tracing",
        "shoal.services.web",
        "shoal.services.webhooks",
        "shoal.services.cluster",
    },
    "shoal.services.demo": {"shoal.agent.support.json_value"},
    "shoal.services.doctor": {
        "shoal.agent.browser",
        "shoal.agent.chromium.process",
        "shoal.agent.errors",
        "shoal.agent.redaction.spellings",
        "shoal.services.answers",
        "shoal.services.artifacts.open",
        "shoal.services.cluster.address",
        "shoal.services.errors",
        "shoal.services.private",
        "shoal.services.secrets",
        "shoal.services.settings",
        "shoal.services.store.store",
    },
    "shoal.services.evaluation": {
        "shoal.agent",
        "shoal.api",
        "shoal.errors",
        "shoal.services.answers",
        "shoal.services.browsers.configs",
        "shoal.services.errors",
        "shoal.services.settings",
        "shoal.services.evaluation",
    },
    "shoal.services.cli": {
        "shoal.agent",
        "shoal.api",
        "shoal.connect",
        "shoal.embedded",
        "shoal.errors",
        "shoal.fields",
        "shoal.page",
        "shoal.ready",
        "shoal.records",
        "shoal.services.browsers.configs",
        "shoal.services.cluster",
        "shoal.services.doctor",
        "shoal.services.errors",
        "shoal.services.evaluation",
        "shoal.services.events",
        "shoal.services.inference",
        "shoal.services.interpreter",
        "shoal.services.logs",
        "shoal.services.settings",
        "shoal.services.store.ids",
        "shoal.services.store.records",
        "shoal.services.store.store",
        "shoal.services.web.api.views.jobs",
        "shoal.services.web.http.api_keys",
        "shoal.services.web.http.roles",
        "shoal.trial",
        "shoal.version_trial",
        "shoal.services.cli",
    },
    "shoal.services": set[str](),
}
"""Packages of ours that each room may import."""

ROOMS: Mapping[str, Mapping[str, str]] = {
    "shoal.agent": {
        "actions": "browser errors hooks models observe support types",
        "artifact_kind": "",
        "browser": "hooks spec support types",
        "chromium": "actions browser error_info errors fault_table hooks observe redaction spec support types",
        "compressed_items": "types",
        "documents": "browser errors fault_table read spec status support types workflows",
        "error_advice": "errors",
        "error_info": "",
        "errors": "error_info",
        "evaluate": "models policies spec support types",
        "fault_table": "error_info errors",
        "gym": "actions browser chromium errors observe spec support types",
        "hooks": "",
        "models": "errors observe read spec support types",
        "observe": "support types",
        "page": "errors support",
        "policies": "actions browser errors models observe page read redaction replay_detail spec status "
        "support sureness types worker_messages workflows",
        "read": "browser errors observe page spec support sureness types",
        "redaction": "browser error_info errors observe spec support types",
        "replay_detail": "support",
        "results": "error_info evaluate support types",
        "sessions": "actions artifact_kind browser documents error_info errors fault_table hooks models "
        "observe page policies read redaction replay_detail spec status support "
        "sureness types worker_messages workflows",
        "spec": "support types",
        "status": "",
        "support": "errors",
        "sureness": "",
        "types": "artifact_kind error_info replay_detail status support sureness",
        "worker_messages": "compressed_items spec types",
        "workflows": "actions browser errors observe page read redaction spec support types",
    },
    "shoal.agent.chromium": {
        "acting": "call_deadlines cut_off devtools faults landing navigation_state process recording refreshes wire",
        "call_deadlines": "faults",
        "chromium_browser": "acting context_pool context_reset devtools process wire",
        "context_pool": "acting context_reset",
        "context_reset": "wire",
        "cut_off": "faults",
        "devtools": "acting call_deadlines context_reset faults landing refreshes wire",
        "faults": "",
        "landing": "",
        "navigation_state": "wire",
        "process": "chromium_browser faults wire",
        "recording": "wire",
        "refreshes": "",
        "wire": "",
    },
    "shoal.services.store": {
        "api_keys": "database read records",
        "audit": "database read records",
        "database": "records",
        "field_glossaries": "database",
        "ids": "",
        "jobs": "database ids loops read records sessions",
        "learning": "database jobs loops records sessions workflows",
        "loops": "database ids jobs records sessions",
        "read": "database ids jobs learning loops records waiting_causes",
        "records": "waiting_causes",
        "restarts": "",
        "schedules": "api_keys database ids jobs read records",
        "roles": "api_keys audit database field_glossaries jobs loops read records sessions throttle",
        "sessions": "database ids jobs learning loops records throttle workflows",
        "store": "database learning roles schedules throttle workflows",
        "throttle": "database read records waiting_causes",
        "waiting_causes": "",
        "workflows": "database read",
    },
    "shoal.services.dispatch": {
        "actor": "config dispatcher",
        "commit": "dispatch_state workers",
        "config": "",
        "dispatch_state": "config scheduling signals status",
        "dispatcher": "commit config dispatch_state learner scheduling status workers",
        "learned_step": "",
        "learner": "dispatch_state",
        "scheduling": "dispatch_state workers",
        "signals": "",
        "status": "commit dispatch_state scheduling workers",
        "workers": "config dispatch_state",
    },
    "shoal.services.web": {
        "api": "aside cluster_state deps http live results specs tries",
        "aside": "",
        "app": "api cluster_state deps http live pages specs tries",
        "cluster_state": "http",
        "deps": "http live openid specs",
        "http": "cluster_state deps",
        "live": "api deps http",
        "openid": "http",
        "pages": "api aside cluster_state deps http live openid results specs tries",
        "results": "api deps",
        "schedules": "cluster_state deps http results specs",
        "specs": "aside",
        "tries": "api deps http results specs",
    },
}
"""Parts of each large package, with the other parts of it that each may import."""

CIRCLES = {
    "shoal.agent": 0,
    "shoal.agent.chromium": 5,
    "shoal.services.store": 7,
    "shoal.services.dispatch": 5,
    "shoal.services.web": 8,
}
"""Parts of each that import themselves by way of others. The numbers only go down."""


ONLY = {
    "playwright": ("agent/chromium/",),
    "ray": (
        "services/browsers/pools/ray_pool.py",
        "services/browsers/pools/node.py",
        "services/browsers/pools/node_metrics.py",
        "services/dispatch/actor.py",
        "services/cluster/",
        "services/doctor.py",
    ),
    "boto3": ("services/artifacts/s3.py", "services/sinks/s3.py"),
    "fastapi": ("services/web/",),
    "sqlalchemy": ("services/store/",),
    "openai": ("agent/models/",),
}
"""Files that may import a library."""


MOST_FILES = 16
"""Python files of a folder at one level; beyond that a sub-room says more."""
MOST_LINES = 500
LONG = {
    "agent/errors.py": 560,
    "agent/types.py": 538,
    "services/settings.py": 860,
    "services/store/records.py": 560,
}
"""Files that are longer, with the bound of each: plain lists of errors, settings, records and tables."""
VAGUE = {"one": 0, "found": 13, "wanted": 2, "told": 7, "said": 6, "teacher": 0}
"""Names that do not say what they hold, with how often product code may bind each. The numbers only go down."""


def sources() -> list[tuple[str, list[str]]]:
    """Each product file with the modules that it imports."""
    modules = files()
    return [(str(path.relative_to(ROOT)), sorted(imports_of(path, modules))) for path in modules.values()]


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def room_of(module: str) -> str:
    """The room whose rule holds for a module: the closest one around it."""
    if not any(within(module, f"shoal.{top}") for top in TOPS):
        return "shoal"
    return max((room for room in MAY if room != "shoal" and within(module, room)), key=len)


def test_rooms_import_only_what_they_may() -> None:
    modules, wrong = files(), []
    for module, path in modules.items():
        room = room_of(module)
        for name in imports_of(path, modules):
            if not within(name, "shoal") or (room == "shoal" and room_of(name) == "shoal"):
                continue
            if not any(within(name, allowed) for allowed in MAY[room] | EVERYWHERE):
                wrong.append(f"{module} imports {name}")
    assert wrong == []


def parts_of(package: str) -> dict[str, set[str]]:
    """The parts of a package, folders and modules, each with the other parts that it imports."""
    modules = files()
    parts: dict[str, set[str]] = {}
    for module, path in modules.items():
        if within(module, package) and module != package:
            part = module.removeprefix(package + ".").partition(".")[0]
            imported = {name for name in imports_of(path, modules) if within(name, package) and name != package}
            names = {name.removeprefix(package + ".").partition(".")[0] for name in imported}
            parts.setdefault(part, set()).update(names - {part})
    return parts


def in_circles(graph: Mapping[str, set[str]]) -> set[str]:
    """The nodes that reach themselves by way of others."""

    def reached(start: str) -> set[str]:
        seen, waiting = set[str](), [start]
        while waiting:
            fresh = graph.get(waiting.pop(), set()) - seen
            seen |= fresh
            waiting.extend(fresh)
        return seen

    return {node for node in graph if node in reached(node)}


@pytest.mark.parametrize("package", ROOMS)
def test_each_part_of_a_package_imports_only_what_it_may(package: str) -> None:
    parts, allowed = parts_of(package), {name: set(words.split()) for name, words in ROOMS[package].items()}
    assert parts.keys() == allowed.keys(), f"each part of {package} has its line in ROOMS"
    more = {name: sorted(imported - allowed[name]) for name, imported in parts.items() if imported - allowed[name]}
    assert more == {}, f"{package}: new imports between its parts; find a way without, or add them to ROOMS"


@pytest.mark.parametrize("package", CIRCLES)
def test_circles_of_a_package_only_get_smaller(package: str) -> None:
    circle = sorted(in_circles(parts_of(package)))
    assert len(circle) <= CIRCLES[package], circle
    assert len(circle) == CIRCLES[package], f"smaller now: write {len(circle)} into CIRCLES"


def test_a_circle_is_seen() -> None:
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


def test_no_folder_is_flat() -> None:
    folders = Counter(path.parent.relative_to(ROOT) for path in files().values() if path.name != "__init__.py")
    assert {str(folder): n for folder, n in folders.items() if n > MOST_FILES} == {}


def test_no_file_grows_out_of_sight() -> None:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in files().values()
        if "migrations" not in path.parts
    }
    assert {name: n for name, n in lines.items() if n > LONG.get(name, MOST_LINES)} == {}
    assert [name for name in LONG if lines[name] <= MOST_LINES] == [], "shorter now: take it out of the list"


def test_locals_are_named_for_what_they_hold() -> None:
    bound: Counter[str] = Counter()
    for path in files().values():
        for node in nodes_of(path):
            if isinstance(node, ast.arg):
                bound[node.arg] += 1
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound[node.id] += 1
    assert {name: bound[name] for name, most in VAGUE.items() if bound[name] > most} == {}


def test_a_class_name_means_one_thing() -> None:
    """The public face has records of its own that are named like the API's; all other names stand once."""
    defined: dict[str, list[str]] = {}
    for module, path in files().items():
        if room_of(module) == "shoal":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in defined.items() if len(paths) > 1} == {}


def test_every_room_that_is_named_is_there() -> None:
    modules = files()
    named = {name for room, allowed in MAY.items() for name in (room, *allowed)}
    assert sorted(name for name in named if name not in modules) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for types alone count: a circle of types is two files that are one."""
    modules = files()
    left = {name: imports_of(path, modules) & modules.keys() - {name} for name, path in modules.items()}
    while leaves := {name for name, wanted in left.items() if not wanted & left.keys()}:
        left = {name: wanted for name, wanted in left.items() if name not in leaves}
    while roots := left.keys() - {name for wanted in left.values() for name in wanted}:
        left = {name: wanted for name, wanted in left.items() if name not in roots}
    assert sorted(left) == []


def test_the_drawing_of_imports_is_current() -> None:
    assert (ROOT / PAGE).read_text() == wrapped(page()), "run scripts/architecture-docs"


def test_libraries_stay_in_their_rooms() -> None:
    wrong = [
        f"{path} imports {name}"
        for path, imported in sources()
        for name in imported
        for library, rooms in ONLY.items()
        if within(name, library) and not path.startswith(rooms)
    ]
    assert wrong == []
