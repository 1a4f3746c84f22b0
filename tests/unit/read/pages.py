"""Pages of these tests: HTML in, what the readers say out."""

from __future__ import annotations

from typing import Any

from shoal.agent.page.from_html import page_from_html
from shoal.agent.read.lists.fields import ListField
from shoal.agent.read.lists.records import ListReading, read_list
from shoal.agent.read.record.record import ReadRecord, read_record
from shoal.agent.read.schema import properties_of

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
LINES = {"type": "array", "items": TEXT}
DAY = {"type": "string", "format": "date"}
ADDRESS = {"type": "string", "format": "uri"}
MINUTES = {"type": "integer", "description": "minutes"}

URL = "https://site.example/pages/1"


def record_of(html: str, /, **fields: Any) -> ReadRecord:
    """The record of a page."""
    page = page_from_html(html.encode(), URL, charset="utf-8")
    return read_record(page, properties_of({"type": "object", "properties": fields}))


def list_of(html: str, /, **fields: Any) -> ListReading:
    """The list of a page."""
    page = page_from_html(html.encode(), URL, charset="utf-8")
    properties = properties_of({"type": "object", "properties": fields})
    return read_list(page, [ListField(prop) for prop in properties])


def rows(reading: ListReading) -> list[dict[str, str]]:
    """The values of a list's records."""
    return [dict(record.values) for record in reading.records]


def table_of(heads: str, *cells: str) -> str:
    """A table with one header row and one row for each text of cells, both with bars between."""
    head = "".join(f"<th>{text}</th>" for text in heads.split("|"))
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row.split("|")) + "</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
