"""The one name for a value that JSON can express, and the values that a text spells out.

Where the shape is known, a typed record says more than `Json`.
"""

import json
from typing import Any

Json = Any
"""None, bool, int, float, str, or a list or dict (with string keys) of such values."""


def row_of(text: str) -> Json:
    """The object or list that a text spells out; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        row = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return row if isinstance(row, dict | list) else None


def merged(data: Json, row: Json) -> dict[str, Json]:
    """The parts of `data`, and over them those of `row`; a value that is no object has none."""
    return {name: part for given in (data, row) if isinstance(given, dict) for name, part in given.items()}
