"""Tasks on applications for `app_calls.py`, each with its solver, its check and the calls that it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from _apps import STUDIES, asked
from _solver import Move, Prompt, Task, all_of, click, fill

from shoal.agent.support.json_value import Json


def _job(url: str, goal: str, name: str, **more: Json) -> dict[str, Json]:
    return {"url": url, "goal": f"{goal} (task {name})", **more}


# --- Optuna Dashboard -------------------------------------------------------------------------------------

_STUDY = re.compile(r'link "(\d+)\. (\w+) Direction: (\w+)"')


def _studies(prompt: Prompt) -> Json:
    return [{"id": int(n), "name": name, "direction": way.lower()} for n, name, way in _STUDY.findall(prompt.page)]


def optuna(url: str) -> list[Task]:
    """Studies are listed and made."""

    def names() -> list[str]:
        return sorted(one["study_name"] for one in asked(f"{url}/api/studies")["study_summaries"])

    board = f"{url}/dashboard"
    fields = {"id": {"type": "integer"}, "name": {"type": "string"}, "direction": {"type": "string"}}
    schema = {"type": "array", "items": {"type": "object", "required": list(fields), "properties": fields}}
    listed = {(n, name) for n, name in enumerate(STUDIES, 1)}
    return [
        Task(
            "optuna list",
            _job(board, "List all studies", "optuna list", extract={"schema": schema}),
            record=_studies,
            right=lambda told: {(one["id"], one["name"]) for one in told["records"]} == listed,
            perfect=2,
        ),
        Task(
            "optuna create",
            _job(board, "Create a study", "optuna create", data={"study_name": "dyeing"}),
            over=r'link "\d+\. dyeing ',
            moves=(
                Move(
                    r'button "Create"\][\s\S]*="dyeing"|="dyeing"[\s\S]*button "Create"\]',
                    _last_create,
                    _shows("dyeing"),
                ),
                Move("dialog New Study:", all_of(fill("textbox", "Study name", "dyeing")), last=False),
                Move("", all_of(click("button", "^Create$")), last=False),
            ),
            right=lambda told: "dyeing" in names(),
            perfect=3,
        ),
    ]


def _last_create(prompt: Prompt) -> list[dict[str, Json]]:
    return [{"action_type": "CLICK", "id": [one.id for one in prompt.elements if one.name == "Create"][-1]}]


def _shows(name: str) -> dict[str, Json]:
    return {"element": name}


# --- Fava ---------------------------------------------------------------------------------------------------


def _amount(account: str) -> Any:
    def told(prompt: Prompt) -> Json:
        found = re.search(rf'link "{account}"\] ([\d.,]+)', prompt.page)
        assert found is not None, prompt.page[:3000]
        return {"text": f"{account}: {found[1]}", "quotes": [found[1]]}

    return told


def fava(url: str, ledger: Path) -> list[Task]:
    """Questions about the books of a club."""
    return [
        Task(
            "fava food",
            _job(f"{url}/club/income_statement/", "How much was spent on food?", "fava food"),
            answer=_amount("Food"),
            right=lambda told: "24.50" in told["answer"] and "24.50 EUR" in ledger.read_text(encoding="utf-8"),
        ),
        Task(
            "fava bank",
            _job(f"{url}/club/income_statement/", "What is in the bank?", "fava bank"),
            over=r"url: \S*/balance_sheet",
            moves=(Move("", all_of(click("link", "^Balance Sheet$")), {"address": "/balance_sheet"}),),
            answer=_amount("Bank"),
            right=lambda told: "15.50" in told["answer"],
            perfect=2,
        ),
    ]


# --- TiddlyWiki ---------------------------------------------------------------------------------------------


def _minutes(prompt: Prompt) -> Json:
    found = re.search(r"for (\d+ minutes) at", prompt.page)
    assert found is not None, prompt.page[:3000]
    return {"text": found[1], "quotes": [found[1]]}


def tiddlywiki(url: str) -> list[Task]:
    """A recipe is looked up."""

    return [
        Task(
            "tiddlywiki search",
            _job(f"{url}/", "How long does bread bake?", "tiddlywiki search"),
            over="Bake the loaf",
            moves=(
                Move('link "Bread"', all_of(click("link", "^Bread$")), {"text": "Bake the loaf"}),
                Move("", all_of(fill("searchbox", "", "bread")), last=False),
            ),
            answer=_minutes,
            right=lambda told: "55 minutes" in told["answer"],
            perfect=3,
        ),
    ]
