"""Fields of a record in short: `"name, price:number, sku?"` instead of a JSON Schema."""

from __future__ import annotations

import re
from typing import Any, Final

_TYPES: Final[dict[str, dict[str, str]]] = {
    "text": {"type": "string"},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "url": {"type": "string", "format": "uri"},
}
_FIELD = re.compile(
    r"(?P<name>[^\s:?,]+)\s*(?P<optional>\?)?\s*(?::\s*(?P<type>\w+)\s*(?P<many>\[\])?)?\s*(?P<late>\?)?"
)


def fields_schema(fields: str) -> dict[str, Any]:
    """The JSON Schema of a record with these fields.

    Args:
        fields: names with commas between them. A type may follow a name: `price:number`. The types are text (where none
            is given), number, integer, boolean, date, datetime and url; `[]` behind a type makes a list of it. A field
            with `?` may be missing; the others are required.

    Raises:
        ValueError: naming the field that cannot be read, and what may stand there.
    """
    properties: dict[str, Any] = {}
    required: list[str] = []
    for part in fields.split(","):
        read = _FIELD.fullmatch(part.strip())
        if read is None:
            raise ValueError(f"{part.strip()!r} is no field: write name, name:type or name?, with commas between them")
        name, kind = read["name"], read["type"] or "text"
        if kind not in _TYPES:
            raise ValueError(f"{name}: there is no type {kind!r}; there are {', '.join(_TYPES)}")
        if name in properties:
            raise ValueError(f"{name} stands there twice")
        properties[name] = {"type": "array", "items": _TYPES[kind]} if read["many"] else dict(_TYPES[kind])
        if not (read["optional"] or read["late"]):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}
