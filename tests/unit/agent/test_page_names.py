"""Scripts for pages ask elements by symbols, which no field and no picture of a page can be called by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.agent.support.page_names import GLOBALS, NAMES, function_by_names, script_by_names


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


@pytest.mark.parametrize(
    "script",
    [
        "self.origin",
        "find('.title, a > .body')",
        "find('ul.body > a.name')",
        'write("<b>a.href.name</b>")',
        "{...children}",
        "rows.idOf(7)",
    ],
)
def test_what_is_no_name_of_an_element_stays(script: str) -> None:
    assert script_by_names(script) == script


AGENT = Path(__file__).parents[3] / "agent"
SCRIPTS = [path for path in AGENT.rglob("*.js") if "rrweb" not in path.name and path.name != "miniwob.js"]
_QUESTION = re.compile(rf"(?<=[\w$)\]}}])\??\.(?:{'|'.join(NAMES)})\b")


def test_what_scripts_keep_in_a_window_is_its_own_from_the_beginning() -> None:
    kept = {
        name for path in AGENT.rglob("*.[jp][sy]") for name in re.findall(r"globalThis\.(shoal\w+)", path.read_text())
    }
    assert kept == {*GLOBALS, "shoalOwn", "shoalRecorded"}, "and a binding of DevTools, which is the window's own, too"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_question_of_a_script_of_ours_is_asked_by_a_symbol(script: Path) -> None:
    """A quote in an expression may be taken for the beginning of a text, and what follows in its line for the text."""
    for line in script.read_text(encoding="utf-8").splitlines():
        code = line.partition("// ")[0]
        sent = script_by_names(code).rpartition("return own;\n})());")[2]
        assert len(_QUESTION.findall(code)) == sent.count("[own$"), line
