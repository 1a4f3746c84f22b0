"""Writes docs/actions.md from the primitives; with --check, the exit code says whether it is current (1: no)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.generated import deliver
from shoal.agent.actions import ACTION_SETS, DEFAULT_SETS, PRIMITIVES, Primitive
from shoal.agent.actions.dialects.expressible import Expressed, table
from shoal.agent.actions.dialects.notations import DIALECTS

HEAD = """# Actions

Every action is one Python function (`agent/actions/primitives`). Its signature is the JSON Schema that a model is held
to, its docstring what the model reads, its examples are checked. `shoal actions [--json]` prints the same list with the
schemas; `shoal act URL "click('12')"` takes actions from the command line, in any notation by `--dialect`
(`shoal observe --format choices` prints the letters of SeeAct's); `--downloads FOLDER` keeps the files that the page
gives.

This page is written by `scripts/action-docs` from those functions.

An element is named by its `bid`, which an observation gives: digits, with a letter in front for each frame around it
(`12`, `a46`, `ab7`). It stays the same for the life of the page; an element that a framework rendered anew is found
again where only one looks like it. A failed action raises a typed error, which the next observation tells; of them only
`help_missing`, where a `human` action gets no answer, ends the session. A click that may have reached the page is never
repeated. Where another control or a dialog lies over an element, nothing is clicked and the action fails; where the
click hit something else, it says what, and fails.

Each action has a time limit, and afterwards says what changed: the address, a new tab, a dialog, a download, fields
that are marked as wrong now, what a field now holds, and what other fields hold that the page filled in. It says which
elements and texts appeared or went: how many, and the first five by name. In a frame with more than 3,000 controls or
texts this is not told. Where nothing changed it says so, after a wait of 0.3 s, but not beside a canvas, nor while a
server is waited for. Scrolling a part of the page counts as a change. A fill types key by key where the field listens
for keys or suggests values, and waits up to 0.5 s for the list; each choice in it has an id.
"""

NOTATIONS = {
    "browsergym": (
        "BrowserGym's calls in Python syntax, one or several, on one line or in fenced blocks; its names of arguments "
        "are understood as well"
    ),
    "webvoyager": "WebVoyager's `Thought: … Action: …`",
    "seeact": "SeeAct's ELEMENT / ACTION / VALUE lines with lettered elements",
    "stepjson": "the step reply of Shoal's own prompts: JSON with an `action_type`",
    "webaction": "webActions of visual workflows: elements by selector or label",
    "automa": "Automa-style workflow blocks, in one straight line",
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *groups(), *sets(), *notations()])


def groups() -> Iterable[str]:
    """The primitives, group by group."""
    for group, members in itertools.groupby(PRIMITIVES, key=lambda primitive: primitive.group):
        yield f"## {group}\n\n| call | what it does |\n| --- | --- |"
        yield from (f"| `{primitive.signature}` | {meaning(primitive)} |" for primitive in members)
        yield ""


def meaning(primitive: Primitive) -> str:
    """The docstring on one line."""
    return cell(" ".join(primitive.text.split())) + (
        " Off unless the operator turns it on." if primitive.unsafe else ""
    )


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def sets() -> Iterable[str]:
    """The named subsets."""
    yield "## Sets\n\nA job names the sets that it may use (`action_sets`); only they are in its prompts and schemas."
    yield f"Without a word: {', '.join(f'`{name}`' for name in DEFAULT_SETS)}.\n\n| set | actions |\n| --- | --- |"
    for name, members in ACTION_SETS.items():
        listed = "everything but what is unsafe" if name == "all" else ", ".join(f"`{member}`" for member in members)
        yield f"| `{name}` | {listed} |"
    yield ""


def notations() -> Iterable[str]:
    """Which notation can say what."""
    yield "## Notations\n\n| notation | |\n| --- | --- |"
    yield from (f"| `{name}` | {text} |" for name, text in NOTATIONS.items())
    yield (
        "\nWhat each can express, found by writing the examples of each primitive in it and reading them back: `yes`"
        "\nfor all of them, else those that came back the same.\n"
    )
    yield f"| action | {' | '.join(DIALECTS)} |\n| --- |{' --- |' * len(DIALECTS)}"
    for name, row in table().items():
        yield f"| `{name}` | {' | '.join(calls_text(row[dialect]) for dialect in DIALECTS)} |"
    yield ""


def calls_text(action: Expressed) -> str:
    if action.whole:
        return "yes"
    return ", ".join(f"`{cell('; '.join(call.splitlines()))}`" for call in action.calls) or "–"


if __name__ == "__main__":
    sys.exit(deliver("docs/actions.md", page()))
