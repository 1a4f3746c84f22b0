"""Actions that provably send nothing, on a real page with real listeners."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoal.agent.browser import Context
from shoal.agent.errors import ElementMissing
from shoal.agent.observe.tree import walk_elements
from shoal.agent.types import Action
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLAIN = """<title>Plain</title>
<a id=link href=/second>Second page</a> <a href=/second><span>In a span</span></a>
<form action=/sent method=post>
<label>Name <input name=n></label> <input name=o aria-label=Other> <textarea aria-label=Words></textarea>
<label><input type=checkbox> Terms</label> <input type=radio aria-label=One name=r>
<select aria-label=Colour><option>red<option>blue</select>
<input type=file aria-label=File> <button>Order now</button> <input type=submit value=Pay>
</form><div tabindex=0 role=button>Bare</div>"""

HARMLESS = [
    ("click", "Second page", {}),
    ("click", "In a span", {}),
    ("download", "Second page", {}),
    ("click", "Name", {}),
    ("fill", "Name", {"value": "x"}),
    ("fill", "Words", {"value": "x"}),
    ("clear", "Other", {}),
    ("focus", "Other", {}),
    ("check", "Terms", {}),
    ("check", "One", {}),
    ("select_option", "Colour", {"options": "blue"}),
    ("upload_file", "File", {"file": "x"}),
    ("press", "Name", {"key_comb": "Tab"}),
    ("enter_verification_code", "Other", {}),
]
OPEN = [
    ("click", "Order now", {}),
    ("click", "Pay", {}),
    ("click", "Bare", {}),
    ("dblclick", "Order now", {}),
    ("fill", "Bare", {"value": "x"}),
    ("check", "Bare", {}),
    ("upload_file", "Order now", {"file": "x"}),
    ("select_option", "Name", {"options": "x"}),
]


async def bids(context: Context) -> dict[str, str]:
    """The ids of what the page shows, by name or text."""
    found: dict[str, str] = {}
    for element in walk_elements((await context.observe()).elements):
        name = element.name or element.text or " ".join(child.text for child in element.children)
        if element.bid and (name.strip() not in found or element.tag != "label"):
            found[name.strip()] = element.bid
    return found


async def put(context: Context, site: Site, html: str, script: str = "") -> dict[str, str]:
    """Shows a page of our own, runs a script in the page's own world, and gives the ids."""
    await context.goto(f"{site.url}/second")
    text = f"<script>{script}</script>" if script else ""
    await context.read(f"() => {{ document.open(); document.write({json.dumps(html + text)}); document.close(); }}")
    return await bids(context)


async def is_harmless(context: Context, found: dict[str, str], one: tuple[str, str, dict[str, Any]]) -> bool:
    name, on, args = one
    return await context.harmless(Action(name, {"bid": found[on], **args}))


async def test_plain_links_and_fields_that_nobody_listens_to(context: Context, site: Site) -> None:
    found = await put(context, site, PLAIN)
    assert [one for one in HARMLESS if not await is_harmless(context, found, one)] == []
    assert [one for one in OPEN if await is_harmless(context, found, one)] == []
    for action in (Action("keyboard_press", {"key_comb": "Tab"}), Action("keyboard_type", {"text": "x"})):
        assert await context.harmless(action)
    with pytest.raises(ElementMissing):
        await context.harmless(Action("click", {"bid": "99999"}))


async def test_a_form_that_hears_when_it_is_sent_may_be_filled(context: Context, site: Site) -> None:
    script = "for (const kind of ['submit', 'formdata', 'reset']) document.forms[0].addEventListener(kind, () => {})"
    found = await put(context, site, PLAIN, script)
    assert [action for action in HARMLESS if not await is_harmless(context, found, action)] == []
    assert [action for action in OPEN if await is_harmless(context, found, action)] == []


@pytest.mark.parametrize(
    "script",
    [
        "document.addEventListener('click', () => {}); document.addEventListener('change', () => {});"
        "document.addEventListener('focusin', () => {}); document.addEventListener('keydown', () => {})",
        "for (const one of document.querySelectorAll('*')) for (const kind of ['mousedown', 'input', 'blur', 'keyup'])"
        "one.addEventListener(kind, () => {})",
        "for (const kind of ['pointerup', 'beforeinput', 'focus', 'keypress', 'change']) "
        "window.addEventListener(kind, () => {}, true)",
    ],
    ids=["on the document", "on each element", "on the window"],
)
async def test_nothing_is_harmless_where_a_script_hears_of_it(context: Context, site: Site, script: str) -> None:
    found = await put(context, site, PLAIN, script)
    assert [one for one in HARMLESS if await is_harmless(context, found, one)] == []


@pytest.mark.parametrize(
    "html",
    [
        "<a href=/second onclick='x()'>It</a>",
        "<a href=/second><span onclick='x()'>It</span></a>",
        "<div onclick='x()'><a href=/second>It</a></div>",
        "<a href='javascript:x()'>It</a>",
        "<a href='mailto:a@b.example'>It</a>",
        "<a href=/second ping=/sent>It</a>",
        "<a href='#' onclick='x()'>It</a>",
        "<a tabindex=0>It</a>",
        "<a href=/second><button>It</button></a>",
        "<div role=menuitem tabindex=0>It</div>",
        "<summary>It</summary>",
    ],
)
async def test_a_link_that_is_not_plain(context: Context, site: Site, html: str) -> None:
    found = await put(context, site, f"<title>T</title>{html}")
    assert not await is_harmless(context, found, ("click", "It", {}))


@pytest.mark.parametrize(
    ("html", "name", "args"),
    [
        ("<input aria-label=It oninput='x()'>", "fill", {"value": "x"}),
        ("<input aria-label=It onchange='this.form.submit()'>", "fill", {"value": "x"}),
        ("<form onchange='x()'><input type=checkbox aria-label=It></form>", "check", {}),
        ("<input type=checkbox aria-label=It onclick='x()'>", "uncheck", {}),
        ("<label onclick='x()'><input type=checkbox aria-label=It></label>", "check", {}),
        ("<select aria-label=It onchange='x()'><option>a<option>b</select>", "select_option", {"options": "b"}),
        ("<input aria-label=It onkeydown='x()'>", "press", {"key_comb": "Tab"}),
        ("<input aria-label=It onblur='x()'>", "focus", {}),
        ("<div contenteditable aria-label=It role=textbox>It</div>", "fill", {"value": "x"}),
    ],
)
async def test_a_field_that_a_script_hears_of(
    context: Context, site: Site, html: str, name: str, args: dict[str, Any]
) -> None:
    found = await put(context, site, f"<title>T</title>{html}")
    assert not await is_harmless(context, found, (name, "It", args))


async def test_a_field_that_would_lose_the_focus_counts_too(context: Context, site: Site) -> None:
    """Its change is told, and may be sent, only when another field is filled."""
    found = await put(context, site, "<input aria-label=First onchange='x()'><input aria-label=It>")
    one = ("fill", "It", {"value": "x"})
    assert await is_harmless(context, found, one)
    await context.act(Action("click", {"bid": found["First"]}))
    await context.act(Action("keyboard_type", {"text": "x"}))
    assert not await is_harmless(context, found, one)
    assert not await context.harmless(Action("keyboard_press", {"key_comb": "Tab"}))
