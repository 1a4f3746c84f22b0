"""Rendered prompts for review: `python -m tests.unit.prompts.cases` writes the snapshots anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.agent.models.decisions.step import CallOffer
from shoal.agent.policies.model.requests.shared_frames import Fold
from shoal.agent.types import DialogSeen, Download, Element, LoopItem, Observation, TabInfo
from shoal.prompts import render

SNAPSHOTS = Path(__file__).parent / "snapshots"

PAGE = Observation(
    url="https://shop.example/list?page=2",
    title="Lamps, page 2",
    elements=Element("", "body"),
    tabs=(TabInfo("https://shop.example/", "Shop"), TabInfo("https://shop.example/list?page=2", "Lamps, page 2")),
    active_tab=1,
    focused="12",
    last_error="element 7 is covered by a dialog",
    dialogs=(DialogSeen("alert", "Cookies?", "accepted"),),
    downloads=(Download("list.pdf", "https://shop.example/list.pdf", 1234, text="[page 1]\nLamps"),),
    omitted=40,
)
BLANK = Observation(url="about:blank", title="", elements=Element("", "body"))
TEXT = '[12] textbox "Search"\n[13] button "Go"\nLamp A  19.90 EUR\n[14] link "Lamp A"'
NOW = "Sunday, 2026-11-22 10:30 UTC"

JOB: dict[str, Any] = {
    "goal": "Find every lamp and read its price",
    "data": {"name": "Ada", "password": "secret:SHOP"},
    "extract_goal": "the lamps",
    "schema": {"type": "object", "properties": {"price": {"type": "number"}}},
    "complete_criterion": "the order number is shown",
    "error_codes": {"NO_LAMPS": "the shop sells no lamps"},
    "item": LoopItem(3, "https://shop.example/p/3", is_link=True, label="Lamp C"),
    "tasks": [
        {
            "number": 1,
            "type": "navigate",
            "status": "completed",
            "plan": "Search for lamps",
            "result": None,
            "reason": "",
            "steps": ["on https://shop.example/: fill(value='lamp') on textbox \"Search\" -> done"],
        },
        {
            **{"number": 2, "type": "loop", "status": "completed", "plan": "Read them"},
            **{"result": {"expected": 3, "failures": ["Lamp B: the page is gone"]}, "reason": "done", "steps": []},
        },
    ],
}
BARE: dict[str, Any] = dict.fromkeys(JOB) | {"goal": "Look around", "error_codes": {}, "tasks": []}

STEPS = [
    {
        "number": 1,
        "url": "https://shop.example/",
        "thought": "Search first",
        "results": [
            {"call": "fill(bid='12', value='lamp')", "outcome": "done"},
            {"call": "click(bid='7')", "outcome": "failed: element 7 is covered by a dialog"},
        ],
        "expected": "the page says 'lamps found'",
    }
]
FRAME = ["Menu", *(f'[{n} link "Shelf {n}"]' for n in range(1, 7)), "Delivery in two days"]

FULL_JOB: dict[str, Any] = {
    **JOB,
    "many": True,
    "allow_terminate": True,
    "verification_check": True,
    "action_types": ["CLICK", "INPUT_TEXT", "COMPLETE", "TERMINATE", "CALL"],
    "calls": [CallOffer("hover", "hover(bid)", "moves the pointer onto an element", {"type": "object"})],
    "grounding": "choice",
    "points": None,
}
BARE_JOB: dict[str, Any] = {
    **BARE,
    "many": False,
    "allow_terminate": False,
    "verification_check": False,
    "action_types": ["WAIT", "COMPLETE"],
    "calls": [],
    "grounding": "bid",
    "points": None,
}
FULL_PAGE: dict[str, Any] = {"page": PAGE, "runs": [TEXT], "frame": (), "part": 0, "now": NOW}
BLANK_PAGE: dict[str, Any] = {"page": BLANK, "runs": [""], "frame": (), "part": 0, "now": NOW}
FULL = {**FULL_JOB, **FULL_PAGE}
BARE_SESSION = {**BARE_JOB, **BLANK_PAGE}
PICTURES = ["what the window shows", "the same with the elements' numbers painted in"]

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "step_full": (
        "step",
        {
            **FULL,
            "pictures": PICTURES,
            "mini_goal": "Open the second page of lamps",
            "steps": STEPS,
            "candidates": {"A": 'textbox "Search"', "B": 'button "Go"'},
        },
    ),
    "step_bare": (
        "step",
        {**BARE_SESSION, "pictures": [], "mini_goal": "Look around", "steps": [], "candidates": {}},
    ),
    "step_long": (
        "step",
        {
            **{**BARE_SESSION, "tasks": [{**task, "number": n} for n, task in enumerate(JOB["tasks"], 39)]},
            **{"pictures": [], "mini_goal": "Look around", "candidates": {}},
            "steps": [{**step, "number": n} for n, step in enumerate(STEPS, 30)],
        },
    ),
    "step_points": (
        "step",
        {
            **{**BARE_SESSION, "grounding": "coordinates", "points": "relative"},
            **{"pictures": [], "mini_goal": "Look around", "steps": [], "candidates": {}},
        },
    ),
    "plan_full": (
        "plan",
        {
            **FULL,
            "pictures": PICTURES,
            "task_types": ["navigate", "extract", "loop"],
            "loop_words": "the lamps",
            "records": 2,
            "may_act": False,
        },
    ),
    "plan_bare": (
        "plan",
        {
            **BARE_SESSION,
            "pictures": ["what the window shows"],
            "task_types": ["navigate", "extract"],
            "loop_words": None,
            "records": 0,
            "may_act": True,
        },
    ),
    "extract": (
        "extract",
        {
            **FULL,
            "part": 1,
            "reading": "Read the lamps of this page",
            "structured_data": ["rating: 4.5 (json-ld ratingValue)"],
        },
    ),
    "extract_folded": (
        "extract",
        {**FULL, "frame": FRAME, "runs": [Fold(1, 7), TEXT], "reading": None, "structured_data": []},
    ),
    "extract_item": (
        "extract",
        {**FULL, "item": LoopItem(3, PAGE.url, is_link=True), "reading": None, "structured_data": []},
    ),
    "collect": ("collect", {**FULL, "wanted": "the lamps", "next_words": "the arrow at the end"}),
    "evaluate": (
        "evaluate",
        {
            **JOB,
            "actions": ["click(bid='7') on https://shop.example/: done"],
            "answer": "Lamp A costs 19.90",
            "records": [{"price": 19.9}],
            "url": "https://shop.example/list",
            "text": TEXT,
            "pictures": 2,
            "now": NOW,
        },
    ),
    "criterion": ("criterion", {**FULL, "pictures": PICTURES}),
    "propose": ("propose", {**JOB, "schema": None, "loop": "Open each lamp and read its price"}),
    "glossary": ("glossary", {"schema": JOB["schema"], "fields": ["price"], "labels": 20}),
    "earlier": ("earlier", {"step": 1, "url": "https://shop.example/", "text": TEXT}),
    "doubt": ("doubt", {"problem": "The page does not show it:", "said": "there is no order number"}),
    "again": ("again", {"problem": "no element of this page has that id", "said": "'99'; ids are 1, 2, …"}),
    "again_bare": ("again", {"problem": "it is empty", "said": ""}),
    "value": ("value", {"doubted": [{"target": 'textbox "Name"', "value": "John Doe"}]}),
    "shape": ("shape", {"schema": {"type": "object"}}),
}


def rendered(case: str) -> str:
    name, variables = CASES[case]
    return render(name, **variables) + "\n"


def main() -> None:
    SNAPSHOTS.mkdir(exist_ok=True)
    for case in CASES:
        (SNAPSHOTS / f"{case}.txt").write_text(rendered(case), encoding="utf-8")


if __name__ == "__main__":
    main()
