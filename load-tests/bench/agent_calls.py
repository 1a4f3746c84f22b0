"""Model calls and tokens of thirty tasks, beside an earlier state of the agent.

Twelve tasks of MiniWoB++, seven of the demo shop, eight of two applications from PyPI (Flask-Admin, Datasette), three
of Python's manual. The model is a deterministic program behind a real HTTP server that speaks the protocol of the model
server: it decides each request from the prompt alone, by a solver of the task, and knows the shapes of replies before
and after. So both states solve the same tasks by the same decisions, and what differs is how often they ask and what
they send. Tokens are estimated at four characters of text. Pictures are on, and counted; the solver ignores them.

Each state runs from a checkout of its own:

    git worktree add /some/folder 6c308a5
    python load-tests/bench/agent_calls.py --before /some/folder [--only NAME] [--quick] [--json]

With `--browser-use PYTHON` (`_browser_use.py` says how it is installed) the same solvers do the tasks by
browser-use, as it is by default but for pictures and the judge of its answers. Left out are loops, which it does not
have, and two tasks whose solvers know a product by its heading, which its prompts do not mark.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from _call_tasks import datasette, flask_admin, manual, miniwob, shop
from _pages import START_MINIWOB, miniwob_folder
from _peer_solver import PeerSolver
from _report import Report, Target, arguments
from _site import ROOT, demo_site, products
from _solver import CHARS_PER_TOKEN, Counted, Solver, Task

from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.support.json_value import Json
from tests import loopback
from tests.model_server import ModelServer, serving
from tests.sites.registry import cache, sphinx
from tests.sites.registry import flask_admin as flask_site
from tests.sites.registry import serving as sites

SIDE = Path(__file__).with_name("_agent_calls_side.py")
PEER = Path(__file__).with_name("_browser_use_calls_side.py")
NEEDS_HEADINGS = ("shop price", "shop record")
BLOCK_CHARS = 64  # of a prefix cache: 16 tokens
ONE_CLICK = ("click-button", "click-test", "click-test-2", "click-link", "focus-text", "shop cookies", "admin open")
LIMIT_S = 400
_BEGIN = (
    f"<script>addEventListener('load', () => {{ {START_MINIWOB}; setInterval(() => {{ if (WOB_DONE_GLOBAL) "
    "document.documentElement.dataset.reward = String(WOB_RAW_REWARD_GLOBAL) }, 20) })</script></body>"
)


class _Episodes(sites._Quiet):
    """The pages of MiniWoB++, each with its episode begun."""

    def do_GET(self) -> None:
        file = Path(self.directory) / self.path.lstrip("/")
        if file.suffix != ".html" or not file.is_file():
            super().do_GET()
            return
        body = file.read_text(encoding="utf-8").replace("</body>", _BEGIN).encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def all_tasks() -> Iterator[list[Task]]:
    """The tasks, while their sites are served. Each state of the agent gets sites of its own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shoal-calls-")))
        wob = stack.enter_context(loopback.served(functools.partial(_Episodes, directory=str(miniwob_folder()))))
        store = stack.enter_context(demo_site())
        admin = stack.enter_context(_flask_admin(folder))
        data = stack.enter_context(_datasette(folder))
        pages = stack.enter_context(sites.folder(sphinx._pages()))
        truth = _truth(store)
        sold = [url for url in products(store) if url.removeprefix(store) in truth]
        dollars = [url for url in sold if truth[url.removeprefix(store)]["category"] == "power-tools"]
        in_stock = next(url for url in dollars if truth[url.removeprefix(store)]["in_stock"])
        yield [*miniwob(wob), *shop(store, dollars, in_stock), *flask_admin(admin), *datasette(data), *manual(pages)]


def _truth(store: str) -> dict[str, dict[str, Any]]:
    """Return what is true of the shop's products whose pages are served without a fault, by their paths."""
    with urllib.request.urlopen(f"{store}/_truth/products.json") as answer:
        return {product["path"]: product for product in json.load(answer) if not product["fault"]}


@contextmanager
def _flask_admin(folder: Path) -> Iterator[str]:
    python = cache.pypi("flask-admin", flask_site._PACKAGES)
    port = sites.free_port()
    command = [str(python), str(flask_site._PROGRAM), str(folder / "shop.db"), str(port)]
    with sites.program(command, port, cwd=folder, path="/admin/") as url:
        yield url


@contextmanager
def _datasette(folder: Path) -> Iterator[str]:
    python = cache.pypi("datasette", ("datasette==0.65.1", "setuptools==80.9.0"))
    database = sqlite3.connect(folder / "city.db")
    database.executescript(
        "create table city (id integer primary key, name text, country text, people integer);"
        "insert into city values (1, 'Ulm', 'Germany', 128000), (2, 'Graz', 'Austria', 302000),"
        " (3, 'Gent', 'Belgium', 267000);"
    )
    database.close()
    port = sites.free_port()
    command = [str(python), "-m", "datasette", "serve", str(folder / "city.db"), "--port", str(port)]
    with sites.program(command, port, cwd=folder) as url:
        yield url


Served = Callable[[], AbstractContextManager[list[Task]]]


def run(tree: Path, only: str, served: Served = all_tasks) -> tuple[dict[str, Counted], dict[str, Any], list[Task]]:
    """Return what each task of `served` cost by the agent of the checkout `tree`, what it gave, and the tasks."""
    with served() as every:
        tasks = [task for task in every if task.name.startswith(only)]
        solver = Solver(tasks)
        with model_of(solver) as url:
            asked = {"model": f"{url}", "tasks": [{"name": task.name, "spec": task.spec} for task in tasks]}
            command = [sys.executable, str(SIDE), str(tree)]
            told = _run_side(command, asked, tasks, env={**os.environ, "PYTHONPATH": str(tree)})
        return solver.counted, told, tasks


def run_peer(
    python: Path, only: str, served: Served = all_tasks
) -> tuple[dict[str, Counted], dict[str, Any], list[Task]]:
    """The same by browser-use, for the tasks that it can be compared in."""
    with served() as every:
        tasks = [
            task for task in every if task.name.startswith(only) and not task.loop and task.name not in NEEDS_HEADINGS
        ]
        solver = PeerSolver(tasks)
        with model_of(solver) as url:
            goals = [
                {
                    "name": task.name,
                    "url": task.spec["url"],
                    "goal": _peer_goal(task),
                    "records": task.record is not None,
                }
                for task in tasks
            ]
            asked = {"model": url, "chromium": str(find_chromium()), "tasks": goals}
            told = _run_side([str(python), str(PEER)], asked, tasks, stderr=subprocess.DEVNULL)
        return solver.counted, told, tasks


def _run_side(command: list[str], asked: Json, tasks: list[Task], **how: Any) -> dict[str, Any]:
    """Return what the tasks gave by one agent's program, each judged before the next one begins."""
    told: dict[str, Any] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **how) as side:
        assert side.stdin is not None and side.stdout is not None
        end = threading.Timer(LIMIT_S * (1 + len(tasks) // 10), side.kill)
        end.start()
        try:
            side.stdin.write(json.dumps(asked) + "\n")
            side.stdin.flush()
            for line in side.stdout:
                gave = json.loads(line)
                _judge([task for task in tasks if task.name in gave], gave)
                told |= gave
                side.stdin.write("\n")
                side.stdin.flush()
        finally:
            end.cancel()
    return told


def _peer_goal(task: Task) -> str:
    """All that the job says, in words: it has a goal and no further fields."""
    data, extract = task.spec.get("data"), task.spec.get("extract")
    parts = [
        task.spec["goal"],
        f"Data: {json.dumps(data)}" if data else "",
        f"Give the records as a JSON array by this schema: {json.dumps(extract['schema'])}" if extract else "",
    ]
    return "\n".join(part for part in parts if part)


@contextmanager
def model_of(solver: Callable[[Mapping[str, Json]], str]) -> Iterator[str]:
    """The address of a server whose answers the solver makes, in a thread of its own."""
    begun, over = threading.Event(), threading.Event()
    at: list[str] = []

    async def serve() -> None:
        async with serving(ModelServer(solver)) as server:
            at.append(server.url)
            begun.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    begun.wait(10)
    try:
        yield at[0]
    finally:
        over.set()
        thread.join(10)


def shared(prompts: list[str]) -> float:
    """The share of prompts' characters, without the first two, that an earlier one began with, in whole blocks."""
    hit = whole = 0
    for n, prompt in enumerate(prompts):
        best = max((_common(prompt, one) for one in prompts[:n]), default=0)
        if n >= 2:
            hit += best // BLOCK_CHARS * BLOCK_CHARS
            whole += len(prompt)
    return hit / whole if whole else 0.0


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def tell(report: Report, state: str, counted: dict[str, Counted], told: dict[str, Any], tasks: list[Task]) -> None:
    """Adds what one state cost."""
    right = [task.name for task in tasks if told.get(task.name, {}).get("right")]
    calls = sum(one.calls for one in counted.values())
    report.add(f"{state}: tasks solved", len(right))
    report.add(f"{state}: calls", calls)
    report.add(f"{state}: prompt tokens", sum(one.prompt for one in counted.values()) / CHARS_PER_TOKEN)
    report.add(f"{state}: reply tokens", sum(one.reply for one in counted.values()) / CHARS_PER_TOKEN)
    report.add(f"{state}: share of calls that only say done", sum(one.only_done for one in counted.values()) / calls)
    report.add(f"{state}: share of calls with a picture", sum(one.pictured for one in counted.values()) / calls)
    report.add(f"{state}: seconds", sum(one["seconds"] for one in told.values()))
    clicks = [counted[name].calls for name in ONE_CLICK if name in counted]
    if clicks:
        report.add(f"{state}: most calls of a one-click task", max(clicks))
    for task in tasks:
        if task.name not in counted:
            continue
        if task.loop:
            items = [one for one in counted[task.name].prompts if "This session does the job for one value only" in one]
            n = len(told.get(task.name, {}).get("records", ())) or 1
            report.add(f"{state}: calls of a loop's item", len(items) / n)
            report.add(f"{state}: {task.name}: prefix shared by its items", shared(items))
        report.add(f"{state}: {task.name}: calls", counted[task.name].calls)
    wrong = {task.name: told.get(task.name, "did not run") for task in tasks if task.name not in right}
    if wrong:
        report.notes.append(f"{state}: not solved: {json.dumps(wrong)[:3000]}")


def _beside_peer(report: Report, now: dict[str, Counted], python: Path, only: str) -> None:
    """Adds what browser-use cost, and ours beside it."""
    counted, told, tasks = run_peer(python, only)
    tell(report, "browser-use", counted, told, tasks)
    both = [task.name for task in tasks if told.get(task.name, {}).get("right")]
    compare_with_peer(report, now, counted, both)


def compare_with_peer(
    report: Report, now: Mapping[str, Counted], counted: Mapping[str, Counted], both: Sequence[str]
) -> None:
    """Adds what ours cost as a share of what browser-use did, over the tasks `both` solved."""
    if not both:
        return
    for figure, words, bound in (
        ("calls", "calls", 1.0),
        ("prompt", "prompt tokens", 0.6),
        ("reply", "reply tokens", None),
    ):
        name = f"{words}, of browser-use, over the {len(both)} tasks that it solved"
        report.add(
            name, sum(getattr(now[one], figure) for one in both) / sum(getattr(counted[one], figure) for one in both)
        )
        if bound is not None:
            report.targets[name] = Target(bound, at_least=False)


def _judge(tasks: list[Task], told: dict[str, dict[str, Any]]) -> None:
    """Notes which tasks were told completed and are; while their sites are served, whose data may be asked."""
    for task in tasks:
        if task.name in told:
            gave = told[task.name]
            gave["right"] = set(gave["statuses"]) == {"completed"} and task.right(gave)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--before", type=Path, help="a checkout of the state to compare with")
    parser.add_argument("--only", default="", help="tasks whose name begins so")
    parser.add_argument("--rounds", type=int, help="not used: a deterministic model gives the same each time")
    parser.add_argument("--browser-use", type=Path, metavar="PYTHON", help="the Python of an environment that has it")
    options = parser.parse_args()
    only = "click" if options.quick else options.only
    report = Report("agent_calls")
    states = {"now": ROOT, **({"before": options.before} if options.before else {})}
    counted_now: dict[str, Counted] = {}
    for state, tree in states.items():
        counted, *rest = run(tree, only)
        tell(report, state, counted, *rest)
        counted_now = counted_now or counted
    if options.browser_use:
        _beside_peer(report, counted_now, options.browser_use, only)
    if options.before:
        for figure, bound in (("calls", 0.55), ("prompt tokens", 0.6), ("reply tokens", 1.0)):
            report.add(f"{figure}, of before", report.median(f"now: {figure}") / report.median(f"before: {figure}"))
            report.targets[f"{figure}, of before"] = Target(bound, at_least=False)
    report.targets |= {
        "now: share of calls that only say done": Target(0.08, at_least=False),
        "now: share of calls with a picture": Target(0.5, at_least=False),
        "now: most calls of a one-click task": Target(2, at_least=False),
        "now: calls of a loop's item": Target(1, at_least=False),
        "now: shop loop: prefix shared by its items": Target(0.8),
        "now: tasks solved": Target(len([name for name in report.samples if re.match("now: .*: calls$", name)])),
    }
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
