"""Model calls of jobs on applications, beside the perfect number: the calls of an agent that looks at no page in vain.

The applications come from PyPI and npm (the folder `apps` has a file for each). They are installed once, seeded by
their own interfaces, and served on the loopback address. Each task is solved by a program that reads the prompt
(`_solver.py`), and judged by the application's own data. A task that is called completed and is not is told wrongly.
A known miss is run, told with its reason, and counted neither as solved nor among the calls.

    make test-apps
    python load-tests/bench/app_calls.py [--only NAME] [--json]
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
from agent_calls import run
from apps import cloudcmd, etherpad, fava, jupyterlab, locust, node_red, octoprint, optuna, tiddlywiki, wagtail

MOST = 1.15  # calls of a perfect agent
_APPS: dict[str, Any] = {
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
def _served(app: Any) -> Iterator[list[Task]]:
    with tempfile.TemporaryDirectory(prefix="shoal-apps-") as folder, app.served(Path(folder)) as parts:
        yield app.tasks(*parts)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--prompts", type=Path, metavar="FOLDER", help="keeps there what was asked and replied")
    parser.add_argument("--only", default="", help="tasks whose name begins so, as `optuna`")
    options = parser.parse_args()

    counted: dict[str, Counted] = {}
    told: dict[str, Any] = {}
    tasks: list[Task] = []
    for name, app in _APPS.items():
        if options.only.startswith(name) or name.startswith(options.only):
            costs, gave, done = run(ROOT, options.only, partial(_served, app))
            counted, told, tasks = counted | costs, told | gave, tasks + done
    if options.prompts:
        options.prompts.mkdir(parents=True, exist_ok=True)
        for name, one in counted.items():
            asked = [part for pair in zip(one.prompts, one.replies, strict=True) for part in pair]
            (options.prompts / f"{name}.txt").write_text("\n\n=====\n\n".join(asked), encoding="utf-8")
    report = Report("app_calls")
    nothing = {"statuses": [], "right": False}
    results = {task.name: told.get(task.name, nothing) for task in tasks}
    known = [task for task in tasks if task.missed]
    judged = [task for task in tasks if not task.missed]
    perfect = sum(task.perfect for task in judged)
    taken = sum(counted[task.name].calls for task in judged if task.name in counted)
    report.add("tasks", len(tasks))
    report.add("tasks solved", sum(results[task.name]["right"] for task in judged))
    report.add("known misses", len(known))
    report.add("known misses that are solved", sum(results[task.name]["right"] for task in known))
    completed = [one for one in results.values() if set(one["statuses"]) == {"completed"}]
    report.add("told wrongly", sum(not one["right"] for one in completed))
    report.add("calls, of a perfect agent's", taken / perfect if perfect else 0.0)
    for task in tasks:
        calls = counted[task.name].calls if task.name in counted else 0
        report.add(f"{task.name}: calls ({task.perfect} are needed)", calls)
    report.targets = {
        "tasks solved": Target(len(judged)),
        "known misses that are solved": Target(0, at_least=False),
        "told wrongly": Target(0, at_least=False),
        "calls, of a perfect agent's": Target(MOST, at_least=False),
    }
    report.notes += [f"{task.name} is a known miss: {task.missed}" for task in known]
    for name, one in results.items():
        if not one["right"] and name not in {task.name for task in known}:
            lost = counted[name].lost if name in counted else []
            report.notes.append(f"{name}: {json.dumps(one)[:1500]} {lost[:1]}")
    report.show(as_json=options.json)
    sys.exit(not all(target.met(report.median(name)) for name, target in report.targets.items()))


if __name__ == "__main__":
    main()
