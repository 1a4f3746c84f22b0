"""How many model calls jobs on applications take, beside the perfect number: what an agent needs that looks at no page
in vain.

The applications come from PyPI and npm: TiddlyWiki, Optuna Dashboard, Fava. They are installed once, seeded by their
own interfaces, and served on the loopback address. Each task is solved by a program that reads the prompt
(`_solver.py`), and judged by the application's own data. A task that is called completed and is not is told wrongly.

    make test-apps
    python load-tests/bench/app_calls.py [--only NAME] [--json]
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from _app_tasks import fava, optuna, tiddlywiki
from _apps import fava_served, optuna_served, tiddlywiki_served
from _report import Report, Target, arguments
from _site import ROOT
from _solver import Task
from agent_calls import run

MOST = 1.15  # calls of a perfect agent
_APPS = {"tiddlywiki": (tiddlywiki_served, tiddlywiki), "optuna": (optuna_served, optuna), "fava": (fava_served, fava)}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--only", default="", help="tasks whose name begins so, as `optuna`")
    options = parser.parse_args()

    @contextmanager
    def served() -> Iterator[list[Task]]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shoal-apps-")))
            tasks = []
            for name, (serve, tasks_of) in _APPS.items():
                if options.only.startswith(name) or name.startswith(options.only):
                    (folder / name).mkdir()
                    tasks += tasks_of(*stack.enter_context(serve(folder / name)))
            yield tasks

    counted, told, tasks = run(ROOT, options.only, served)
    report = Report("app_calls")
    nothing = {"statuses": [], "done": False, "right": False}
    gave = {task.name: told.get(task.name, nothing) for task in tasks}
    perfect = sum(task.perfect for task in tasks)
    report.add("tasks", len(tasks))
    report.add("tasks solved", sum(one["right"] for one in gave.values()))
    report.add("told wrongly", sum(set(one["statuses"]) == {"completed"} and not one["done"] for one in gave.values()))
    report.add("calls, of a perfect agent's", sum(one.calls for one in counted.values()) / perfect)
    for task in tasks:
        calls = counted[task.name].calls if task.name in counted else 0
        report.add(f"{task.name}: calls ({task.perfect} are needed)", calls)
    report.targets = {
        "tasks solved": Target(len(tasks)),
        "told wrongly": Target(0, at_least=False),
        "calls, of a perfect agent's": Target(MOST, at_least=False),
    }
    report.notes += [f"{name}: {json.dumps(one)[:1500]}" for name, one in gave.items() if not one["right"]]
    report.show(as_json=options.json)
    sys.exit(not all(target.met(report.median(name)) for name, target in report.targets.items()))


if __name__ == "__main__":
    main()
