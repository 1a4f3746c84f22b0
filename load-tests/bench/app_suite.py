"""The tasks of `app_calls.py` by any model, through `shoal eval`: the applications are served while it runs.

Episodes run one after the other, since those of one application share its data. An application's own data say whether
an episode succeeded. With `--judged` a model's verdict on answer and pictures says so, as in WebVoyager. Options of
`shoal eval` stand behind `--`. MiniWoB++ needs nothing of this: `shoal eval miniwob`.

    python load-tests/bench/app_suite.py --out one -- --model-url http://127.0.0.1:8000/v1 --model one --judge
    python load-tests/bench/app_suite.py --out other -- --model-url … --model other --against one
    python load-tests/bench/app_suite.py --out judged --judged -- --model-url … --model one

With `--solver` the model is the program that reads prompts, so that the way is tried without weights.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote, urlsplit

from _solver import Solver, Task
from agent_calls import model_of
from app_calls import APPS, served

from shoal.agent.support.json_value import Json
from tests import loopback

_TASK = re.compile(r" \(task [^)]*\)$")


class _Judge(BaseHTTPRequestHandler):
    """Answers a run's answer, records and address with whether the application's data are right."""

    def __init__(self, tasks: Mapping[str, Task], *args: object) -> None:
        self._tasks = tasks
        super().__init__(*args)  # type: ignore[arg-type]

    def do_POST(self) -> None:
        gave = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            right = bool(self._tasks[unquote(self.path[1:])].right(gave))
        except (LookupError, OSError) as error:  # nothing of what the task is about is there
            self.send_error(500, str(error))
            return
        body = json.dumps({"right": right}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(only: str) -> Iterator[list[Task]]:
    """The tasks whose names begin with `only`, while their applications are served."""
    with ExitStack() as stack:
        apps = [app for name, app in APPS.items() if only.startswith(name) or name.startswith(only)]
        every = [task for app in apps for task in stack.enter_context(served(app))]
        yield [task for task in every if task.name.startswith(only)]


def line(task: Task, checks: str, *, judged: bool, keep_name: bool) -> dict[str, Json]:
    """One line of the suite.

    Args:
        checks: address of the one who knows the applications' data.
        keep_name: whether the goal keeps the name of the task, by which a solver knows it.
    """
    app, _, what = task.name.partition(" ")
    job = {**task.spec, "politeness": {"robots": False}}
    if not keep_name:
        job["goal"] = _TASK.sub("", str(job["goal"]))
    page = {"url": f"{checks}/{task.name.replace(' ', '%20')}", "send": True, "json": {"right": True}}
    return {"name": f"{app}:{what}", "job": job, "check": {"judge": True} if judged else {"page": page}}


def _evaluate(suite: Path, hosts: Sequence[str], arguments: Sequence[str]) -> int:
    """Runs `shoal eval` on the suite; its cluster may reach the applications."""
    allowed = [*filter(None, os.environ.get("SHOAL_ALLOW_HOSTS", "").split(",")), *hosts]
    command = [str(Path(sys.executable).with_name("shoal")), "eval", str(suite), "--parallel", "1", *arguments]
    return subprocess.run(command, env={**os.environ, "SHOAL_ALLOW_HOSTS": ",".join(allowed)}, check=False).returncode


def main() -> None:
    own, more = _split(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--only", default="", help="tasks whose name begins so, as `optuna`")
    parser.add_argument("--judged", action="store_true", help="a model judges each run, and nothing else does")
    parser.add_argument("--solver", action="store_true", help="the model is the program that reads prompts")
    options = parser.parse_args(own)
    if options.judged and options.solver:
        parser.error("the solver judges nothing")

    options.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        tasks = stack.enter_context(_served(options.only))
        by_name = {task.name: task for task in tasks}
        checks = stack.enter_context(loopback.served(partial(_Judge, by_name)))
        suite = options.out / "apps.jsonl"
        lines = [line(task, checks, judged=options.judged, keep_name=options.solver) for task in tasks]
        suite.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
        if options.solver:
            url = stack.enter_context(model_of(Solver(tasks)))
            more += ["--model-url", url, "--model", "solver"]
        hosts = sorted({urlsplit(str(task.spec["url"])).netloc for task in tasks})
        sys.exit(_evaluate(suite, hosts, ["--out", str(options.out), *more]))


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return this program's arguments, and those for `shoal eval`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    main()
