"""Model calls of jobs on applications, beside the perfect number: the calls of an agent that looks at no page in vain.

The applications come from PyPI and npm (the folder `apps` has a file for each). They are installed once, seeded by
their own interfaces, and served on the loopback address. Each task is solved by a program that reads the prompt
(`_solver.py`), and judged by the application's own data. A task that is called completed and is not is told wrongly.

    make test-apps
    python load-tests/bench/app_calls.py [--only NAME] [--browser-use PYTHON] [--json]

With `--browser-use PYTHON` (`_browser_use.py` says how it is installed) the same solvers do the tasks by browser-use,
after ours and with the applications served anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from _report import Report, Target, arguments
from _site import ROOT
from _solver import Counted, Task
from agent_calls import compare_with_peer, run, run_peer
from apps import cloudcmd, etherpad, fava, jupyterlab, locust, node_red, octoprint, optuna, tiddlywiki, wagtail

MOST = 1.15  # calls of a perfect agent
APPS: dict[str, Any] = {
    "cloudcmd": cloudcmd,
    "etherpad": etherpad,
    "fava": fava,
    "jupyterlab": jupyterlab,
    "locust": locust,
    "node-red": node_red,
    "octoprint": octoprint,
    "optuna": optuna,
    "tiddlywiki": tiddlywiki,
    "wagtail": wagtail,
}


@contextmanager
def served(app: Any) -> Iterator[list[Task]]:
    with tempfile.TemporaryDirectory(prefix="shoal-apps-") as folder, app.served(Path(folder)) as parts:
        yield app.tasks(*parts)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--prompts", type=Path, metavar="FOLDER", help="keeps there what was asked and replied")
    parser.add_argument("--only", default="", help="tasks whose name begins so, as `optuna`")
    parser.add_argument("--browser-use", type=Path, metavar="PYTHON", help="the Python of an environment that has it")
    options = parser.parse_args()

    counted: dict[str, Counted] = {}
    told: dict[str, Any] = {}
    tasks: list[Task] = []
    peer_counted: dict[str, Counted] = {}
    peer_told: dict[str, Any] = {}
    for name, app in APPS.items():
        if options.only.startswith(name) or name.startswith(options.only):
            costs, gave, done = run(ROOT, options.only, partial(served, app))
            counted, told, tasks = counted | costs, told | gave, tasks + done
            if options.browser_use:
                costs, gave, _ = run_peer(options.browser_use, options.only, partial(served, app))
                peer_counted, peer_told = peer_counted | costs, peer_told | gave
    if options.prompts:
        _keep(options.prompts, counted)
        _keep(options.prompts / "browser-use", peer_counted)
    report = Report("app_calls")
    nothing = {"statuses": [], "right": False}
    results = {task.name: told.get(task.name, nothing) for task in tasks}
    perfect = sum(task.perfect for task in tasks)
    taken = sum(counted[task.name].calls for task in tasks if task.name in counted)
    report.add("tasks", len(tasks))
    report.add("tasks solved", sum(one["right"] for one in results.values()))
    completed = [one for one in results.values() if set(one["statuses"]) == {"completed"}]
    report.add("told wrongly", sum(not one["right"] for one in completed))
    report.add("calls, of a perfect agent's", taken / perfect if perfect else 0.0)
    pictured = sum(one.pictured for one in counted.values())
    report.add("share of calls with a picture", pictured / (sum(one.calls for one in counted.values()) or 1))
    for task in tasks:
        calls = counted[task.name].calls if task.name in counted else 0
        report.add(f"{task.name}: calls ({task.perfect} are needed)", calls)
    report.targets = {
        "tasks solved": Target(len(tasks)),
        "told wrongly": Target(0, at_least=False),
        "calls, of a perfect agent's": Target(MOST, at_least=False),
        "share of calls with a picture": Target(0.5, at_least=False),
    }
    for name, one in results.items():
        if not one["right"]:
            lost = counted[name].lost if name in counted else []
            report.notes.append(f"{name}: {json.dumps(one)[:1500]} {lost[:1]}")
    if options.browser_use:
        _add_peer(report, tasks, counted, peer_counted, peer_told)
    report.show(as_json=options.json)
    sys.exit(not all(target.met(report.median(name)) for name, target in report.targets.items()))


def _keep(folder: Path, counted: dict[str, Counted]) -> None:
    """Writes what was asked and replied, a file for each task."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in counted.items():
        asked = [part for pair in zip(one.prompts, one.replies, strict=True) for part in pair]
        (folder / f"{name}.txt").write_text("\n\n=====\n\n".join(asked), encoding="utf-8")


def _add_peer(
    report: Report, tasks: list[Task], ours: dict[str, Counted], counted: dict[str, Counted], told: dict[str, Any]
) -> None:
    """Adds what browser-use did with the same tasks, and why it did not solve the others."""
    solved = [task.name for task in tasks if told.get(task.name, {}).get("right")]
    completed = [name for name, one in told.items() if set(one["statuses"]) == {"completed"}]
    report.add("browser-use: tasks solved", len(solved))
    report.add("browser-use: told wrongly", len(set(completed) - set(solved)))
    report.add("browser-use: calls", sum(one.calls for one in counted.values()))
    compare_with_peer(report, ours, counted, solved)
    for task in tasks:
        if task.name not in solved:
            one = counted.get(task.name, Counted())
            why = told.get(task.name, {}).get("reasons") or told.get(task.name, {}).get("statuses")
            report.notes.append(f"browser-use: {task.name}: {[*one.lost, *(why or ['did not run'])][:1]}"[:400])


if __name__ == "__main__":
    main()
