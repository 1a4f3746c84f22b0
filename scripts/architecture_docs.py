"""Writes the table and the drawing of imports in docs/architecture.md from the imports themselves.

With --check, the exit code says whether they are current (1: no).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import ROOT, deliver
from scripts.syntax_trees import statements_of

PAGE = "docs/architecture.md"
BEGIN, END = "<!-- imports: written by scripts/architecture-docs -->\n", "<!-- end of imports -->\n"

TOPS = ("agent", "services", "prompts")

MEANING = {
    "agent": "one session in one browser; usable as a library",
    "prompts": "templates, text only",
    "services/*.py": "single modules that every package may use: errors, events, logs, metrics, addresses",
    "services/artifacts": "put, get, sign: files, S3, memory",
    "services/browsers": "worker, pool, egress filter, robots.txt",
    "services/cli": "the command line: speaks HTTP to a gateway; `up` starts a cluster here",
    "services/cluster": "the embedded cluster, and each part alone: starts and ends the other parts",
    "services/dispatch": "fair order, politeness, leases, group commits, size of the pool",
    "services/demo": "a small shop that the egress filter answers for, and the job that reads it",
    "services/doctor.py": "`shoal doctor`: what is missing on this machine",
    "services/evaluation": "suites, arena, checks, reports of `shoal eval`",
    "services/inference": "starts vLLM, reads its metrics, says how many model-bound sessions may run",
    "services/schedules": "what a schedule says, when it fires, and what a run is held against",
    "services/secrets": "stored secrets: the folder, and the sites of each",
    "services/settings.py": "the only reader of the environment",
    "services/store": "the durable truth: SQLAlchemy, SQL by name, Alembic",
    "services/web": "HTTP: the API, the dashboard, metrics, retention",
    "services/sinks": "writes the records of ended jobs to buckets, tables, folders, spreadsheets and addresses",
    "services/webhooks": "signs and sends what the outbox holds",
    "shoal": "the way in for Python programs: clients, `run`, `open_page` ([reference](python.md))",
}
"""The meaning of each package. A package that is missing here stops the script."""


def files() -> dict[str, Path]:
    """Each product module by its name."""
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*.py")] + sorted((ROOT / "shoal").glob("*.py"))
    return {name_of(path): path for path in paths if "migrations" not in path.parts}


def name_of(path: Path) -> str:
    """The name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "shoal" else ("shoal", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports, those for types alone included."""
    return _imports(path, frozenset(modules))


@cache
def _imports(path: Path, modules: frozenset[str]) -> set[str]:
    imported: set[str] = set()
    for node in statements_of(path):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{name.name}" for name in node.names}
            imported |= {name if name in modules else node.module for name in full}
    return imported


ALONE = ("doctor", "settings")
"""Modules of `services/` that import packages: each is a package of its own."""


def package_of(module: str, modules: Mapping[str, Path]) -> str:
    """The package of a module, as a path from the root."""
    _, *parts = module.split(".")
    if not parts or parts[0] not in TOPS:
        return "shoal"
    if parts[0] != "services":
        return parts[0]
    if len(parts) > 1 and modules[f"shoal.services.{parts[1]}"].name == "__init__.py":
        return f"services/{parts[1]}"
    return f"services/{parts[1]}.py" if parts[1:] and parts[1] in ALONE else "services/*.py"


def arrows() -> dict[str, set[str]]:
    """Each package with the packages that it imports from."""
    modules = files()
    packages: dict[str, set[str]] = {package_of(module, modules): set() for module in modules}
    for module, path in modules.items():
        package = package_of(module, modules)
        for name in imports_of(path, modules) & modules.keys():
            packages[package].add(package_of(name, modules))
    packages = {package: targets - {package} for package, targets in packages.items()}
    circles = sorted(package for package in packages if package in reached(packages, [package]))
    if circles:
        raise SystemExit(f"these packages import each other: {', '.join(circles)}")
    return packages


def without_detours(packages: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that are left when one that other arrows imply is not drawn."""
    return {
        package: {target for target in targets if target not in reached(packages, targets - {target})}
        for package, targets in packages.items()
    }


def reached(packages: Mapping[str, set[str]], begin: Iterable[str]) -> set[str]:
    """The packages that some packages import, directly or by way of others."""
    seen: set[str] = set()
    left = list(begin)
    while left:
        for target in packages[left.pop()] - seen:
            seen.add(target)
            left.append(target)
    return seen


def table(packages: Mapping[str, set[str]]) -> Iterator[str]:
    """The rows of the table."""
    yield "| package | what it is | imports from |\n| --- | --- | --- |\n"
    for package in sorted(packages):
        targets = ", ".join(f"`{target}`" for target in sorted(packages[package]))
        yield f"| `{package}` | {MEANING[package]} | {targets} |\n"


def drawing(packages: Mapping[str, set[str]]) -> Iterator[str]:
    """The same as a drawing, without arrows that others imply."""
    yield "\n```mermaid\nflowchart TD\n"
    for package, targets in sorted(without_detours(packages).items()):
        for target in sorted(targets):
            yield f"    {_node(package)} --> {_node(target)}\n"
    yield "```\n"


def _node(package: str) -> str:
    return f"{package.replace('/', '_').replace('*', 'all').replace('.', '_')}[{package}]"


def page() -> str:
    """The whole page, with its generated part anew."""
    text = (ROOT / PAGE).read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    packages = arrows()
    return before + BEGIN + "".join(table(packages)) + "".join(drawing(packages)) + END + after


if __name__ == "__main__":
    sys.exit(deliver(PAGE, page()))
