"""Fields in short, as a JSON Schema."""

from __future__ import annotations

import pytest

import shoal


def test_names_types_and_what_may_be_missing() -> None:
    assert shoal.fields_schema("name, price:number, sku?, images:url[], made:date?") == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "price": {"type": "number"},
            "sku": {"type": "string"},
            "images": {"type": "array", "items": {"type": "string", "format": "uri"}},
            "made": {"type": "string", "format": "date"},
        },
        "required": ["name", "price", "images"],
    }


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("name, price:money", "price: there is no type 'money'; there are text, string, number"),
        ("name,, price", "'' is no field"),
        ("name price", "'name price' is no field"),
        ("name, name?", "name stands there twice"),
    ],
)
def test_what_cannot_be_read_is_named(fields: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        shoal.fields_schema(fields)
    assert told in str(refused.value)
