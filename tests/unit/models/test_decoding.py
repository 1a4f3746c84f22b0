"""The schema that decoders are sent for a caller's one, and the values that come back."""

from __future__ import annotations

from shoal.agent.models.decoding import nullable, without_unknown

MAKER = {"type": "object", "properties": {"name": {"type": "string"}}}


def test_a_reference_that_leads_nowhere_raises_nothing_here() -> None:
    schema = {"type": "object", "properties": {"maker": {"$ref": "#/$defs/maker"}, "n": {"type": "integer"}}}
    assert without_unknown({"maker": None, "n": None}, schema) == {"maker": None}


def test_null_goes_where_the_schema_does_not_allow_it() -> None:
    schema = {"type": "object", "properties": {"maker": {"$ref": "#/$defs/maker"}}, "$defs": {"maker": MAKER}}
    assert without_unknown({"maker": None}, schema) == {}
    assert without_unknown({"maker": {"name": None}}, schema) == {"maker": {}}


def test_what_back_ends_refuse_is_not_sent() -> None:
    sent = nullable(
        {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string", "maxLength": 3}},
                "price": {"type": "number", "multipleOf": 0.01, "minimum": 0},
                "day": {"type": "string", "format": "date"},
            },
        }
    )
    assert not {"uniqueItems", "maxLength", "multipleOf", "format"} & set(_keys(sent))
    assert "minimum" in set(_keys(sent))


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for part in value.values() for key in _keys(part))]
    if isinstance(value, list):
        return [key for part in value for key in _keys(part)]
    return []
