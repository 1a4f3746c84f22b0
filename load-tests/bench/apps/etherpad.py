"""Etherpad: texts that several people write at once."""

from __future__ import annotations

import json
import shutil
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _solver import Move, Task, all_of, click, keys, quoted, typed

from apps.asking import job
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_KEY = "of-a-test"
PADS = {"menu": "Soup\nBread\nTea", "minutes": "Present: Ada, Ben\nThe hall is booked for 14 May."}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """Two pads."""
    program = cache.made("made-etherpad-1.8.14", _install) / "src" / "node" / "server.js"
    port = sites.free_port()
    settings = {
        **{"ip": "127.0.0.1", "port": port, "skinName": "colibris", "defaultPadText": "", "minify": False},
        **{"dbType": "dirty", "dbSettings": {"filename": str(folder / "pads.db")}},
    }
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "APIKEY.txt").write_text(_KEY, encoding="utf-8")
    command = ["node", str(program)]
    for name, file in (("settings", "settings.json"), ("apikey", "APIKEY.txt"), ("sessionkey", "SESSIONKEY.txt")):
        command += [f"--{name}", str(folder / file)]
    with sites.program(command, port, cwd=folder) as url:
        for pad, text in PADS.items():
            called(url, "createPad", padID=pad, text=text)
        yield (url,)


def _install(folder: Path) -> None:
    """Lays the program out as its archive does: a folder `src` with its modules, and a way back to it."""
    modules = cache.node("etherpad", ["ep_etherpad-lite@1.8.14"])
    shutil.copytree(modules / "ep_etherpad-lite", folder / "src")
    own = shutil.ignore_patterns("ep_etherpad-lite")
    shutil.copytree(modules, folder / "src" / "node_modules", symlinks=True, ignore=own)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "ep_etherpad-lite").symlink_to("../src")


def called(url: str, function: str, **parameters: str) -> Any:
    """Return what a function of its interface gives."""
    query = urllib.parse.urlencode({"apikey": _KEY, **parameters})
    with urllib.request.urlopen(f"{url}/api/1.2.15/{function}?{query}", timeout=10) as answer:
        return json.load(answer)["data"]


def tasks(url: str) -> list[Task]:
    """Texts are read, gone on with, and given looks."""

    def text_of(pad: str) -> str:
        return str(called(url, "getText", padID=pad)["text"])

    editor = click("textbox", "")
    more = all_of(editor, keys("Control+End"), keys("Enter"), typed("Plum cake"))
    return [
        Task(
            "etherpad read",
            job(f"{url}/p/minutes", "For which day is the hall booked?", "etherpad read"),
            answer=quoted(r"booked for (\d+ \w+)"),
            right=lambda told: "14 May" in told["answer"],
        ),
        Task(
            "etherpad write",
            job(f"{url}/p/menu", "Write this as the last line", "etherpad write", data={"line": "Plum cake"}),
            over="Plum cake",
            moves=(Move("Soup", more, {"acted": True}),),
            right=lambda told: text_of("menu").split() == ["Soup", "Bread", "Tea", "Plum", "cake"],
        ),
        Task(
            "etherpad bold",
            job(f"{url}/p/minutes", "Make the whole text bold", "etherpad bold"),
            over="navigate, completed",
            moves=(Move("Present", all_of(editor, keys("Control+a"), click("button", "^Bold")), {"acted": True}),),
            right=lambda told: called(url, "getHTML", padID="minutes")["html"].count("<strong>") == 2,
        ),
        Task(
            "etherpad settings",
            job(f"{url}/p/menu", "Have the line numbers left out in this view", "etherpad settings"),
            over="navigate, completed",
            moves=(
                Move('checkbox "Line numbers" checked', all_of(click("checkbox", "^Line numbers$")), {"acted": True}),
                Move("", all_of(click("button|link", "(?i)settings")), last=False),
            ),
            perfect=2,
        ),
    ]
