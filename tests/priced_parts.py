"""A list of parts with their prices, and the schema of its records."""

from __future__ import annotations

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
        "required": ["name", "price"],
    },
}
PARTS = [(f"Part {n:02}", float(n % 3) + 0.5) for n in range(1, 58)]


def parts_table(rows: list[tuple[str, float]], attributes: str = "") -> str:
    """A table of parts; `attributes` are those of its element."""
    body = "".join(f"<tr><td>{name}</td><td>€ {price:.2f}</td></tr>" for name, price in rows)
    return f"<table {attributes}><thead><tr><th>Name</th><th>Price</th></tr></thead><tbody>{body}</tbody></table>"
