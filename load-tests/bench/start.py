"""Seconds, CPU and memory of `shoal up` until it is ready, its CPU while nothing is asked of it, and its commands.

CPU and memory are those of all processes of the tree, by kind; memory is PSS, so that what processes share counts once.

    python load-tests/bench/start.py [--commands PATH ...] [--rounds 3] [--idle-s 30] [--quick] [--json]

`--commands` names the `shoal` of several installations, which are measured in turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from _processes import TreeCpu, kind_of
from _report import Report, Target, arguments

_SETTLES_S = 10.0
"""Seconds after which nothing of the start goes on."""
READY, CPU, MEMORY, IDLE = "ready, s of wall time", "ready, s of CPU", "idle, MiB", "idle, % of a core"
HELP, LIST = "shoal --help, s of CPU", "shoal jobs, s of CPU"
TARGETS = {READY: 6.0, CPU: 10.0, MEMORY: 400.0, HELP: 0.3, LIST: 0.3}


def memory_mib(owner: psutil.Process) -> Counter[str]:
    """MiB of the tree below `owner`, by kind of process."""
    found = Counter[str]()
    for process in (owner, *owner.children(recursive=True)):
        found[kind_of(process)] += process.memory_full_info().pss / 2**20  # type: ignore[assignment]
    return found


def command_s(command: str, given: list[str], variables: dict[str, str]) -> float:
    """CPU seconds of one command."""
    with subprocess.Popen([command, *given], env=variables, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, given
    return usage.ru_utime + usage.ru_stime


def one_round(command: str, idle_s: float, label: str, report: Report) -> None:
    """One cluster from its start to its end."""

    def add(figure: str, by_kind: Counter[str], share: float = 1.0) -> None:
        for kind, value in by_kind.most_common():
            report.add(f"{label}{figure}: {kind}", share * value)
        report.add(f"{label}{figure}", share * sum(by_kind.values()))

    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as data:
        variables = {**os.environ, "SHOAL_DATA_DIR": data, "SHOAL_LOG_LEVEL": "error"}
        report.add(f"{label}{HELP}", command_s(command, ["--help"], variables))
        began_s = time.monotonic()
        given = [command, "up", "--port", "0", "--json"]
        # Elsewhere than in a checkout: Python looks for modules where it is started.
        with subprocess.Popen(given, env=variables, stdout=subprocess.PIPE, cwd=data) as up:
            assert up.stdout is not None
            with TreeCpu(up.pid) as starting:
                ready = json.loads(up.stdout.readline())
                report.add(f"{label}{READY}", time.monotonic() - began_s)
            add(CPU, starting.by_kind)
            report.add(f"{label}{LIST}", command_s(command, ["jobs", "--gateway", ready["url"]], variables))
            time.sleep(_SETTLES_S)
            with TreeCpu(up.pid) as idle:
                time.sleep(idle_s)
            add(IDLE, idle.by_kind, 100 / idle_s)
            add(MEMORY, memory_mib(psutil.Process(up.pid)))
            up.terminate()


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--commands", nargs="+", default=[str(Path(sys.executable).with_name("shoal"))])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idle-s", type=float, default=30.0)
    options = parser.parse_args()
    report = Report("start")
    for n in range(1 if options.quick else options.rounds):
        for command in options.commands[:: -1 if n % 2 else 1]:
            label = f"{command}: " if len(options.commands) > 1 else ""
            report.targets |= {label + figure: Target(bound, at_least=False) for figure, bound in TARGETS.items()}
            one_round(command, options.idle_s, label, report)
    report.show(as_json=options.json)


if __name__ == "__main__":
    main()
