"""MiniWoB++ beside browsergym-miniwob, step by step: goals, pages, pictures, rewards and ends are the same.

BrowserGym's environment runs in a virtual environment of its own, whose packages come from PyPI. `scripts/test-gym`
runs this.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import shoal.agent.gym  # noqa: F401  # registers the environments
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.gym.miniwob import MiniWob, pages
from tests.integration.browser import miniwob_steps
from tests.sites.registry import cache

_PACKAGES = ("browsergym-core==0.14.3", "browsergym-miniwob==0.14.3")
_OURS_ALONE = {"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"}
"""Tasks of MiniWoB++ that browsergym-miniwob does not have."""
_MOVES = {"click-pie", "drag-cube", "stock-market", "terminal"}
"""Tasks whose pages change by themselves: what they show depends on the moment."""
_READS_VALUES = {"text-editor"}
"""Tasks whose pages act by an attribute that BrowserGym's marking writes into them: in its environment the buttons for
bold, italics and underlining do nothing. Ours leaves the page as it is.
"""
_WRITTEN = "() => document.querySelectorAll('button').forEach(button => button.setAttribute('value', button.value))"
"""Writes into the page what BrowserGym's marking writes into its buttons."""
_AREA = ["#area button, #area input[type=submit], #area [role=button], #area a, #area span, #area *, #area"]

SOLVED: tuple[tuple[str, int, list[Any]], ...] = (
    ("click-test", 1, [["#subbtn"]]),
    ("click-test-2", 7, ["noop(100)", ["#subbtn"]]),
    ("click-test-2", 8, [["#subbtn2"]]),
    ("enter-text", 3, [["#tt"], "keyboard_type('nothing')", ["#subbtn"]]),
    ("click-checkboxes", 5, [["#area input[type=checkbox]"], ["#subbtn"]]),
    ("click-test", 2, ["goto('about:blank')"]),
    ("click-test", 2, ["new_tab()"]),
    ("click-test", 2, ["tab_close()"]),
    ("click-test", 2, ["go_back()"]),
    ("click-test", 2, ["report_infeasible('no')"]),
    ("click-link", 4, [["#area span"]]),
    ("search-engine", 2, [["#search-text"], "keyboard_type('Ann')", ["#search"], ["#page-content a"]]),
    ("login-user", 2, [["#username"], "keyboard_type('a')", ["#subbtn"]]),
)
"""Right answers, wrong ones, and ways to leave the page."""


class Peer:
    """BrowserGym's environments."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def play(self, task: str, seed: int, steps: list[Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"task": task, "seed": seed, "steps": steps}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    python = cache.pypi("browsergym-miniwob", _PACKAGES)
    command = [str(python), str(Path(miniwob_steps.__file__)), str(find_chromium())]
    pipe, address = subprocess.PIPE, f"{pages().as_uri()}/"
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "MINIWOB_URL": address}
    ) as process:
        yield Peer(process)
        assert process.stdin is not None
        process.stdin.close()


def ours(task: str, seed: int, steps: list[Any], written: str = "") -> Any:
    with closing(gymnasium.make(f"shoal/miniwob.{task}-v0")) as env:
        return json.loads(json.dumps(miniwob_steps.play(env, seed, steps, written)))


@pytest.mark.parametrize(("task", "seed", "steps"), SOLVED, ids=lambda part: str(part)[:40])
def test_each_step_gives_what_browsergym_gives(task: str, seed: int, steps: list[Any], peer: Peer) -> None:
    assert ours(task, seed, steps) == peer.play(task, seed, steps)


@pytest.mark.parametrize("task", sorted({*MiniWob.names()} - _OURS_ALONE))
def test_every_task_of_browsergyms_begins_alike_and_takes_a_click_alike(task: str, peer: Peer) -> None:
    theirs = peer.play(task, 11, [_AREA])
    mine = ours(task, 11, [_AREA], _WRITTEN if task in _READS_VALUES else "")
    for step in (*theirs, *mine):
        if task in _MOVES:
            step.pop("page")
    assert mine == theirs
