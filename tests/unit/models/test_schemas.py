"""Every schema that is sent holds to the keywords that both of vLLM's back ends take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shoal.agent.evaluate import evaluation_schema
from shoal.agent.models.decisions.extract import extract_schema, proposal_schema
from shoal.agent.models.decisions.plan import PlanShape, criterion_schema, plan_schema
from shoal.agent.models.decisions.step import StepShape, step_schema
from shoal.agent.policies.model.checks.calls import call_offers
from shoal.agent.policies.model.reading.collecting import collect_schema
from shoal.agent.spec import ExtractSpec, JobSpec

TAKEN = {"type", "enum", "const", "required", "properties", "additionalProperties", "items", "anyOf", "$ref", "$defs"}
TAKEN |= {"pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
"""xgrammar refuses multipleOf, uniqueItems and most formats; with lengths it lets raw control characters through."""

EVERYTHING = JobSpec(url="https://x.example/", goal="g")  # type: ignore[arg-type]
WILD = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string", "format": "uri", "maxLength": 9}},
        "price": {"type": "number", "multipleOf": 0.01, "title": "Price", "default": 0},
        "any": {"not": {"type": "string"}},
        "one": {"oneOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]},
    },
    "patternProperties": {"^x": {}},
    "dependentRequired": {"price": ["tags"]},
}
SCHEMAS: dict[str, Any] = {
    "step": step_schema(StepShape(("1", "2"), error_codes=("A",), verification_check=True)),
    "step with calls": step_schema(StepShape(("1",), calls=tuple(call_offers(EVERYTHING)))),
    "plan": plan_schema(PlanShape(error_codes=("A",))),
    "collect": collect_schema(("1", "2")),
    "extract": extract_schema(ExtractSpec.model_validate({"schema": WILD})),
    "extract a list": extract_schema(ExtractSpec.model_validate({"schema": {"type": "array", "items": WILD}})),
    "extract in words": extract_schema(ExtractSpec(goal="the prices")),
    "evaluation": evaluation_schema(),
    "criterion": criterion_schema(),
    "proposal": proposal_schema(),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_keyword_is_sent_that_a_back_end_refuses(name: str) -> None:
    assert set(_keywords(SCHEMAS[name])) <= TAKEN


@pytest.mark.parametrize("name", SCHEMAS)
def test_replies_have_no_fields_of_their_own(name: str) -> None:
    """Unless a caller's own schema leaves a value open, everything that may be written is said."""
    for schema in _schemas(SCHEMAS[name]):
        if "properties" in schema:
            assert schema["additionalProperties"] is False
            assert set(schema.get("required", ())) <= set(schema["properties"])


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and those in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs"):
        for part in schema.get(name, {}).values():
            yield from _schemas(part)
    for part in schema.get("anyOf", ()):
        yield from _schemas(part)
    for name in ("items", "additionalProperties"):
        yield from _schemas(schema.get(name))


def _keywords(schema: Any) -> Iterator[str]:
    for one in _schemas(schema):
        yield from one
