"""TiddlyWiki: a wiki that is one page of scripts; each change is sent to its server."""

from __future__ import annotations

import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, of, quoted

from apps.asking import call_api, job
from shoal.agent.support.json_value import Json
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_RECIPES = {
    "Soup": "Cook the lentils for 40 minutes, then add salt.",
    "Bread": "Bake the loaf for 55 minutes at 220 degrees.",
    "Tea": "Let the leaves stand for 4 minutes.",
}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str]]:
    """A wiki with three recipes."""
    program = [
        "node",
        str(cache.node("tiddlywiki", ["tiddlywiki@5.4.1"]) / "tiddlywiki" / "tiddlywiki.js"),
        str(folder),
    ]
    sites.run(*program, "--init", "server")
    port = sites.free_port()
    command = [*program, "--listen", f"port={port}", "host=127.0.0.1"]
    with sites.program(command, port, cwd=folder, path="/status") as url:
        for title, text in _RECIPES.items():
            call_api(f"{url}/recipes/default/tiddlers/{title}", {"title": title, "text": text, "tags": "recipe"}, "PUT")
        yield (url,)


def tasks(url: str) -> list[Task]:
    """A recipe is looked up, and one is written."""

    def text_of(title: str) -> str:
        try:
            return str(call_api(f"{url}/recipes/default/tiddlers/{title}")["text"])
        except urllib.error.HTTPError:
            return ""

    write = all_of(
        fill("textbox", "", "Plum cake"),
        fill("textbox", "Type the text", "Plums and dough."),
        click("button", "Confirm changes"),
    )
    cake: dict[str, Json] = {"title": "Plum cake", "text": "Plums and dough."}
    return [
        Task(
            "tiddlywiki search",
            job(f"{url}/", "How long does bread bake?", "tiddlywiki search"),
            over="Bake the loaf",
            moves=(
                Move('link "Bread"', all_of(click("link", "^Bread$")), {"text": "Bake the loaf"}),
                Move("", all_of(fill("searchbox", "", "bread")), last=False),
            ),
            answer=quoted(r"for (\d+ minutes) at"),
            right=lambda told: "55 minutes" in told["answer"],
            perfect=3,
        ),
        Task(
            "tiddlywiki write",
            job(f"{url}/", "Write a tiddler", "tiddlywiki write", data=cake),
            over="# Plum cake",
            moves=(
                Move("region Editor:", write, {"text": "Plums and dough."}),
                Move("", all_of(click("button", "^new tiddler$")), last=False),
            ),
            right=lambda told: text_of("Plum%20cake") == "Plums and dough.",
            perfect=2,
        ),
        Task(
            "tiddlywiki rename",
            job(f"{url}/#Tea", "Give the tiddler Tea this title", "tiddlywiki rename", data={"title": "Green tea"}),
            over="# Green tea",
            moves=(
                Move(
                    "region Editor:",
                    all_of(fill("textbox", "", "Green tea"), click("button", "Confirm changes")),
                    {"text": "Green tea"},
                ),
                Move("", all_of(of("^Tea$", click("button", "(?i)^edit"))), last=False),
            ),
            right=lambda told: bool(text_of("Green%20tea")) and not text_of("Tea"),
            perfect=2,
        ),
        Task(
            "tiddlywiki delete",
            job(f"{url}/#Soup", "Delete the tiddler Soup", "tiddlywiki delete"),
            over="confirm, accepted",
            moves=(
                Move("region Editor:", all_of(click("button", "(?i)^delete")), {"acted": True}),
                Move("", all_of(of("^Soup$", click("button", "(?i)^edit"))), last=False),
            ),
            right=lambda told: not text_of("Soup"),
            perfect=2,
        ),
    ]
