"""Structured data for a model that reads a page, and values that rules bear out by their knowledge."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.model.reading import field_knowledge, reader
from shoal.agent.policies.model.reading.field_knowledge import DataValue, PageKnowledge
from shoal.agent.policies.policy import Extraction
from shoal.agent.read.grounding.claims import Unproven, unproven
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.spec import ExtractSpec, JobSpec
from tests.doubles import ScriptedModel
from tests.unit.agent.model.pages import URL, FakePage, page, plain, scene_of, text

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "image": {"type": "string", "format": "uri"},
        "rating": {"type": "number"},
        "servings": {"type": "string"},
        "total_time": {"type": "integer", "description": "minutes"},
        "sku": {"type": "string"},
    },
}
DATA = (
    '<h1>Leek soup</h1><script type="application/ld+json">{"@type": "Recipe", "name": "Leek soup",'
    ' "image": "https://shop.example/soup.jpg", "recipeYield": "6 bowls", "totalTime": "PT1H10M",'
    ' "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.7"}}</script>'
)
SOUP = page(text("Leek soup"), text("Ready in 1 hour 10 minutes"), text("und " * 40 + "am 25 novembre"))


async def extracted(reply: dict[str, Any], html: str = DATA) -> tuple[Extraction, list[str]]:
    """Return what is read of the soup, and the last messages that the model was sent."""
    record = dict.fromkeys(SCHEMA["properties"]) | reply  # type: ignore[call-overload]
    model = ScriptedModel([{"thought": "", "shown": None, "records": [record]}] * 2)
    shown = FakePage({URL: SOUP}, html=html)
    state = scene_of(shown, JobSpec(url=URL, extract=ExtractSpec(json_schema=SCHEMA)))
    policy = ModelPolicy(model, None, render=plain)  # type: ignore[arg-type]
    return await policy.extract(state), [ask.messages[-1].text for ask in model.asked]


async def test_the_prompt_has_what_structured_data_state_and_the_page_does_not_show() -> None:
    given = {"name": "Leek soup", "image": "https://shop.example/soup.jpg", "rating": 4.7, "servings": "6 bowls"}
    read, (told,) = await extracted(given | {"total_time": 70})
    between = told.partition("⟦data⟧")[2].partition("⟦/data⟧")[0]
    assert 'image: "https://shop.example/soup.jpg" (json-ld image)' in between
    assert "rating: 4.7 (json-ld ratingValue)" in between
    assert 'servings: "6 bowls" (json-ld recipeYield)' in between
    assert "name" not in between, "the page shows it"
    assert {name: value for name, value in read.records[0].value.items() if value} == given | {"total_time": 70}
    assert read.unproven == ()


async def test_what_neither_the_page_nor_its_data_state_is_left_out() -> None:
    read, told = await extracted({"name": "Leek soup", "rating": 3.2, "sku": "novembre", "total_time": 25})
    assert len(told) == 2, "it was asked for once more"
    assert set(read.unproven) == {"rating", "sku", "total_time"}


async def test_a_page_without_structured_data_adds_nothing_to_the_prompt() -> None:
    _, (told,) = await extracted({"name": "Leek soup"}, html="<h1>Leek soup</h1>")
    assert "structured data" not in told


@pytest.mark.parametrize("written", ["1 hour 10 minutes", "1 h 10 min", "Temps total : 1h10", "70 min"])
def test_an_amount_that_the_code_converts_bears_out_a_number(written: str) -> None:
    known = PageKnowledge(ExtractSpec(json_schema=SCHEMA), PageText([page(text(written))]))
    assert known.states("total_time", 70)
    assert not known.states("total_time", 10)
    assert not known.states("rating", 70), "no unit is asked for"


async def test_values_are_looked_up_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def looked_up(*args: Any) -> list[Unproven]:
        threads.append(threading.current_thread())
        return unproven(*args)

    monkeypatch.setattr(reader, "unproven", looked_up)
    await extracted({"name": "Leek soup", "total_time": 70})
    assert len(threads) == 2, "the reply, then all parts together"
    assert threading.main_thread() not in threads


def test_the_amounts_of_a_page_are_read_once_for_each_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(field_knowledge, "read_quantity", lambda line, unit: asked.append((line, unit)))
    fields = {"total_time": "minutes", "prep_time": "minutes", "weight": "in grams"}
    described = {name: {"type": "integer", "description": said} for name, said in fields.items()}
    shown = PageText([page(*(text(f"Mix {n % 4_000} spoons") for n in range(5_000)))])
    known = PageKnowledge(ExtractSpec(json_schema={"properties": described}), shown)
    for value in range(100):
        assert not any(known.states(name, value) for name in fields)
    assert len(asked) == len(set(asked)) == 3_000 * 2


def test_what_a_prompt_is_told_of_structured_data_is_bounded() -> None:
    extract = ExtractSpec(json_schema={"properties": {f"f{n}": {"type": "string"} for n in range(50)}})
    stated = [DataValue(f"f{n}", f"value {n}", "meta x") for n in range(50)]
    stated[0] = DataValue("f0", "x" * 600, "meta x")
    told = PageKnowledge(extract, PageText([]), stated).prompt_lines()
    assert len(told) == 30
    assert told[0].startswith("f1:")
