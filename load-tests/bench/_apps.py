"""Applications from PyPI and npm for `app_calls.py`: installed once, seeded, and served on the loopback address."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import _site  # noqa: F401  (it has the repository's own modules found)

from tests.sites.registry import cache
from tests.sites.registry import serving as sites

RECIPES = {
    "Soup": "Cook the lentils for 40 minutes, then add salt.",
    "Bread": "Bake the loaf for 55 minutes at 220 degrees.",
    "Tea": "Let the leaves stand for 4 minutes.",
}
STUDIES = ("annealing", "baking", "casting")
LEDGER = """option "title" "Club"
option "operating_currency" "EUR"
2024-01-01 open Assets:Bank EUR
2024-01-01 open Expenses:Rent EUR
2024-01-01 open Expenses:Food EUR
2024-01-01 open Income:Fees EUR
2024-01-05 * "Ada" "Yearly fee"
  Assets:Bank  120.00 EUR
  Income:Fees
2024-02-01 * "Hall Ltd" "Rent of February"
  Expenses:Rent  80.00 EUR
  Assets:Bank
2024-02-14 * "Baker" "Cake"
  Expenses:Food  24.50 EUR
  Assets:Bank
"""


def asked(url: str, body: Any = None, method: str = "GET") -> Any:
    """What an application's own interface answers, as JSON; None for an empty answer."""
    headers = {"content-type": "application/json", "x-requested-with": "TiddlyWiki"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=10) as answer:
        said = answer.read()
    return json.loads(said) if said else None


@contextmanager
def tiddlywiki_served(folder: Path) -> Iterator[tuple[str]]:
    """A wiki with three recipes; each change is sent to its server."""
    program = [
        "node",
        str(cache.node("tiddlywiki", ["tiddlywiki@5.4.1"]) / "tiddlywiki" / "tiddlywiki.js"),
        str(folder),
    ]
    sites.run(*program, "--init", "server")
    port = sites.free_port()
    with sites.program(
        [*program, "--listen", f"port={port}", "host=127.0.0.1"], port, cwd=folder, path="/status"
    ) as url:
        for title, text in RECIPES.items():
            asked(f"{url}/recipes/default/tiddlers/{title}", {"title": title, "text": text, "tags": "recipe"}, "PUT")
        yield (url,)


@contextmanager
def optuna_served(folder: Path) -> Iterator[tuple[str]]:
    """A dashboard over three studies without trials."""
    python = cache.pypi("optuna", ["optuna-dashboard==0.21.0"])
    storage, port = f"sqlite:///{folder / 'studies.db'}", sites.free_port()
    sites.run(python, "-c", f"import optuna; optuna.storages.RDBStorage({storage!r})")
    command = [str(python.with_name("optuna-dashboard")), storage]
    with sites.program([*command, "--host", "127.0.0.1", "--port", str(port)], port, cwd=folder) as url:
        for name in STUDIES:
            asked(f"{url}/api/studies", {"study_name": name, "directions": ["minimize"]}, "POST")
        yield (url,)


@contextmanager
def fava_served(folder: Path) -> Iterator[tuple[str, Path]]:
    """The books of a club, and the file that holds them."""
    python = cache.pypi("fava", ["fava==1.30.16"])
    ledger = folder / "club.beancount"
    ledger.write_text(LEDGER, encoding="utf-8")
    port = sites.free_port()
    command = [str(python.with_name("fava")), str(ledger), "--host", "127.0.0.1", "--port", str(port)]
    with sites.program(command, port, cwd=folder, path="/club/") as url:
        yield url, ledger
