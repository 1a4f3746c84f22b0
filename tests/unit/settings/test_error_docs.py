"""docs/errors.md is made from the classes of errors, and is current."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts.syntax_trees import nodes_of
from shoal.agent import errors
from shoal.agent.error_advice import ADVICE
from shoal.agent.errors import AgentError
from shoal.services.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
CLASSES = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, AgentError)]
REPORTS = ROOT / "services" / "evaluation"
"""The errors of an evaluation's own report: no session ends by them."""


def test_every_error_of_a_session_says_what_it_means_and_what_to_do() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    assert len(CLASSES) > 30
    for one in CLASSES:
        if one is not AgentError:
            assert one.__doc__ and ADVICE[one].endswith("."), one
            assert f"| `{one.__name__}` |" in text, one


def test_every_setting_that_an_advice_names_exists() -> None:
    known = {f"SHOAL_{name.upper()}" for name in Settings.model_fields}
    named = {name for advice in ADVICE.values() for name in re.findall(r"SHOAL_\w+", advice)}
    assert named and named <= known, named - known


@pytest.mark.parametrize("folder", ["agent", "services", "shoal"])
def test_every_error_that_is_told_has_a_class(folder: str) -> None:
    """An error that is written out has a code that docs/errors.md does not know."""
    written = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / folder).rglob("*.py")
        if REPORTS not in path.parents
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "ErrorInfo"
        and any(isinstance(given, ast.Constant) for given in node.args)
    ]
    assert written == []
