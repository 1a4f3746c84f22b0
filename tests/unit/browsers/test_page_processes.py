"""Pages that take the machine's memory or time, as processes: which are ended, and which stand back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from shoal.agent.chromium.process.page_processes import PageProcesses
from shoal.agent.chromium.process.process_tree import ProcessTree

MEBIBYTE = 1 << 20
_BROWSER = "import subprocess, sys; [subprocess.Popen(one.split('|')) for one in sys.argv[1:]]; input()"
_QUIET = "import time; time.sleep(60)"
_BUSY = "while True: pass"
_LARGE = "import time; held = bytearray(200 << 20); time.sleep(60)"

Start = Callable[..., psutil.Process]


@pytest.fixture
def browser() -> Iterator[Start]:
    """Starts a process with one below it for each of some programs and flags."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*children: tuple[str, str]) -> psutil.Process:
        below = [f"{sys.executable}|-c|{code}|{flag}" for code, flag in children]
        started.append(subprocess.Popen([sys.executable, "-c", _BROWSER, *below], stdin=subprocess.PIPE))
        process = psutil.Process(started[-1].pid)
        wait_until(lambda: len(process.children()) == len(children))
        return process

    yield start
    for one in started:
        if one.poll() is None:
            for process in psutil.Process(one.pid).children(recursive=True):
                process.kill()
            one.kill()
        one.communicate()


def wait_until(met: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not met():
        assert time.monotonic() < ends
        time.sleep(0.02)


def wait_until_still(process: psutil.Process) -> None:
    """Waits until a program that was started has come to its wait: a while passes in which it takes no time."""
    used: list[float] = []
    wait_until(lambda: used.append(sum(process.cpu_times()[:2])) or used[-25:] == [used[-1]] * 25)  # type: ignore[func-returns-value]


def child(root: psutil.Process, code: str) -> psutil.Process:
    return next(one for one in root.children() if code in one.cmdline())


def test_a_page_that_holds_too_much_memory_is_ended_and_nothing_else(browser: Start) -> None:
    root = browser((_LARGE, "--type=renderer"), (_QUIET, "--type=renderer"), (_LARGE, "--type=gpu-process"))
    wait_until(lambda: sum(one.memory_info().rss > 200 * MEBIBYTE for one in root.children()) == 2)
    pages = PageProcesses(ProcessTree(root))
    assert pages.look(500 * MEBIBYTE, 0) == 0
    assert pages.look(100 * MEBIBYTE, 1) == 1
    wait_until(lambda: sum(one.status() != psutil.STATUS_ZOMBIE for one in root.children()) == 2)
    left = [one.cmdline() for one in root.children() if one.status() != psutil.STATUS_ZOMBIE]
    assert {line[-1] for line in left} == {"--type=renderer", "--type=gpu-process"}
    assert pages.look(100 * MEBIBYTE, 2) == 0


def test_a_page_that_computes_without_a_pause_stands_back_once(browser: Start) -> None:
    root = browser((_BUSY, "--type=renderer"), (_QUIET, "--type=renderer"), (_BUSY, "--type=gpu-process"))
    pages = PageProcesses(ProcessTree(root))
    busy, quiet = child(root, _BUSY), child(root, _QUIET)
    wait_until_still(quiet)
    before = busy.nice()
    pages.look(1 << 40, 0.0)
    for n in range(1, 6):  # each look finds more CPU time than there was time on this clock
        spent = sum(busy.cpu_times()[:2])
        wait_until(lambda spent=spent: sum(busy.cpu_times()[:2]) > spent + 0.05)  # type: ignore[misc]
        pages.look(1 << 40, n * 0.01)
        assert busy.nice() == (before if n < 2 else min(19, before + 10))
    assert quiet.nice() == before
    others = [one.nice() for one in root.children() if "--type=gpu-process" in one.cmdline()]
    assert others == [before]


def test_a_browser_that_is_gone_has_no_pages(browser: Start) -> None:
    root = browser((_QUIET, "--type=renderer"))
    pages = PageProcesses(ProcessTree(root))
    pages.look(1, 0)
    (below,) = root.children()
    root.kill()
    below.kill()
    wait_until(lambda: root.status() == psutil.STATUS_ZOMBIE)
    assert pages.look(1, 1) == 0
