"""A version's fields as those of a job, with all that they cannot say."""

from __future__ import annotations

from copy import deepcopy

from shoal.agent.workflows.exchange.job_fields import job_fields
from shoal.agent.workflows.format.workflow import read_workflow
from tests.unit.workflows.books import BOOKS
from tests.unit.workflows.test_format import FORM


def test_one_place_of_each_field_is_written_and_the_guards_are_named() -> None:
    given = deepcopy(BOOKS)
    (version,) = given["versions"]
    (branch,) = version["branches"]
    (field,) = branch["fields"]
    field |= {"known": [3], "may_be_null": True, "absent": ".gone", "is_label": True}
    branch["signature"] |= {"item": ["link"], "required": ["main"]}
    version["branches"].append(deepcopy(branch) | {"id": "other", "signature": {"url": "https://shop.example/q/{}"}})
    written = job_fields(read_workflow(given).versions[0])
    assert written.fields == {"price": field["channels"][0]["place"]}
    told = " | ".join(written.lost)
    for said in (
        "pages like https://shop.example/q/{}: a job has one set of fields",
        "that a page is the item's, by link",
        "that the address is like https://shop.example/p/{}",
        "which parts a page has",
        "price: the agreement of label with css",
        "price: that only values are taken that were learned",
        "price: that it is what the list calls the item",
        "price: by what a page says that it lacks it",
    ):
        assert said in told, (said, told)


def test_a_position_is_written_only_where_nothing_else_is_known_and_what_is_seen_before_what_is_not() -> None:
    given = deepcopy(BOOKS)
    (field,) = given["versions"][0]["branches"][0]["fields"]
    field["channels"] = [
        {"family": "json_ld", "place": {"json": "$.price"}, "shown": False, "shapes": ["number"]},
        {"family": "structure", "place": {"select": "p:nth-of-type(1)"}},
        {"family": "css", "place": {"select": "p.price", "reader": "price"}},
    ]
    assert job_fields(read_workflow(given).versions[0]).fields == {"price": {"select": "p.price", "reader": "price"}}
    field["channels"] = field["channels"][:2]
    assert job_fields(read_workflow(given).versions[0]).fields == {"price": {"json": "$.price"}}


def test_actions_are_named_and_a_version_that_reads_nothing_has_no_fields() -> None:
    version = read_workflow(FORM).versions[0]
    assert "the actions before the page is read" in job_fields(version).lost
    acts = version.model_copy(update={"branches": (), "nodes": version.nodes[:1]})
    assert (job_fields(acts).fields, job_fields(acts).lost) == ({}, ("the version reads no pages",))
