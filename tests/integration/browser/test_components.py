"""Web components and rich text editors, as libraries from npm draw them: named, filled and clicked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from shoal.agent.browser import Context
from shoal.agent.observe.tree import walk_elements
from shoal.agent.types import Action, Element
from tests.integration.browser.test_mended import show
from tests.integration.browser.test_odd_pages import framed
from tests.patience import PATIENCE_S
from tests.sites.registry import serving
from tests.sites.registry.cache import Unreachable

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMPONENTS = """<!doctype html><title>Components</title>
<link rel="stylesheet" href="/lib/shoelace/cdn/themes/light.css">
<script type="module" src="/lib/shoelace/cdn/shoelace.js"></script>
<sl-input label="Name"></sl-input><sl-textarea label="Message"></sl-textarea><sl-checkbox>Agree</sl-checkbox>
<sl-switch>Newsletter</sl-switch><sl-radio-group label="Size"><sl-radio value="s">Small</sl-radio></sl-radio-group>
<sl-button>Send</sl-button><sl-button href="/help">Help</sl-button>"""
EDITOR = """<!doctype html><title>Editor</title><script src="/lib/tinymce/tinymce.min.js"></script>
<textarea id="message">Old words</textarea>
<script>tinymce.init({selector: '#message', promotion: false, license_key: 'gpl'})</script>"""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    packages = {"shoelace": "@shoelace-style/shoelace@2.20.1", "tinymce": "tinymce@6.8.6"}
    try:
        with serving.npm_folder(packages) as root:
            (root / "components.html").write_text(COMPONENTS, encoding="utf-8")
            (root / "editor.html").write_text(EDITOR, encoding="utf-8")
            with serving.folder(root) as url:
                yield url
    except Unreachable as error:
        pytest.skip(str(error))


async def find_element(context: Context, role: str, name: str) -> Element:
    """The element that is called so, once it is there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for element in walk_elements((await context.observe()).elements):
                if (element.role, element.name) == (role, name):
                    return element


async def act(context: Context, name: str, element: Element, **args: object) -> None:
    result = await context.act(Action(name, {"bid": element.bid, **args}))
    assert result.error is None, result.error


async def test_components_are_called_as_they_are_labelled(context: Context, site: str) -> None:
    await context.goto(f"{site}/components.html")
    await act(context, "fill", await find_element(context, "textbox", "Name"), value="Ada")
    await act(context, "fill", await find_element(context, "textbox", "Message"), value="Hello")
    await act(context, "click", await find_element(context, "checkbox", "Agree"))
    await act(context, "click", await find_element(context, "switch", "Newsletter"))
    await act(context, "click", await find_element(context, "radio", "Small"))
    assert (await find_element(context, "button", "Send")).clickable
    assert (await find_element(context, "link", "Help")).clickable
    told = await context.read(
        "() => [['sl-input', 'input'], ['sl-textarea', 'textarea']].map(([tag, inner]) =>"
        " document.querySelector(tag).shadowRoot.querySelector(inner).value).concat(['sl-checkbox', 'sl-switch'].map("
        "(tag) => document.querySelector(tag).shadowRoot.querySelector('input').checked),"
        " document.querySelector('sl-radio').getAttribute('aria-checked'))"
    )
    assert told == ["Ada", "Hello", True, True, "true"]


async def test_an_editor_in_a_frame_is_a_field(context: Context, site: str) -> None:
    await context.goto(f"{site}/editor.html")
    editor = await find_element(context, "textbox", "Rich Text Area. Press ALT-0 for help.")
    assert editor.attributes["value"] == "Old words"
    action = Action("fill", {"bid": editor.bid, "value": "New words"})
    assert not await context.harmless(action), "an editor's scripts hear of it"
    await act(context, "fill", editor, value="New words")
    assert await context.read("() => document.querySelector('iframe').contentDocument.body.innerText") == "New words"


@pytest.mark.parametrize("how", ["<body contenteditable>", "<script>document.designMode = 'on'</script><body>"])
async def test_a_frame_whose_document_can_be_edited_is_a_field(context: Context, how: str) -> None:
    await show(context, framed(f"{how}<p>Dear all</p>"))
    editor = next(
        element
        for element in walk_elements((await context.observe()).elements)
        if element.role == "textbox" and element.tag == "body"
    )
    assert editor.attributes["value"] == "Dear all"
    await act(context, "fill", editor, value="Dear Ada")
    assert await context.read("() => document.querySelector('iframe').contentDocument.body.innerText") == "Dear Ada"


async def test_a_page_that_can_be_edited_as_a_whole_shows_what_stands_on_it(context: Context) -> None:
    found = await show(context, "<body contenteditable><button>Save</button><p>Text</p>")
    assert "Save" in found
