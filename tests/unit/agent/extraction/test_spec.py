"""Places in a job spec, and the refusals of those that do not go together."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from shoal.agent.spec import ExtractSpec, JobSpec

RECORD = {"type": "object", "properties": {"price": {"type": "number"}}}
LIST = {"type": "array", "items": RECORD}


def test_fields_without_a_schema_are_the_record() -> None:
    fields = {"price": {"select": ".p", "reader": "price"}, "tags": {"select": "li", "all": True}, "x": {"label": "X"}}
    extract = ExtractSpec.model_validate({"fields": fields})
    assert extract.json_schema == {
        "type": "object",
        "properties": {
            "price": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "x": {"type": "string"},
        },
        "required": ["price", "tags", "x"],
    }
    assert ExtractSpec.model_validate({"fields": fields, "records": "li"}).many


def test_a_job_with_places_comes_back_from_the_store_as_it_was() -> None:
    job = JobSpec.model_validate(
        {"url": "http://a.example/", "extract": {"fields": {"x": {"json": "$.a"}}, "records": "$.items[*]"}}
    )
    assert JobSpec.model_validate_json(job.model_dump_json(by_alias=True)) == job


@pytest.mark.parametrize(
    ("extract", "told"),
    [
        ({"fields": {"price": {}}}, "says no place: give exactly one of `select`, `label`, `column` and `json`"),
        ({"fields": {"price": {"select": "a", "label": "b"}}}, "has select and label"),
        ({"fields": {"price": {"label": "b", "all": True}}}, "`all` goes with `select` only"),
        ({"fields": {"price": {"column": "b", "attribute": "href"}}}, "`attribute` goes with `select` only"),
        ({"fields": {"price": {"json": "offers.price"}}}, "`json` is no JSONPath"),
        ({"fields": {"prise": {"label": "b"}}, "schema": RECORD}, "`fields.prise` is no property of `schema`"),
        ({"fields": {"price": {"select": "b"}}, "schema": LIST}, "give `records`"),
        ({"schema": RECORD, "records": "tr"}, "`records` is for a list"),
        ({"schema": RECORD, "next": "Next"}, "`next` is for a list"),
        ({"schema": LIST, "records": "tr", "fields": {"price": {"json": "$.a"}}}, "give `records` as a JSONPath"),
        ({"schema": LIST, "records": "$.a[*]", "fields": {"price": {"label": "a"}}}, "must be a `json` path"),
        ({"schema": LIST, "records": "$["}, "is no JSONPath"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_to_do(extract: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ExtractSpec.model_validate(extract)
    assert told in str(refused.value)
