"""Degraded runs: each kind of deviation, and the usual run."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.services.schedules.bands import OutsideCounter, expectation, judge
from shoal.services.schedules.figures import MOST_FIELDS, MOST_VALUES, FigureCounter, RunFigures, values_of
from shoal.services.schedules.spec import BandsSpec


def shop(n: int = 200, **change: Any) -> list[dict[str, Any]]:
    """Records of a shop."""
    return [{"name": f"product {i}", "price": 10.0 + i, "stock": i % 2 == 0, **change} for i in range(n)]


def figures(records: list[Any], *, items: int | None = None, completed: int | None = None) -> RunFigures:
    counter = FigureCounter()
    for record in records:
        counter.add(record)
    n = len(records) if items is None else items
    return counter.figures(items=n, completed=n if completed is None else completed)


def kinds(records: list[Any], history: list[RunFigures], bands: BandsSpec | None = None, **how: int) -> list[str]:
    """The deviations of a run, as `kind` or `kind FIELD`."""
    bands = bands or BandsSpec()
    expected = expectation(history, bands)
    assert expected is not None
    outside = OutsideCounter(expected.bounds)
    for record in records:
        outside.add(record)
    reasons = judge(figures(records, **how), expected, outside, bands)
    assert all(reason.text for reason in reasons)
    return [f"{reason.kind} {reason.field}".strip() for reason in reasons]


USUAL = [figures(shop()), figures(shop(190)), figures(shop(210))]


def test_without_a_history_nothing_is_expected() -> None:
    assert expectation([], BandsSpec()) is None


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (shop(), []),
        (shop(120), []),
        (shop(90), ["items"]),
        ([], ["items", "completed"]),
        (shop(390), []),
        (shop(410), ["items"]),
        (shop(price=None), ["given price"]),
        (shop(name=""), ["given name"]),
        ([*shop(170), *shop(30, price=None)], []),
        ([*shop(150), *shop(50, price=None)], ["given price"]),
        ([*shop(199), {"name": "x", "price": 22_000.0, "stock": True}], ["range price"]),
        ([*shop(199), {"name": "x", "price": 0.1, "stock": True}], ["range price"]),
        ([*shop(199), {"name": "x", "price": 0, "stock": True}], ["range price"]),
        ([*shop(199), {"name": "x", "price": -5, "stock": True}], ["range price"]),
        ([*shop(199), {"name": "x", "price": 1_900.0, "stock": True}], []),
        (shop(price=19.5), ["constant price"]),
        (shop(stock=True), []),  # two values are no variety
    ],
)
def test_each_deviation_is_told(records: list[Any], told: list[str]) -> None:
    assert kinds(records, USUAL) == told


def test_a_share_of_items_that_did_not_complete_counts() -> None:
    assert kinds(shop(), USUAL, items=200, completed=185) == []
    assert kinds(shop(), USUAL, items=200, completed=170) == ["completed"]


def test_bands_can_be_set() -> None:
    assert kinds(shop(120), USUAL, BandsSpec(items=0.2)) == ["items"]
    assert kinds([], USUAL, BandsSpec(items=1.0, completed=1.0)) == []
    assert kinds(shop(price=None), USUAL, BandsSpec(given=1.0)) == []
    assert kinds(shop(price=19.5), USUAL, BandsSpec(constant=False)) == []
    dear = [*shop(199), {"name": "x", "price": 22_000.0, "stock": True}]
    assert kinds(dear, USUAL, BandsSpec(range=200.0)) == []
    assert kinds(dear, USUAL, BandsSpec(outside=0.01)) == []


def test_a_field_that_was_always_zero_may_become_anything_above() -> None:
    free = [figures([{"rebate": 0} for _ in range(10)])]
    assert kinds([{"rebate": 5} for _ in range(10)], free) == []
    assert kinds([{"rebate": -5} for _ in range(10)], free) == ["range rebate"]


def test_a_history_without_records_expects_none_of_the_fields() -> None:
    assert kinds(shop(3), [RunFigures(items=5, completed=5)]) == ["items"]


def test_what_a_record_gives_is_told_by_path() -> None:
    record = {"a": {"b": 1, "c": None, "d": []}, "e": "", "f": [1], "g": False, "h": 0}
    assert list(values_of(record)) == [("a.b", 1), ("f", [1]), ("g", False), ("h", 0)]
    assert list(values_of([1, 2])) == [("value", [1, 2])]
    counted = figures([record, {"a": {"b": 3}}])
    assert (counted.fields["a.b"].least, counted.fields["a.b"].most, counted.fields["a.b"].given) == (1, 3, 2)
    assert counted.fields["g"].least is None, "true and false are no numbers"


def test_figures_hold_no_more_than_so_much() -> None:
    counted = figures([{f"f{i}": i for i in range(MOST_FIELDS + 5)}, *({"f0": n} for n in range(1_000))])
    assert len(counted.fields) == MOST_FIELDS and counted.fields["f0"].values == MOST_VALUES
