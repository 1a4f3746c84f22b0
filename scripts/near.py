"""Runs the tests nearest to what changed, for five minutes at most.

A test file is as far from a change as imports lead from one to the other: 0 where the file itself changed, 1 where it
imports what changed. The nearest files run first. A file that Python does not import, such as a script for pages or a
template, counts as changed in each module that names it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from scripts.architecture_docs import imports_of

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("agent", "prompts", "services")
FARTHEST = 3
"""Imports between a change and its tests: beyond, nearly every test is reached."""
LIMIT_S = 300
NO_TESTS = 5
"""The exit code of pytest where a file has none."""


def modules() -> dict[str, Path]:
    """The Python files of the repository by the names under which others import them."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    named = {}
    for name in listed.stdout.split():
        path = ROOT / name
        if path.is_file():
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            named[".".join(("shoal", *parts) if parts[0] in PRODUCT else parts)] = path
    return named


def changed_files(since: str) -> list[str]:
    """Return what differs from the commit `since`, files that are not committed yet included."""
    git = ["git", "-C", str(ROOT)]
    differs = subprocess.run([*git, "diff", "--name-only", since], capture_output=True, text=True, check=True)
    new = subprocess.run([*git, "ls-files", "-o", "--exclude-standard"], capture_output=True, text=True, check=True)
    return sorted({*differs.stdout.split(), *new.stdout.split()})


def distances(changed: Iterable[str], named: Mapping[str, Path]) -> dict[Path, int]:
    """Return how many imports lie between each file and the nearest change, at most `FARTHEST`."""
    by_path = {path: module for module, path in named.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for module, path in named.items():
        for imported in imports_of(path, named):
            importers[imported].add(module)
    reached = {module: 0 for name in changed for module in _modules_of(ROOT / name, by_path)}
    edge = set(reached)
    for distance in range(1, FARTHEST + 1):
        edge = {module for past in edge for module in importers[past] if module not in reached}
        reached |= dict.fromkeys(edge, distance)
    return {named[module]: distance for module, distance in reached.items()}


def _modules_of(path: Path, by_path: Mapping[Path, str]) -> list[str]:
    if path.suffix == ".py":
        return [by_path[path]] if path in by_path else []
    return [module for other, module in by_path.items() if path.suffix and path.name in _text(other)]


@cache
def _text(path: Path) -> str:
    return path.read_text()


def nearest_tests(near: Mapping[Path, int]) -> list[Path]:
    """The test files, nearest first; those without a browser or a server before the others of one distance."""
    tests = [path for path in near if path.name.startswith("test_") and path.is_relative_to(ROOT / "tests")]
    return sorted(tests, key=lambda path: (near[path], not path.is_relative_to(ROOT / "tests" / "unit"), str(path)))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("since", nargs="?", default="HEAD", help="the commit that the change began at")
    parser.add_argument("--list", action="store_true", help="print the test files and run none")
    given = parser.parse_args(arguments)
    named = modules()
    near = distances(changed_files(given.since), named)
    tests = nearest_tests(near)
    if given.list:
        for path in tests:
            print(near[path], path.relative_to(ROOT))
        return 0
    if not tests:
        print(f"No test is within {FARTHEST} imports of what changed since {given.since}")
        return 0
    return _run(tests, near)


def _run(tests: Sequence[Path], near: Mapping[Path, int]) -> int:
    """Runs the files of each distance by one pytest; the exit code of the first that failed."""
    end = time.monotonic() + LIMIT_S
    for distance in range(FARTHEST + 1):
        files = [str(path.relative_to(ROOT)) for path in tests if near[path] == distance]
        if not files:
            continue
        print(f"{len(files)} test files at {distance} imports from the change", flush=True)
        limit = f"--session-timeout={max(1, round(end - time.monotonic()))}"
        code = subprocess.run([sys.executable, "-m", "pytest", "-q", limit, *files], cwd=ROOT).returncode
        if code not in (0, NO_TESTS):
            return code
        if time.monotonic() >= end:
            print(f"{LIMIT_S} s are over: what is farther away was not run")
            break
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
