"""TiddlyWiki: a wiki that is one page of scripts; each change is sent to its server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, quoted

from apps.asking import asked, job
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
            asked(f"{url}/recipes/default/tiddlers/{title}", {"title": title, "text": text, "tags": "recipe"}, "PUT")
        yield (url,)


def tasks(url: str) -> list[Task]:
    """A recipe is looked up."""

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
    ]
