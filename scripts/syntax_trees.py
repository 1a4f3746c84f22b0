"""The syntax trees of Python files, each parsed once in a process."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@cache
def nodes_of(path: Path) -> Sequence[ast.AST]:
    """All nodes of a file's tree, breadth first."""
    tree = _tree(path)
    with _no_collection():
        return tuple(ast.walk(tree))


@cache
def statements_of(path: Path) -> Sequence[ast.AST]:
    """A file's module and all that has statements or is one: a tenth of the nodes, and all where imports can be."""
    found: list[ast.AST] = [_tree(path)]
    for node in found:
        for field in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner = getattr(node, field, ())
            found += inner if isinstance(inner, list) else ()
    return tuple(found)


@cache
def _tree(path: Path) -> ast.Module:
    with _no_collection():
        return ast.parse(path.read_text(encoding="utf-8"))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Trees hold no garbage, and a collector that goes through all of them again takes longer than the parser."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
