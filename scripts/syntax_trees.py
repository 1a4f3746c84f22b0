"""The syntax trees of Python files, each parsed once in a process."""

from __future__ import annotations

import ast
import gc
from collections.abc import Sequence
from functools import cache
from pathlib import Path


@cache
def nodes_of(path: Path) -> Sequence[ast.AST]:
    """All nodes of a file's tree, breadth first.

    Trees hold no garbage, and a collector that goes through all of them again and again takes longer than the parser.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    finally:
        gc.freeze()
        if collects:
            gc.enable()
