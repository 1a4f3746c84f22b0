"""Scripts for pages ask elements by symbols, which no field and no picture of a page can be called by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.agent.support.page_names import function_by_names, script_by_names


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("node.children", "node[own$children]"),
        ("a?.parentNode?.id", "a?.[own$parentNode]?.[own$id]"),
        ("all[0].closest('a').href", "all[0][own$closest]('a')[own$href]"),
        ("[...node.children]", "[...node[own$children]]"),
        ("`${a.id}.b`", "`${a[own$id]}.b`"),
        ("t1.remove()", "t1[own$remove]()"),
    ],
)
def test_names_are_asked_by_symbols(written: str, sent: str) -> None:
    assert sent in script_by_names(written)
    assert f"({sent}\n)" in function_by_names(written)


@pytest.mark.parametrize("script", ["self.origin", "find('.title, a > .body')", "{...children}", "rows.idOf(7)"])
def test_what_is_no_name_of_an_element_stays(script: str) -> None:
    assert script_by_names(script) == script


AGENT = Path(__file__).parents[3] / "agent"
SCRIPTS = [path for path in AGENT.rglob("*.js") if "rrweb" not in path.name and path.parent.name != "gym"]
_QUOTED = re.compile(r"'[\w\s.#>:\[\]=*^~-]{1,200}'")
"""A text in quotes, selectors among them."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_text_in_a_script_of_ours_looks_like_such_a_question(script: Path) -> None:
    for line in script.read_text(encoding="utf-8").splitlines():
        for quoted in _QUOTED.findall(line.partition("// ")[0]):
            assert script_by_names(quoted) == quoted, line
