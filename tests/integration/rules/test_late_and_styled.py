"""Pages that only a browser shows whole: content that scripts bring late, and tables that styles lay out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import FieldsMissing
from shoal.agent.policies.policy import Extraction, SessionState
from shoal.agent.policies.rules.policy import RulesPolicy
from shoal.agent.spec import JobSpec

if TYPE_CHECKING:
    from tests.integration.rules.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


async def read(page: Context, site: Site, body: str, *, many: bool = False, **wanted: Any) -> Extraction:
    """Return what the policy reads of a page with this body, by a schema of the fields `wanted`."""
    site.pages["/here"] = f'<!doctype html><html lang="en"><head><title>T</title></head><body>{body}</body></html>'
    record = {"type": "object", "properties": wanted}
    schema = {"type": "array", "items": record} if many else record
    url = f"{site.url}/here"
    await page.goto(url)
    job = JobSpec.model_validate({"url": url, "extract": {"schema": schema}})
    return await RulesPolicy().extract(SessionState(spec=job, loop=None, item=None, page=page))


async def value(page: Context, site: Site, body: str, **wanted: Any) -> dict[str, Any]:
    """The one record of such a page."""
    (record,) = (await read(page, site, body, **wanted)).records
    return dict(record.value)


async def values(page: Context, site: Site, body: str, **wanted: Any) -> list[Any]:
    """The records of such a page."""
    return [record.value for record in (await read(page, site, body, many=True, **wanted)).records]


LATE = """<main><h1>Lamp</h1><div id="offer"></div></main><script>setTimeout(() => {
  document.getElementById('offer').innerHTML = '<p class="price">€5.00</p>'; }, 2500)</script>"""


async def test_content_that_comes_late_is_waited_for(page: Context, site: Site) -> None:
    site.pages["/late"] = LATE
    job = {"type": "object", "properties": {"name": TEXT, "price": NUMBER}, "required": ["price"]}
    await page.goto(f"{site.url}/late")
    spec = JobSpec.model_validate({"url": f"{site.url}/late", "extract": {"schema": job}})
    found = await RulesPolicy().extract(SessionState(spec=spec, loop=None, item=None, page=page))
    assert found.records[0].value == {"name": "Lamp", "price": 5}
    skeleton = LATE.replace('<div id="offer">', '<div id="offer" aria-busy="true">')
    script = skeleton.replace("innerHTML", "ariaBusy = 'false'; document.getElementById('offer').innerHTML")
    assert await value(page, site, script, name=TEXT, price=NUMBER) == {"name": "Lamp", "price": 5}


async def test_what_was_waited_for_in_vain_is_told_and_may_be_tried_again(
    page: Context, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.agent.policies.rules.fields.extraction._LATE_S", 1.0)
    body = '<main><div id="app" aria-busy="true"></div></main><script>1</script>'
    with pytest.raises(FieldsMissing, match=r"waited .* s for aria-busy") as told:
        await read(page, site, body, price=NUMBER)
    assert told.value.retryable
    with pytest.raises(FieldsMissing) as told:
        await read(page, site, "<main><p>Nothing.</p></main>", price=NUMBER)
    assert not told.value.retryable


async def test_a_table_that_a_script_fills_late_is_waited_for(page: Context, site: Site) -> None:
    body = """<main><h1>Staff</h1><table id="t"><thead><tr><th>Name</th><th>Role</th></tr></thead></table></main>
      <script>setTimeout(() => { const body = document.getElementById('t').createTBody();
      for (const name of ['Ann', 'Bob']) body.insertRow().innerHTML = `<td>${name}</td><td>cook</td>`;
      }, 2500)</script>"""
    assert [one["name"] for one in await values(page, site, body, name=TEXT, role=TEXT)] == ["Ann", "Bob"]


async def test_a_table_that_is_drawn_late_may_ask_for_its_rows_then(page: Context, site: Site) -> None:
    """The empty table that was waited for is gone for a moment before its rows are there."""
    head = "<thead><tr><th>Name</th><th>Office</th></tr></thead>"
    rows = "<tr><td>Ada</td><td>Oslo</td></tr><tr><td>Bo</td><td>Graz</td></tr>"
    body = f"""<table id=t>{head}</table><script>setTimeout(() => {{
      t.insertAdjacentHTML('beforeend', '<tbody><tr><td colspan=2>One moment</td></tr></tbody>');
      setTimeout(() => fetch('/rows').then((it) => it.text()).then((it) => {{ t.tBodies[0].innerHTML = it }}), 50);
    }}, 900)</script>"""
    site.pages["/rows"] = rows
    found = await values(page, site, body, name=TEXT, office=TEXT)
    assert found == [{"name": "Ada", "office": "Oslo"}, {"name": "Bo", "office": "Graz"}]


async def test_a_table_that_is_laid_out_by_style_is_read_by_its_headers(page: Context, site: Site) -> None:
    cells = "".join(
        f"<div class=cell>{kind}</div><div class=cell><a href=#>{name}</a></div><div class=cell>{said}</div>"
        for kind, name, said in (("int", "size()", "How many."), ("void", "clear()", ""), ("int", "max()", "The most."))
    )
    heads = "".join(f"<div class='table-header c{n}'>{head}</div>" for n, head in enumerate(("Type", "Method", "Text")))
    body = f"<div style='display:grid;grid-template-columns:auto auto auto'>{heads}{cells}</div>"
    assert await values(page, site, body, type=TEXT, method=TEXT, text=TEXT) == [
        {"type": "int", "method": "size()", "text": "How many."},
        {"type": "void", "method": "clear()"},
        {"type": "int", "method": "max()", "text": "The most."},
    ]
    short = body.replace("<div class=cell>The most.</div>", "")
    assert await values(page, site, short, type=TEXT, method=TEXT, text=TEXT) == [], "rows and columns do not come out"


_BADGES = """<style>.flag { font-size: 70%% } .chip { background: #fdd; padding: 2px }</style>
<table><thead><tr><th>Description</th><th>Weight</th><th>Colours</th><th>Status</th></tr></thead><tbody>%s</tbody></table>"""


async def test_badges_behind_what_a_cell_says_are_no_part_of_it(page: Context, site: Site) -> None:
    rows = "".join(
        f"""<tr><td><a href="/x{n}">Change {n}</a> <span class=flag>draft</span> <span class=flag>tip</span></td>
        <td>{n} <small class=flag>kg</small></td><td><span class=chip>red</span> <span class=chip>blue</span></td>
        <td>Open <em class=chip>new</em></td></tr>"""
        for n in range(1, 4)
    )
    found = await read(page, site, _BADGES % rows, many=True, description=TEXT, weight=TEXT, colours=TEXT, status=TEXT)
    assert [record.value for record in found.records] == [
        {"description": f"Change {n}", "weight": f"{n} kg", "colours": "red blue", "status": "Open"}
        for n in range(1, 4)
    ]
