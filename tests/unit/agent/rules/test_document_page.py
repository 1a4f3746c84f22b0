"""JSON, CSV and plain text as tables, pairs and lines."""

from __future__ import annotations

import json

import pytest

from shoal.agent.read.drawn.document_page import NamedTable, Pairs, TextLines, is_document, parts_of

JSON = "application/json"


def test_a_list_of_objects_is_a_table_of_all_their_keys() -> None:
    (table,) = parts_of(json.dumps([{"a": 1, "b": {"c": None}}, {"a": 2.5, "d": True}]), JSON, "")
    assert table == NamedTable(("a", "b c", "d"), (("1", "", ""), ("2.5", "", "true")))


def test_rows_whose_columns_are_named_beside_them_are_a_table() -> None:
    text = json.dumps({"columns": ["id", "name"], "rows": [[1, "Nut"], [2, None]], "more": False})
    assert parts_of(text, JSON, "") == [
        Pairs((("columns", "id\nname"), ("more", "false"))),
        NamedTable(("id", "name"), (("1", "Nut"), ("2", ""))),
    ]


def test_an_address_is_drawn_as_a_link_and_all_else_as_text() -> None:
    address = "https://x.example/?a=1"
    assert NamedTable(("<b>", "page"), (("1", address),)).drawn() == [
        [
            "table",
            {},
            ["thead", {}, ["tr", {}, ["th", {}, "<b>"], ["th", {}, "page"]]],
            ["tbody", {}, ["tr", {}, ["td", {}, "1"], ["td", {}, ["a", {"href": address}, address]]]],
        ]
    ]
    assert Pairs((("name", "Nut"),)).drawn() == [["table", {}, ["tr", {}, ["th", {}, "name"], ["td", {}, "Nut"]]]]
    assert TextLines((f"see {address}", "")).drawn() == [["div", {}, f"see {address}"], ["div", {}, ""]]


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "{}"])
def test_json_that_states_nothing_gives_nothing(text: str) -> None:
    assert parts_of(text, JSON, "") == []


def test_csv_is_known_by_its_type_or_its_ending() -> None:
    wanted = [NamedTable(("a", "b"), (("1", "x,y"), ("2", "")))]
    assert parts_of('\ufeffa,b\n1,"x,y"\n2\n', "text/csv", "https://x.example/get") == wanted
    assert parts_of('a\tb\n1\t"x,y"\n2\t\n', "text/plain", "https://x.example/t.tsv?x=1") == wanted
    assert parts_of("one column\nonly\n", "text/csv", "") == []
    assert parts_of("a,b\n", "text/plain", "") == [TextLines(("a,b",))]


def test_only_documents_that_are_no_html_are_drawn() -> None:
    kinds = ("application/json", "application/ld+json; charset=utf-8", "text/plain", "text/csv")
    assert all(map(is_document, kinds))
    assert not any(map(is_document, ("text/html", "application/xhtml+xml", "image/svg+xml", "application/pdf", "")))
