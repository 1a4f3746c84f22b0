"""Imports point one way, and the heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

MAY = {
    "agent": {"agent", "prompts"},
    "prompts": {"prompts"},
    "services.errors": set[str](),
    "services.events": set[str](),
    "services.settings": {"services.errors", "services.artifacts.options"},
    "services.logs": {"services.events"},
    "services.metrics": set[str](),
    "services.tally": {"services.metrics"},
    "services.tracing": {"services.errors"},
    "services.interpreter": set[str](),
    "services.addresses": {"agent.remembered", "services.errors", "services.events"},
    "services.store": {
        "agent.packed",
        "agent.types",
        "agent.spec",
        "agent.status",
        "agent.work",
        "agent.errors",
        "services.errors",
        "services.events",
        "services.store",
    },
    "services.artifacts": {"agent.errors", "services.errors", "services.events", "services.artifacts"},
    "services.browsers": {
        "agent",
        "services.artifacts",
        "services.addresses",
        "services.errors",
        "services.events",
        "services.interpreter",
        "services.logs",
        "services.metrics",
        "services.tally",
        "services.tracing",
        "services.browsers",
    },
    "services.inference": {"services.errors", "services.events", "services.settings", "services.inference"},
    "services.dispatch": {
        "agent.types",
        "agent.spec",
        "agent.status",
        "agent.work",
        "agent.errors",
        "services.store",
        "services.browsers",
        "services.inference",
        "services.errors",
        "services.events",
        "services.interpreter",
        "services.logs",
        "services.tally",
        "services.tracing",
        "services.dispatch",
    },
    "services.webhooks": {
        "agent.retry_after",
        "services.store",
        "services.addresses",
        "services.errors",
        "services.events",
        "services.logs",
        "services.webhooks",
    },
    "services.gateway": {
        "agent.remembered",
        "agent.types",
        "agent.spec",
        "agent.status",
        "agent.errors",
        "agent.policies.choose",
        "agent.actions",
        "services.store",
        "services.artifacts",
        "services.addresses",
        "services.metrics",
        "services.tally",
        "services.tracing",
        "services.errors",
        "services.events",
        "services.logs",
        "services.dashboard",
        "services.webhooks",
        "services.gateway",
    },
}
"""What each room may import of ours; rooms that are not named may import everything (entry points)."""

ONLY = {
    "playwright": ("agent/chromium/",),
    "ray": (
        "services/browsers/ray_pool.py",
        "services/browsers/node.py",
        "services/browsers/node_metrics.py",
        "services/dispatch/actor.py",
        "services/cluster/",
        "services/doctor.py",
    ),
    "boto3": ("services/artifacts/s3.py",),
    "fastapi": ("services/gateway/", "services/dashboard/"),
    "sqlalchemy": ("services/store/",),
    "openai": ("agent/models/",),
}
"""Where a library may be imported."""


def sources() -> list[tuple[str, list[str]]]:
    """Each product file with the modules that it imports."""
    found = []
    for room in ("agent", "services", "prompts"):
        for path in sorted((ROOT / room).rglob("*.py")):
            imported: list[str] = []
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported += [name.name for name in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module:
                    whole = node.module in ("agent", "services")
                    imported += [f"{node.module}.{name.name}" for name in node.names] if whole else [node.module]
            found.append((str(path.relative_to(ROOT)), imported))
    return found


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def test_rooms_import_only_what_they_may() -> None:
    wrong = []
    for path, imported in sources():
        module = path.removesuffix(".py").replace("/", ".")
        room = max((r for r in MAY if within(module, r)), key=len, default=None)
        if room is None:
            continue
        for name in imported:
            ours = within(name, "agent") or within(name, "services") or within(name, "prompts")
            if ours and not any(within(name, allowed) for allowed in MAY[room]):
                wrong.append(f"{path} imports {name}")
    assert wrong == []


def test_libraries_stay_in_their_rooms() -> None:
    wrong = [
        f"{path} imports {name}"
        for path, imported in sources()
        for name in imported
        for library, rooms in ONLY.items()
        if within(name, library) and not path.startswith(rooms)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("services.cluster.embedded", ("playwright", "openai", "pypdf", "dateparser", "boto3")),
        ("services.dispatch.actor", ("playwright", "openai", "pypdf", "dateparser", "boto3", "fastapi", "pyarrow")),
        ("services.browsers.parts", ("openai", "boto3", "fastapi", "sqlalchemy", "ray")),
    ],
)
def test_a_process_does_not_wait_for_the_libraries_of_others(module: str, others: tuple[str, ...]) -> None:
    """Each process of a cluster imports for seconds before it does anything; on two cores they wait for each other."""
    look = f"import sys, {module}; print(*(name for name in {others!r} if name in sys.modules))"
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.split() == []
