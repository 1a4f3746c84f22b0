"""Paths in JSON that strangers wrote: followed within bounds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from shoal.agent.support.json_paths import JsonPathFault, path_fault, values_at


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("$.offers.price", [3]),
        ("$..a", [1, 2]),
        ("$.offers.list[?@.a == 2].a", [2]),
        ("$.offers.list[-1].a", [2]),
        ("$['offers']['price']", [3]),
        ("$.none", []),
    ],
)
def test_a_path_gives_its_values(path: str, values: list[Any]) -> None:
    document = {"offers": {"price": 3, "list": [{"a": 1}, {"a": 2}]}}
    assert [value for _, value in values_at(path, document)] == values


@pytest.mark.parametrize(
    "path",
    ["offers", "$..", "$.a[?match(@.b, 'x.*')]", "$.a[?search(@.b, 'x')]", "$[?$..a]", "$[?@..a]", "$" + ".a" * 300],
)
def test_a_path_that_is_none_or_could_run_for_long_is_refused(path: str) -> None:
    assert path_fault(path) is not None


def test_a_sign_in_a_text_is_no_search() -> None:
    assert values_at("$[?@.a == 'x, $ * ?'].b", [{"a": "x, $ * ?", "b": 1}]) == [("$[0]['b']", 1)]


@pytest.mark.parametrize("path", ["$" + "[*,*]" * 12 + ".x", "$" + "[*,*]" * 12, "$..[*]..[*]..[*]"])
def test_a_path_that_multiplies_is_stopped(path: str) -> None:
    document: Any = 1
    for _ in range(12):
        document = [document, document]
    started = time.monotonic()
    with pytest.raises(JsonPathFault, match="name the way more closely"):
        values_at(path, document)
    assert time.monotonic() - started < 20
