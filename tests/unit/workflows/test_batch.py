"""Drift over a batch: empty fields, runs of one value, and numbers of another size."""

from __future__ import annotations

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.judging.batch import LEAST, MOST_AGAIN, MOST_EQUAL, Batch, is_identifying


def taught(*records: Json) -> Batch:
    batch = Batch()
    for n in range(8) if not records else ():
        batch.note({"name": f"n{n}", "price": 5 + n, "stock": n % 2 == 0}, by_baseline=True)
    for record in records:
        batch.note(record, by_baseline=True)
    return batch


def after(batch: Batch, records: list[Json]) -> str:
    for record in records:
        batch.note(record, by_baseline=False)
        batch = Batch.of(batch.text())
    return batch.drift()


def books(n: int, **fields: Json) -> list[Json]:
    return [{"name": f"r{k}", "price": 7 + k / 100, "stock": True, **fields} for k in range(n)]


def test_records_like_the_baseline_are_no_drift_and_a_yes_or_no_may_be_the_same_in_all() -> None:
    assert after(taught(), books(250)) == ""


def test_too_few_records_say_nothing() -> None:
    assert after(taught(), books(LEAST - 1, price=None)) == ""
    assert after(taught({"price": 1}, {"price": 2}), books(50, price=None)) == ""
    assert Batch.of("{}").drift() == ""


def test_a_field_that_is_empty_now_is_drift_and_one_that_often_was_is_not() -> None:
    assert after(taught(), books(LEAST, price=None)) == "100% of the last 20 records have no price, and 0% before"
    some = [{**one, "price": None} if k % 3 else one for k, one in enumerate(books(30)) if isinstance(one, dict)]
    assert after(taught(), list(some)).startswith("67% of the last 30 records have no price")
    half = taught(*({"price": n if n % 2 else None, "name": str(n)} for n in range(8)))
    assert after(half, list(some)) == "", "half of them lacked it from the start"


def test_a_run_of_one_value_is_drift_where_all_differed_and_only_in_a_row() -> None:
    assert after(taught(), books(LEAST, name="Not found")).startswith("the last 20 records have the same name")
    mixed = [{"name": f"b{k}" if k % 2 else "Not found", "price": 7 + k / 100, "stock": True} for k in range(40)]
    assert after(taught(), list(mixed)) == ""
    same_brand = taught(*({"name": "Nike", "price": n + 1} for n in range(8)))
    assert after(same_brand, books(40, name="Nike")) == ""


def test_a_run_goes_on_over_the_end_of_a_window_and_a_new_half_is_not_hidden_by_an_old_one() -> None:
    batch = taught()
    assert after(batch, [*books(95), *books(15, name="Not found")]) == ""
    assert after(Batch.of(batch.text()), books(120)) == ""
    late = taught()
    for record in [*books(100), *books(LEAST, price=None)]:
        late.note(record, by_baseline=False)
    assert late.drift().startswith("100% of the last 20 records have no price")


def test_numbers_of_another_size_are_drift() -> None:
    cents = [{**one, "price": 700 + k} for k, one in enumerate(books(LEAST)) if isinstance(one, dict)]
    assert after(taught(), list(cents)) == "price is about 709 now, and was 5 to 12"
    thousandth = [{**one, "price": 0.007 + k / 1e5} for k, one in enumerate(books(LEAST)) if isinstance(one, dict)]
    assert after(taught(), list(thousandth)).startswith("price is about 0.007")
    dearer = [{**one, "price": 70 + k} for k, one in enumerate(books(LEAST)) if isinstance(one, dict)]
    assert after(taught(), list(dearer)) == "", "less than ten times the dearest"


def test_what_is_no_object_and_a_page_of_fields_without_end_cost_little() -> None:
    batch = taught()
    for n in range(200):
        batch.note({f"f{n}-{k}": k for k in range(200)}, by_baseline=n < 100)
    batch.note([1], by_baseline=True)
    assert len(batch.text()) < 60_000


def test_many_items_with_the_records_of_others_are_drift_unless_that_is_usual() -> None:
    assert Batch(again=list(range(MOST_AGAIN))).drift().startswith("50 items had records")
    assert Batch(again=list(range(MOST_AGAIN)), equal=MOST_EQUAL).drift() == ""
    assert Batch(acted=3).drift() == "3 items have records that other items have, too"


def test_a_text_or_two_values_tell_an_item_from_others() -> None:
    assert is_identifying({"title": "A"}) and is_identifying({"price": 1, "stock": True})
    assert (
        not is_identifying({"price": 1})
        and not is_identifying({"title": "", "price": None})
        and not is_identifying([1])
    )
