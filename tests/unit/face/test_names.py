"""`import shoal`: quick, complete for type checkers, and the same for both clients."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import shoal
from shoal.client import AsyncClient
from shoal.page import Page, SyncPage, open_page, open_page_sync
from shoal.schedules import Schedules
from shoal.sync import Client, SyncSchedules

ROOT = Path(__file__).resolve().parents[3]


def test_every_public_name_is_there_and_typed() -> None:
    assert all(getattr(shoal, name) is not None for name in shoal.__all__)
    tree = ast.parse(Path(str(shoal.__file__)).read_text())
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = {
        (node.module, one.asname) for node in typed.body if isinstance(node, ast.ImportFrom) for one in node.names
    }
    assert imports == {(module, name) for module, names in shoal.PLACES.items() for name in names}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(shoal, "nothing")


def test_importing_shoal_loads_nothing_else() -> None:
    look = "import sys; before = set(sys.modules); import shoal; print(*(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.partition(".")[0] for name in said.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"shoal"}


def test_both_clients_and_both_pages_have_the_same_methods() -> None:
    for one, other in ((AsyncClient, Client), (Page, SyncPage), (Schedules, SyncSchedules)):
        names = {name for name in vars(one) if not name.startswith("_")} - {"over"}
        assert names == {name for name in vars(other) if not name.startswith("_")} - {"status"}
        for name in names:
            first, second = getattr(one, name), getattr(other, name)
            if inspect.isfunction(first):
                assert inspect.signature(first).parameters == inspect.signature(second).parameters, name
    assert inspect.signature(open_page).parameters == inspect.signature(open_page_sync).parameters
