"""Several lists of one page: parts of one list are read together, and a list that is left out is told of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from shoal.agent.browser import Context
from tests.unit.agent.rules.test_right_or_missing import TEXT, read, values

if TYPE_CHECKING:
    from tests.unit.agent.rules.conftest import Site


def cards(names: Sequence[str]) -> str:
    return "".join(
        f'<article class=card><h3>{name}</h3><p>Maker: House of {name}</p><a href="/{name}">More</a></article>'
        for name in names
    )


def card_records(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"name": name, "maker": f"House of {name}"} for name in names]


def entries(names: Sequence[str]) -> str:
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>Does {name}.</dd>" for name in names) + "</dl>"


async def test_tables_with_the_same_columns_are_chapters_of_one_list(page: Context, site: Site) -> None:
    def table(*names: str) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>does {name}</td></tr>" for name in names)
        return f"<table><tr><th>Option</th><th>Effect</th></tr>{rows}</table>"

    other = "<table><tr><th>Version</th><th>Date</th></tr><tr><td>1.0</td><td>2001</td></tr></table>"
    body = f"<main><h1>Manual</h1><h2>build</h2>{table('-a', '-b')}{other}<h2>serve</h2>{table('-c')}</main>"
    found = await values(page, site, body, option=TEXT, effect=TEXT)
    assert found == [{"option": f"-{sign}", "effect": f"does -{sign}"} for sign in "abc"]


async def test_a_list_in_columns_is_one_list(page: Context, site: Site) -> None:
    columns = [["Ash", "Elm", "Oak"], ["Iron", "Zinc"], ["Lead"], ["Agate", "Opal", "Ruby"]]
    body = "".join(f"<div class=column>{cards(names)}</div>" for names in columns)
    found = await read(page, site, f"<main><h1>Things</h1>{body}</main>", many=True, name=TEXT, maker=TEXT)
    assert [record.value for record in found.records] == card_records([name for names in columns for name in names])
    assert found.complete


@pytest.mark.parametrize("first", ["ab", "a"], ids=["two", "one"])
async def test_definition_lists_without_a_heading_between_are_one_list(page: Context, site: Site, first: str) -> None:
    body = f"<main><h1>Modules</h1>{entries(first)}<p>And more of them:</p>{entries('cdefg')}</main>"
    found = await read(page, site, body, many=True, name=TEXT, description=TEXT)
    assert [record.value for record in found.records] == [
        {"name": name, "description": f"Does {name}."} for name in [*first, *"cdefg"]
    ]
    assert found.complete


async def test_a_heading_that_names_a_field_says_which_list_is_meant(page: Context, site: Site) -> None:
    body = f"<main><h1>add</h1><h2>Options</h2>{entries('abcd')}<h2>Interactive mode</h2>{entries('ef')}</main>"
    found = await read(page, site, body, many=True, option=TEXT, description=TEXT)
    assert [record.value["option"] for record in found.records] == list("abcd")
    assert found.complete


async def test_numbered_things_in_many_columns_are_one_list(page: Context, site: Site) -> None:
    columns = [[f"Lamp{n}", f"Vase{n}"] for n in range(260)]
    body = "".join(f"<div class=column>{cards(names)}</div>" for names in columns)
    found = await read(page, site, f"<main><h1>Things</h1>{body}</main>", many=True, name=TEXT, maker=TEXT)
    assert [record.value for record in found.records] == card_records([name for names in columns for name in names])
    assert found.complete


@pytest.mark.parametrize("accept", ["likely", "weak"])
@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(f"<div class=related><h2>See also</h2>{cards(['Fig', 'Lime'])}</div>", id="related things"),
        pytest.param(f"<div class=accessories><h2>Tools</h2>{cards(['Fig', 'Lime'])}</div>", id="accessories"),
        pytest.param(f"<aside>{cards(['Fig', 'Lime'])}</aside>", id="an aside"),
        pytest.param(
            "<ul><li><h3>Fig</h3><p>Maker: A</p></li><li><h3>Lime</h3><p>Maker: B</p></li></ul>", id="other blocks"
        ),
        pytest.param(f"<div class=featured><h2>Today</h2>{cards(['Elm', 'Oak'])}</div>", id="records told twice"),
        pytest.param("<div class=links><p>Fig</p><p>Lime</p><p>Plum</p></div>", id="something else"),
    ],
)
async def test_a_list_of_other_things_is_no_part_of_the_list(
    page: Context, site: Site, beside: str, accept: str
) -> None:
    names = ["Ash", "Elm", "Oak", "Yew"]
    body = f"<main><h1>Trees</h1><div class=all>{cards(names)}</div>{beside}</main>"
    found = await read(page, site, body, many=True, accept=accept, name=TEXT, maker=TEXT)
    assert [record.value for record in found.records] == card_records(names)
    assert found.complete


async def test_a_list_with_as_many_records_as_the_page_says_is_whole(page: Context, site: Site) -> None:
    body = f"""<main><h1>Trees</h1><p>3 results</p><div class=native>{cards(["Ash", "Elm", "Oak"])}</div>
      <div class=foreign>{cards(["Fig", "Lime"])}</div></main>"""
    found = await read(page, site, body, many=True, name=TEXT, maker=TEXT)
    assert (len(found.records), found.shown, found.complete, found.why) == (3, 3, True, "")


async def test_a_list_beside_the_list_makes_it_incomplete(page: Context, site: Site) -> None:
    """Which of the two is meant is not known."""
    body = f"""<main><h1>Trees</h1><div class=native>{cards(["Ash", "Elm", "Oak"])}</div>
      <div class=foreign>{cards(["Fig", "Lime"])}</div></main>"""
    found = await read(page, site, body, many=True, name=TEXT, maker=TEXT)
    assert [record.value for record in found.records] == card_records(["Ash", "Elm", "Oak"])
    assert not found.complete
    assert found.why.startswith("the page shows another list of such records, with 2 entries")
