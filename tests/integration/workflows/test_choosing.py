# ruff: noqa: E501
"""A field that opens a list of the site's own, in a workflow: what is learned and replayed is the choice."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.agent.browser import Browser, Context
from shoal.agent.chromium.process.find import find_chromium
from shoal.agent.policies.workflow import WorkflowPolicy
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, LoopItem
from shoal.agent.workflows.by_hand.hand_book import HandBook
from shoal.agent.workflows.exchange.playwright_script import write_playwright
from shoal.agent.workflows.format.node import ActionNode
from shoal.agent.workflows.format.version import Version
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import EvidenceBook, SessionEvidence, read_messages
from shoal.agent.workflows.learning.origin import Sources
from tests.integration.workflows.test_optional_fields import site
from tests.integration.workflows.test_optional_step import replayed
from tests.integration.workflows.test_sessions import run

pytestmark = pytest.mark.asyncio(loop_scope="session")

ARIA = "role=combobox aria-expanded=false aria-controls=list aria-autocomplete=list"
PAGE = """<!doctype html><html lang="en"><title>Move</title><h1>Move</h1>
<form><label for="town">Town</label> <input id="town" class="town" ATTRIBUTES autocomplete="off">
<input type="hidden" name="town_id" value="99"><ul id="list" role="listbox" hidden style="margin:0"></ul>
<button class="send">Send</button></form><p role="status"></p>
<script>
  const towns = ['Berlin', 'Bern', 'Bergen'], id = document.querySelector('[name=town_id]');
  const show = fits => { list.innerHTML = fits.map(one => `<li role=option>${one}</li>`).join('');
    list.hidden = !fits.length; if (town.hasAttribute('aria-expanded')) town.setAttribute('aria-expanded', String(!!fits.length)); };
  list.onmousedown = event => event.preventDefault();
  town.oninput = () => { id.value = 99; const typed = town.value.toLowerCase();
    setTimeout(() => show(typed ? towns.filter(one => one.toLowerCase().startsWith(typed)) : []), 150); };
  list.onclick = event => { town.value = event.target.textContent; id.value = towns.indexOf(town.value); show([]); };
  document.forms[0].onsubmit = event => { event.preventDefault();
    fetch('/sent'); document.querySelector('[role=status]').textContent = id.value === '99' ? 'Nowhere' : 'You move'; };
</script></html>"""


async def done(page: Context, url: str, town: str, typed: str) -> SessionEvidence:
    """A run that types, and clicks on the option where the text alone chooses none."""
    book = EvidenceBook(LoopItem(0, f'{{"name": "{town}"}}', False))
    sources = Sources(data=None, item=f'{{"name": "{town}"}}', earlier=[], goal="")
    await page.goto(url)
    asked = [("fill", ".town", {"value": typed}), ("click", ".send", {})]
    if typed != town:
        place = ("Berlin", "Bern", "Bergen").index(town)
        asked.insert(1, ("click", f"#list li:nth-child({place + 1})", {}))
    for name, selector, args in asked:
        await page.settle()  # the list is drawn anew for each letter
        (bid,) = await page.locate([selector])
        action = Action(name, {"bid": bid, **args})
        noted = await book.before(page, action, sources)
        result = await page.act(action)
        assert result.error is None and noted is not None, result.error
        book.after(result, noted)
    return book.book(url, await read_messages(page), None)


def first(version: Version) -> ActionNode:
    node = version.nodes[0]
    assert isinstance(node, ActionNode)
    return node


@pytest.mark.parametrize("attributes", [ARIA, "aria-autocomplete=list aria-controls=list"])
@pytest.mark.parametrize("letters", [None, 3], ids=["typed whole", "typed in part and clicked"])
async def test_what_was_chosen_is_learned_and_chosen_again(
    browser: Browser, page: Context, attributes: str, letters: int | None
) -> None:
    with site({"/": PAGE.replace("ATTRIBUTES", attributes)}) as address:
        runs = [await done(page, f"{address}/", town, town[:letters]) for town in ("Berlin", "Bern")]
        assert [[action.action for action in run.actions] for run in runs] == [["select_option", "click"]] * 2
        made = compile_version(runs, None)
        assert made.version is not None, made.open
        assert first(made.version).args["options"].param == "name"
        status, policy = await replayed(browser, made.version, f"{address}/", "Bergen")
        assert status is Status.COMPLETED, policy.report.misses


async def test_an_older_version_that_fills_the_field_chooses_in_it_or_sends_nothing(
    browser: Browser, page: Context
) -> None:
    with site({"/": PAGE.replace("ATTRIBUTES", ARIA)}) as address:
        made = compile_version([await done(page, f"{address}/", town, town) for town in ("Berlin", "Bern")], None)
        assert made.version is not None, made.open
        choosing = first(made.version)
        filling = choosing.model_copy(update={"action": "fill", "args": {"value": choosing.args["options"]}})
        older = made.version.model_copy(update={"nodes": (filling, *made.version.nodes[1:])})
        status, policy = await replayed(browser, older, f"{address}/", "Bergen")
        assert status is Status.COMPLETED, policy.report.misses
        status, policy = await replayed(browser, older, f"{address}/", "Zug")
        assert status is not Status.COMPLETED and len(policy.report.done) == 1, "typed, and not sent"
        assert "Zug" in policy.report.misses[0].detail, policy.report.misses


async def test_the_exported_script_types_waits_and_chooses_or_ends_before_it_sends(
    page: Context, tmp_path: Path
) -> None:
    with site({"/": PAGE.replace("ATTRIBUTES", ARIA)}) as address:
        made = compile_version([await done(page, f"{address}/", town, town) for town in ("Berlin", "Bern")], None)
        assert made.version is not None, made.open
        script = tmp_path / "move.py"
        script.write_text(write_playwright(made.version, "move").text)
        env = {**os.environ, "CHROMIUM": str(find_chromium()), "NO_SANDBOX": "1"}
        for town, chosen in (("Bergen", True), ("Zug", False)):
            command = [sys.executable, str(script), json.dumps({"name": town}), f"{address}/"]
            ran = await asyncio.to_thread(subprocess.run, command, env=env, capture_output=True, text=True, timeout=60)
            assert (ran.returncode == 0) is chosen, ran.stderr
            assert chosen or "expect(option).to_have_count(1)" in ran.stderr, ran.stderr


LABELLED = """<!doctype html><label>Country <select name=c><option>Choose<option>Germany<option>France</select></label>
<label><span>Town of birth <select name=t><option>Any<option>Bern</select></span></label>
<label for=s>Size</label><select id=s name=z><option>Small<option>Large</select><b id=k>Kind</b>
<select aria-labelledby=k name=y><option>One<option>Two</select><select name=bare><option>One<option>Two</select>
<p id=note contenteditable></p>"""


async def test_the_parameter_of_a_select_is_called_like_its_label_alone(page: Context) -> None:
    with site({"/": LABELLED}) as address:
        await page.goto(f"{address}/")
        book = HandBook()
        for name, key in (("c", "G"), ("t", "B"), ("z", "L"), ("y", "T"), ("bare", "T")):
            await page.read("(css) => document.querySelector(css).focus()", f"select[name={name}]")
            action = Action("keyboard_type", {"text": key})
            pointed = await book.before(page, action)
            await book.after(page, await page.act(action), pointed)
        await page.read("() => document.querySelector('#note').focus()")
        for text in ("Dear ", "Ada"):  # the text that was typed first is no name either
            action = Action("keyboard_type", {"text": text})
            pointed = await book.before(page, action)
            await book.after(page, await page.act(action), pointed)
        noted = await book.book(page)
    assert [origin.path for action in noted.actions for origin in action.origins.values()] == [
        *("$.country", "$.town_of_birth", "$.size", "$.kind", "$.bare", "$.note")
    ]


OWN = """<!doctype html><style>[role=option],[role=combobox],button{display:block;width:9em;height:24px}
[hidden]{display:none!important}</style><form>
<b id=k>Country</b><div role=combobox tabindex=0 aria-labelledby="k v" aria-haspopup=listbox aria-expanded=false
  aria-controls=l1><span id=v>Choose</span></div>
<div role=listbox id=l1 hidden><div role=option>Germany</div><div role=option>France</div></div>
<b id=m>Size</b><button type=button id=b aria-labelledby="m b" aria-haspopup=listbox aria-expanded=false>Small</button>
<div role=listbox class=two hidden><div role=option>Medium</div><div role=option>Large</div></div>
<div role=listbox aria-label=Colour class=three tabindex=0><div role=option>Red</div><div role=option>Blue</div></div>
<div role=combobox tabindex=0 class=bare aria-expanded=false id=way aria-controls=l4>Rail</div>
<div role=listbox id=l4 hidden><div role=option>Ship</div></div>
<b id=o>Sort</b><button type=button id=s aria-labelledby="o s" aria-haspopup=menu>Newest</button></form>
<p role=status></p><script>
  const opens = (field, list) => { const show = yes => { list.hidden = !yes; field.setAttribute('aria-expanded', yes); };
    field.onclick = () => show(list.hidden);
    list.onclick = event => { (field.querySelector('span') || field).textContent = event.target.textContent; show(false); }; };
  const all = css => document.querySelectorAll(css), [one, bare] = all('[role=combobox]');
  opens(one, l1); opens(b, all('.two')[0]); opens(bare, l4);
  s.onclick = () => { all('[role=status]')[0].textContent = 'Sorted by date'; };
  all('.three')[0].onclick = event => { for (const row of all('.three *')) row.ariaSelected = row === event.target; };
</script>"""


async def test_what_a_person_chooses_in_a_list_of_the_sites_own_is_a_parameter_called_like_the_list(
    browser: Browser, page: Context
) -> None:
    with site({"/": OWN}) as address:
        await page.goto(f"{address}/")
        book = HandBook()
        for selector in (
            *("[role=combobox]", "#l1 :nth-child(1)", "[role=combobox]", "#l1 :nth-child(2)"),  # and another after it
            *("#b", ".two :nth-child(2)", ".three :nth-child(2)", ".bare", "#l4 *", "#s"),
        ):
            await clicked(page, book, selector)
        noted = await book.book(page)
        assert noted.lost == (), [(action.action, action.target and action.target.name) for action in noted.actions]
        assert [(action.action, action.target and action.target.name) for action in noted.actions] == [
            *[("select_option", name) for name in ("Country", "Size", "Colour", "")],
            ("click", "Sort"),
        ]
        assert [origin.path for action in noted.actions for origin in action.origins.values()] == [
            *("$.country", "$.size", "$.colour", "$.way")
        ]
        written = str(noted.as_json())
        assert not [one for one in ("Germany", "France", "Large", "Blue", "Ship") if one in written]
        assert "Choose" not in written and "Small" not in written and "Newest" not in written, "a value is no name"
        made = compile_version((noted,), None, by_hand=True)
        assert made.version is not None, made.open
        data = json.dumps({"country": "Germany", "size": "Medium", "colour": "Red", "way": "Ship"})
        spec: Json = {"url": f"{address}/", "goal": "Choose", "artifacts": {"screenshots": "none"}, "on_miss": "fail"}
        policy = WorkflowPolicy("own", made.version)
        outcome, _ = await run(browser, policy, spec, LoopItem(0, data, False))
        assert outcome.status is Status.COMPLETED, policy.report.misses
        assert len(policy.report.done) == 5


async def clicked(page: Context, book: HandBook, selector: str) -> None:
    """A person's click on the middle of an element, noted."""
    x, y = await page.read(
        "(css) => { const box = document.querySelector(css).getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; }",
        selector,
    )
    await noted_act(page, book, Action("mouse_click", {"x": x, "y": y}))


async def noted_act(page: Context, book: HandBook, action: Action) -> None:
    pointed = await book.before(page, action)
    await book.after(page, await page.act(action), pointed)


async def test_what_a_person_chooses_is_noted_as_one_choice(page: Context) -> None:
    with site({"/": PAGE.replace("ATTRIBUTES", ARIA)}) as address:
        await page.goto(f"{address}/")
        book = HandBook()
        await clicked(page, book, ".town")
        await noted_act(page, book, Action("keyboard_type", {"text": "Ber"}))
        await page.settle()
        await clicked(page, book, "#list li:nth-child(2)")
        await clicked(page, book, ".send")
        noted = await book.book(page)
        assert noted.lost == () and [action.action for action in noted.actions] == ["select_option", "click"]
        assert "bern" not in str(noted.as_json()).lower(), "what was chosen is written down nowhere"
