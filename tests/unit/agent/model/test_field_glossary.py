"""A model's answer on what pages may call the fields of a schema: it fits its tokens, and what is unknown is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.models.estimate import estimated_usage
from shoal.agent.policies.model import ModelPolicy
from shoal.agent.policies.model.field_glossary import glossary_from
from shoal.agent.spec import ExtractSpec, JobSpec
from tests.doubles import ScriptedModel
from tests.unit.agent.model.pages import URL, FakePage, plain, scene_of

NUMBER = {"type": "number"}


def entry(field: str, *labels: str, properties: list[str], unit: str = "") -> dict[str, Any]:
    return {"field": field, "labels": list(labels), "properties": properties, "unit": unit}


def test_spaces_around_a_name_are_no_part_of_it() -> None:
    told = entry("cost", "Our  price ", properties=["price ", " price", "cheapness "], unit=" kg ")
    replied = glossary_from({"thought": "", "fields": [told]})
    assert replied.entries == {"cost": {"labels": ["Our price"], "properties": ["price"], "unit": "kilogram"}}
    assert replied.left_out == ("cheapness",)


@pytest.mark.parametrize(("fields", "labels"), [(1, 20), (20, 20), (40, 15), (100, 4)])
async def test_a_reply_on_all_fields_fits_its_tokens(fields: int, labels: int) -> None:
    names = [f"some_field_{n}" for n in range(fields)]
    schema = {"type": "object", "properties": dict.fromkeys(names, NUMBER)}
    model = ScriptedModel([{"thought": "", "fields": [entry(names[0], "Fee", properties=[])]}])
    policy = ModelPolicy(model, None, render=plain)  # type: ignore[arg-type]
    state = scene_of(FakePage({}), JobSpec(url=URL, extract=ExtractSpec(json_schema=schema)))
    await policy.glossary(state, schema)
    (ask,) = model.asked
    assert ask.json_schema is not None
    asked = ask.json_schema["properties"]["fields"]["items"]["properties"]
    most = {name: asked[name]["maxItems"] for name in ("labels", "properties")}
    assert most["labels"] >= labels
    assert f"Give each {most['labels']} labels at most" in "".join(message.text for message in ask.messages)
    full = [
        entry(
            name, *["Datum der Erhebung"] * most["labels"], properties=["dateCreated"] * most["properties"], unit="kg"
        )
        for name in names
    ]
    reply = json.dumps({"thought": "x" * 1_000, "fields": full})
    assert estimated_usage(ask, reply, 0).completion_tokens <= ask.max_tokens
