"""Forms whose fields, and documents whose pictures, are called as what scripts ask of every element."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.policies.rules.lists.list_page import read_list_page
from shoal.agent.policies.rules.planning import SEND
from shoal.agent.read.by_place.proposals import propose_places
from shoal.agent.read.drawn.page_tree import page_on
from shoal.agent.spec import ExtractSpec
from shoal.agent.support import page_names
from shoal.agent.types import Action
from tests.integration.rules.test_extract import extract
from tests.integration.rules.test_forms import navigate, state

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

IMAGE = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
FIELDS = "".join(f"<input type=hidden name={name} value=1>" for name in page_names.NAMES)
PICTURES = "".join(f'<img name={name} src="{IMAGE}" hidden>' for name in page_names.NAMES if name != "hidden")
ROWS = "".join(
    f'<tr><td><a href="/item/{n}">Thing {n}</a></td><td>{n}.50 EUR</td><td><button name=b{n}>Take {n}</button></td>'
    for n in range(1, 9)
)
FORM = """<label>Your name <input name=customer required></label>
<label>E-mail <input name=mail type=email required></label><p class=hint id=told>We answer within a day</p>
<button type=submit>Send</button>"""
OURS = ("shoalOwn", *page_names.GLOBALS)
GLOBALS = "".join(f"<a id={name}></a><form name={name} hidden></form>" for name in OURS)
"""Elements that are called as our scripts call their own things: a window gives its elements by their names, too."""
PAGE = """<!doctype html><html lang=en><title>Things</title>
<form id=quote method=post action=/send><h1>Things for sale</h1><table><thead><tr><th>Name<th>Price<th></thead>
<tbody>{rows}</tbody></table>{form}<a href="/things?page=2" rel=next>Next</a>{fields}</form>{pictures}"""
"""As ASP.NET makes them: the whole page is one form, which is around everything that is asked about."""


def page_of(**parts: str) -> str:
    return PAGE.format_map({"rows": ROWS, "form": FORM, "fields": "", "pictures": ""} | parts)


@pytest.fixture
def things(site: Site) -> Site:
    site.pages["/plain"] = page_of()
    site.pages["/clobbered"] = page_of(fields=FIELDS, pictures=PICTURES)
    site.pages["/globals"] = page_of(pictures=GLOBALS)
    return site


PRICES = {"name": {"type": "string"}, "price": {"type": "number"}}


async def observed(page: Context, url: str) -> object:
    await page.goto(url)
    return re.sub(r"\[\w+", "[", compact((await page.observe()).elements))


async def listed(page: Context, url: str) -> object:
    await page.goto(url)
    found = await read_list_page(page, {"select": "table a", "next": None, "words": [], "onward": False})
    rows = [(row.link, row.text) for row in found.matched or ()]
    return rows, [(control.label, control.visible) for control in found.controls], found.heading, found.title


async def drawn(page: Context, url: str) -> object:
    await page.goto(url)
    tree = await page_on(page)
    assert tree is not None
    return [(cell.text_content(), tree.is_visible(cell)) for cell in tree.elements if cell.tag in ("td", "h1", "label")]


async def recorded(page: Context, url: str) -> object:
    read = await extract(page, url, PRICES, many=True)
    places = await propose_places(page, ExtractSpec(schema={"type": "array"}), read.records)
    return [record.value for record in read.records], read.missing, places.to_json()


@pytest.mark.parametrize("read", [observed, listed, drawn, recorded])
async def test_a_page_is_read_the_same_whatever_its_fields_are_called(
    page: Context, things: Site, read: Callable[[Context, str], Awaitable[object]]
) -> None:
    plain = await read(page, f"{things.url}/plain")
    assert "Thing 7" in str(plain) or "/item/7" in str(plain), "the control"
    assert await read(page, f"{things.url}/clobbered") == plain


@pytest.mark.parametrize("read", [observed, listed, drawn, recorded])
async def test_an_element_that_is_called_as_a_script_s_own_things_stands_in_for_none(
    page: Context, things: Site, read: Callable[[Context, str], Awaitable[object]]
) -> None:
    plain = await read(page, f"{things.url}/plain")
    assert await read(page, f"{things.url}/globals") == plain


async def test_what_is_called_so_is_acted_on(page: Context, things: Site) -> None:
    await page.goto(f"{things.url}/globals")
    ids = {each.name: each.bid for each in clickable_elements((await page.observe()).elements)}
    assert (await page.act(Action("fill", {"bid": ids["Your name"], "value": "Bo"}))).error is None
    result = await page.act(Action("click", {"bid": ids["Thing 7"]}))
    assert result.error is None and page.url == f"{things.url}/item/7"


async def test_a_form_with_such_fields_is_filled_in_and_sent(page: Context, things: Site) -> None:
    await page.goto(f"{things.url}/clobbered")
    data = {"name": "Ann Lee", "email": "ann@example.test"}
    end, _ = await navigate(state(page, things.url, data=data), SEND)
    assert end.name == "complete"
    (sent,) = things.sent
    assert (sent["customer"], sent["mail"]) == (["Ann Lee"], ["ann@example.test"])


async def test_what_stands_in_such_a_form_is_acted_on(page: Context, things: Site) -> None:
    await page.goto(f"{things.url}/clobbered")
    ids = {each.name: each.bid for each in clickable_elements((await page.observe()).elements)}
    typed = Action("fill", {"bid": ids["Your name"], "value": "Bo"})
    assert not await page.harmless(Action("click", {"bid": ids["Take 3"]}))
    assert (await page.prospect(typed)).forms == (f"{things.url}/send",)
    assert (await page.act(typed)).error is None
    assert "Bo" in str(await observed_now(page))
    result = await page.act(Action("click", {"bid": ids["Thing 7"]}))
    assert result.error is None and page.url == f"{things.url}/item/7"


async def test_a_page_s_picture_does_not_hide_who_listens_to_a_click(page: Context, things: Site) -> None:
    heard = "<script>addEventListener('click', () => {})</script>"
    for path, more in (("/quiet", ""), ("/heard", heard)):
        things.pages[path] = page_of(pictures=PICTURES) + more
        await page.goto(things.url + path)
        ids = {each.name: each.bid for each in clickable_elements((await page.observe()).elements)}
        assert await page.harmless(Action("click", {"bid": ids["Thing 3"]})) == (not more)


async def test_texts_for_a_script_stay_as_they_are(page: Context, things: Site) -> None:
    things.pages["/texts"] = "<a href=/a.title?b.name>A</a><ul class=body><li class=title>one<li>two</ul>"
    await page.goto(f"{things.url}/texts")
    assert await page.locate(["ul.body > li.title"])
    opens = Action("goto", {"url": f"{things.url}/a.title?b.name"})
    assert (await page.prospect(opens)).listed


async def observed_now(page: Context) -> str:
    return compact((await page.observe()).elements)


SCRIPTS = [path for path in (Path(__file__).parents[3] / "agent").rglob("*.js") if "rrweb" not in path.name]
_PROTOTYPES = """() => [Node, Element, HTMLElement, HTMLFormElement, Document, ShadowRoot].flatMap(
  kind => Object.getOwnPropertyNames(kind.prototype))"""
_OF_OTHERS = {"length", "host", "mode"}
"""Names that are read of arrays and shadow roots; no script reads them of a form or a document."""


async def test_all_that_scripts_ask_of_elements_is_asked_by_names_of_our_own(page: Context, site: Site) -> None:
    await page.goto(f"{site.url}/quote")
    kept = {name for name in await page.read(_PROTOTYPES) if not name.isupper()} - {"constructor"}
    for path in SCRIPTS:
        if path.name not in ("miniwob.js", "world.js"):  # a part of the page, and what comes before rrweb
            asked = set(re.findall(r"(?<=[\w$)\]}])\??\.(\w+)", path.read_text())) & kept
            assert asked - set(page_names.NAMES) - _OF_OTHERS == set(), path


async def test_a_frame_is_asked_from_the_page_around_it(page: Context, things: Site) -> None:
    inner = page_of(fields=FIELDS, pictures=PICTURES).replace('"', "&quot;")
    things.pages["/around"] = f'<h1>Around</h1><iframe srcdoc="{inner}"></iframe>'
    await page.goto(f"{things.url}/around")
    await page.settle()
    asked = "() => [...document.querySelector('iframe').contentDocument.querySelector('form').querySelectorAll('td a')].map((a) => a.textContent)"  # noqa: E501
    assert await page.read(asked) == [f"Thing {n}" for n in range(1, 9)]
