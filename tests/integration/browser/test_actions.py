"""Every primitive on real pages: in the main frame, in frames of the same and of other sites, in shadow roots."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from shoal.agent.actions.dialects.notations import read_reply_on, write_reply_on
from shoal.agent.browser import Browser, Context, ContextOptions
from shoal.agent.hooks import Hooks, Upload
from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Action, ActionResult, Observation
from tests.integration.browser.conftest import Site

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLACES = ["main", "nested", "cross", "closed", "framed"]
"""A frame within a frame, a frame of another site, a closed shadow root, an open one within a frame."""
FARTHEST = ["main", "deep"]
"""Places for every other action, too: a closed shadow root in a frame of another site is all of it at once."""
in_every_place = pytest.mark.parametrize("hand", [*PLACES, "deep"], indirect=True)
"""Tries what points at an element and what types into it."""


class Hand:
    """Acts on elements by their names, on the acts page in some place."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.ids: dict[str, str] = {}

    async def open(self, site: Site, place: str) -> None:
        await self.context.goto(f"{site.url}/acts" if place == "main" else f"{site.url}/wrap?how={place}")
        await self.context.settle(quiet_s=0.1)  # frames come after their page
        await self.look()

    async def look(self) -> Observation:
        seen = await self.context.observe()
        self.ids = {element.name: element.bid for element in clickable_elements(seen.elements)}
        return seen

    async def do(self, name: str, on: str = "", **args: Any) -> ActionResult:
        """Performs an action that has to work."""
        result = await self.attempt(name, on, **args)
        assert result.error is None, result.error
        return result

    async def attempt(self, name: str, on: str = "", **args: Any) -> ActionResult:
        return await self.context.act(Action(name, {"bid": self.ids[on], **args} if on else args))

    async def out(self) -> str:
        """Return what the page says that it saw, which its first paragraph holds."""
        lines = compact((await self.look()).elements).splitlines()
        return next(line for line in lines if not line.startswith(("outside", "---")))


@pytest_asyncio.fixture(params=FARTHEST, loop_scope="session")
async def hand(request: pytest.FixtureRequest, context: Context, site: Site) -> Hand:
    hand = Hand(context)
    await hand.open(site, request.param)
    return hand


@pytest_asyncio.fixture(loop_scope="session")
async def main(context: Context, site: Site) -> Hand:
    hand = Hand(context)
    await hand.open(site, "main")
    return hand


# --- elements, wherever they are ---------------------------------------------------------------------------


@in_every_place
async def test_clicks_of_all_kinds(hand: Hand) -> None:
    result = await hand.do("click", "Press me")
    assert result.effect.dom_changed
    assert await hand.out() == "clicked 0"
    await hand.do("click", "Press me", modifiers=["Shift"])
    assert await hand.out() == "clicked 0 shift"
    await hand.do("click", "Press me", button="right")
    assert await hand.out() == "context"
    await hand.do("dblclick", "Press me")
    assert await hand.out() == "double"
    await hand.do("hover", "Hover me")
    assert await hand.out() == "hovered"
    await hand.do("click", "Far away")
    assert await hand.out() == "far"


@in_every_place
async def test_fields_are_filled_and_cleared(hand: Hand) -> None:
    for name, value in {
        "Text": "some words",
        "Area": "two\nlines",
        "Date": "2026-03-14",
        "Time": "14:30",
        "Number": "42",
        "Range": "7",
        "Color": "#00ff00",
        "Editor": "new words",
    }.items():
        result = await hand.do("fill", name, value=value)
        assert result.effect.value == value, name
    result = await hand.do("clear", "Text")
    assert result.effect.value == ""
    result = await hand.do("fill", "Text", value="abc", enable_autocomplete_menu=True)
    assert result.effect.value == "abc"
    result = await hand.do("press", "Text", key_comb="Backspace")
    assert result.effect.value == "ab"
    result = await hand.do("focus", "Area")
    assert result.effect.focus == hand.ids["Area"]


async def test_a_value_that_the_field_does_not_take_is_an_error(hand: Hand) -> None:
    result = await hand.attempt("fill", "Date", value="tomorrow")
    assert result.error is not None
    assert result.error.code == "element_not_usable"


async def test_boxes_and_switches(hand: Hand) -> None:
    for name in ("Check", "Radio", "Styled", "Switch"):
        result = await hand.do("check", name)
        assert result.effect.value in ("checked", "true"), name
    again = await hand.do("check", "Check")
    assert not again.effect.dom_changed
    for name in ("Check", "Styled", "Switch"):
        result = await hand.do("uncheck", name)
        assert result.effect.value in ("unchecked", "false"), name
    refused = await hand.attempt("check", "Press me")
    assert refused.error is not None and "neither a check box" in refused.error.message


async def test_options_of_selects_and_of_widgets(hand: Hand) -> None:
    for wanted, value in (("Green", "Green"), ("r", "Red"), (2, "Blue"), ("green", "Green")):
        result = await hand.do("select_option", "One", options=wanted)
        assert result.effect.value == value
    result = await hand.do("select_option", "Many", options=["Red", "Blue"])
    assert result.effect.value == "Red, Blue"
    await hand.do("select_option", "Fruit", options="Pear")
    assert await hand.out() == "fruit Pear"
    await hand.do("select_option", "Colours", options="Pink")
    assert await hand.out() == "colour Pink"
    await hand.do("select_option", "City", options="Berlin")
    assert await hand.out() == "city Berlin"
    missing = await hand.attempt("select_option", "One", options="Purple")
    assert missing.error is not None and "Red, Green, Blue" in missing.error.message


async def test_dragging(hand: Hand) -> None:
    await hand.do("drag_and_drop", from_bid=hand.ids["Parcel"], to_bid=hand.ids["Shelf"])
    assert await hand.out() == "dropped it"
    await hand.do("drag_and_drop", from_bid=hand.ids["Slider"], to_bid=hand.ids["Shelf"])
    assert await hand.out() == "slid"


async def test_uploads_to_a_field_and_by_a_button(hand: Hand, tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("1")
    two.write_text("2")
    await hand.do("upload_file", "File", file=str(one))
    assert await hand.out() == "file one.txt"
    await hand.do("upload_file", "Choose", file=[str(one), str(two)])
    assert await hand.out() == "chosen one.txt,two.txt"


async def test_scrolling_a_region(hand: Hand) -> None:
    await hand.do("scroll_element", "In box", direction="down")
    ended = await hand.context.act(Action("scroll_element", {"bid": hand.ids["In box"], "direction": "left"}))
    assert ended.error is None and "is at its end" in str(ended.value)
    await hand.do("click", "Deep in box")


async def test_a_replaced_element_is_found_again_by_its_old_id(hand: Hand) -> None:
    old = hand.ids["Replace me"]
    await hand.do("click", "Replace me")
    await hand.context.act(Action("click", {"bid": old}))
    assert await hand.out() == "replaced"


async def test_disabled_and_missing_elements_are_typed_errors(hand: Hand) -> None:
    disabled = await hand.attempt("click", "Disabled")
    assert disabled.error is not None and disabled.error.code == "element_not_usable"
    missing = await hand.context.act(Action("click", {"bid": "98765"}))
    assert missing.error is not None and missing.error.code == "element_missing"
    no_frame = await hand.context.act(Action("click", {"bid": "zz1"}))
    assert no_frame.error is not None and no_frame.error.code == "element_missing"


async def test_downloads_from_everywhere(hand: Hand) -> None:
    result = await hand.do("download", "Notes")
    assert result.effect.download
    assert (result.value["filename"], result.value["text"]) == ("notes.txt", "some notes")


async def test_waiting_for_what_comes_late(hand: Hand) -> None:
    await hand.do("click", "Later")
    await hand.do("wait_for", text="late news", timeout=60)
    await hand.do("wait_for", "Press me")
    timed_out = await hand.attempt("wait_for", text="never said", timeout=0.3)
    assert timed_out.error is not None and timed_out.error.code == "action_timeout"


# --- what is the same wherever the element is ------------------------------------------------------------------


async def test_something_covered_by_another_control_is_not_clicked_and_that_is_said(main: Hand) -> None:
    assert "Under" not in main.ids  # an observation does not offer it
    await main.context.read("() => document.querySelector('#cover i').style.display = 'none'")
    await main.look()
    await main.context.read("() => document.querySelector('#cover i').style.display = ''")
    said = (await main.attempt("click", "Under")).error
    assert said is not None and "is covered by [" in said.message and said.message.endswith("nothing was clicked")
    assert await main.out() != "cover clicked"


async def test_points_of_the_viewport(main: Hand, tmp_path: Path) -> None:
    seen = await main.look()
    boxes = {element.name: element.box for element in clickable_elements(seen.elements)}

    def middle(name: str) -> tuple[float, float]:
        box = boxes[name]
        assert box is not None
        return box.x + box.width / 2, box.y + box.height / 2

    x, y = middle("Press me")
    await main.do("mouse_click", x=x, y=y)
    assert await main.out() == "clicked 0"
    await main.do("mouse_dblclick", x=x, y=y)
    assert await main.out() == "double"
    await main.do("mouse_down", x=x, y=y, button="left")
    await main.do("mouse_up", x=x, y=y, button="left")
    assert await main.out() == "clicked 0"
    x, y = middle("Hover me")
    await main.do("mouse_move", x=x, y=y)
    assert await main.out() == "hovered"
    (from_x, from_y), (to_x, to_y) = middle("Parcel"), middle("Shelf")
    await main.do("mouse_drag_and_drop", from_x=from_x, from_y=from_y, to_x=to_x, to_y=to_y)
    assert await main.out() == "dropped it"
    file = tmp_path / "pointed.txt"
    file.write_text("1")
    x, y = middle("Choose")
    await main.do("mouse_upload_file", x=x, y=y, file=str(file))
    assert await main.out() == "chosen pointed.txt"
    await main.do("scroll_at", x=300, y=300, dx=0, dy=400)
    await main.context.settle(quiet_s=0.1)
    assert (await main.look()).scroll[1] > 0


async def test_the_keyboard(main: Hand) -> None:
    await main.do("focus", "Text")
    assert (await main.do("keyboard_type", text="Hi")).effect.value == "Hi"
    assert (await main.do("keyboard_insert_text", text=" you")).effect.value == "Hi you"
    await main.do("keyboard_down", key="Shift")
    assert (await main.do("keyboard_press", key_comb="ArrowLeft")).error is None
    await main.do("keyboard_up", key="Shift")
    assert (await main.do("keyboard_press", key_comb="Delete")).effect.value == "Hi yo"
    await main.do("keyboard_press", key_comb="ctrl+A")
    assert (await main.do("keyboard_press", key_comb="Backspace")).effect.value == ""
    await main.do("keyboard_type", text="12345")
    assert (await main.do("keyboard_press", key_comb="Backspace", times=3)).effect.value == "12"
    assert (await main.do("press", "Text", key_comb="Backspace", times=2)).effect.value == ""


async def test_scrolling_the_page(main: Hand) -> None:
    await main.do("scroll", dx=0, dy=500)
    assert (await main.look()).scroll == (0, 500)
    await main.do("scroll", dx=0, dy=-500)
    assert (await main.do("scroll", dx=0, dy=-500)).value == "the page is at its end that way"


async def test_links_and_history(main: Hand, site: Site) -> None:
    clicked = await main.do("click", "Second page")
    assert clicked.effect.url == f"{site.url}/second"
    assert (await main.do("go_back")).effect.url == f"{site.url}/acts"
    assert (await main.do("go_forward")).effect.url == f"{site.url}/second"
    assert (await main.attempt("go_forward")).error is not None
    assert (await main.do("reload")).effect.dom_changed
    assert (await main.do("goto", url=f"{site.url}/acts")).effect.url == f"{site.url}/acts"
    refused = await main.attempt("goto", url="file:///etc/passwd")
    assert refused.error is not None and refused.error.code == "action_refused"
    missing = await main.attempt("goto", url=f"{site.url}/missing")
    assert missing.error is not None and "404" in missing.error.message


async def test_a_link_that_answers_without_content_leaves_the_page_and_does_not_wait(
    browser: Browser, site: Site
) -> None:
    hand = Hand(await browser.new_context(ContextOptions(action_timeout_s=90, navigation_timeout_s=90)))
    await hand.open(site, "main")
    result = await hand.do("click", "No content")
    assert hand.context.url == f"{site.url}/acts"
    assert result.seconds < 45, "no limit is waited for"
    await hand.context.close()


async def test_a_window_that_the_page_opens_becomes_the_tab(main: Hand, site: Site) -> None:
    result = await main.do("click", "New window")
    assert result.effect.new_tab
    seen = await main.look()
    assert ([tab.title for tab in seen.tabs], seen.active_tab) == (["Acts", "Second"], 1)
    await main.do("tab_focus", index=0)
    assert main.context.url == f"{site.url}/acts"
    await main.do("tab_focus", index=1)
    await main.do("tab_close")
    assert main.context.url == f"{site.url}/acts"
    await main.do("new_tab")
    assert main.context.url == "about:blank"
    await main.do("goto", url=f"{site.url}/second")
    wrong = await main.attempt("tab_focus", index=7)
    assert wrong.error is not None and wrong.error.code == "action_invalid"
    await main.do("tab_close")
    await main.do("tab_close")
    assert len((await main.look()).tabs) == 1


async def test_dialogs_are_answered_and_told(main: Hand) -> None:
    for name in ("Alert", "Confirm", "Prompt"):
        assert (await main.do("click", name)).effect.dialog
    seen = await main.context.observe()
    assert [(one.kind, one.message, one.answer) for one in seen.dialogs] == [
        ("alert", "hello", "accepted"),
        ("confirm", "sure?", "accepted"),
        ("prompt", "name?", "Kim"),
    ]
    assert (await main.context.observe()).dialogs == ()


async def test_dialogs_can_be_dismissed(browser: Browser, site: Site) -> None:
    hand = Hand(await browser.new_context(ContextOptions(accept_dialogs=False)))
    await hand.open(site, "main")
    await hand.do("click", "Confirm")
    assert await hand.out() == "no"
    await hand.context.close()


async def test_a_page_that_asks_before_it_is_left_is_left(context: Context, site: Site) -> None:
    await context.goto(f"{site.url}/leave")
    seen = await context.observe()
    (button,) = clickable_elements(seen.elements)
    await context.act(Action("click", {"bid": button.bid}))
    landing = await context.goto(f"{site.url}/second")
    assert landing.url == f"{site.url}/second"
    assert [one.kind for one in (await context.observe()).dialogs] == ["beforeunload"]


async def test_a_pdf_is_stored_and_its_text_is_in_the_next_observation(main: Hand, tmp_path: Path) -> None:
    await main.do("download", "Invoice")
    (file,) = (await main.context.observe()).downloads
    assert (file.filename, file.text) == ("invoice.pdf", "[page 1]\nInvoice 7")
    assert Path(file.path).read_bytes().startswith(b"%PDF")


async def test_downloads_land_in_the_named_folder_and_too_large_ones_do_not(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    options = ContextOptions(downloads_dir=str(tmp_path))
    hand = Hand(await browser.new_context(options))
    await hand.open(site, "main")
    await hand.do("download", "Notes")
    await hand.do("download", "Notes")
    await hand.context.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["notes-2.txt", "notes.txt"]

    hand = Hand(await browser.new_context(replace(options, max_download_bytes=5)))
    await hand.open(site, "main")
    result = await hand.attempt("download", "Notes")
    assert result.error is not None and result.error.code == "download_failed"
    await hand.context.close()


async def test_a_download_that_grows_too_large_is_ended_while_it_comes(browser: Browser, site: Site) -> None:
    hand = Hand(await browser.new_context(ContextOptions(max_download_bytes=20_000, download_timeout_s=100)))
    await hand.open(site, "main")
    result = await hand.attempt("download", "Endless")
    assert result.error is not None and "20000 are allowed" in result.error.message
    assert result.error.code == "download_failed"
    assert result.seconds < 60, "it trickles for ever; the limit of time is 100 s"
    await hand.do("download", "Notes")
    await hand.context.close()


async def test_a_page_is_kept_as_a_pdf(main: Hand) -> None:
    result = await main.do("save_as_pdf")
    assert result.value["filename"] == "Acts.pdf"
    (file,) = (await main.context.observe()).downloads
    assert Path(file.path).read_bytes().startswith(b"%PDF")
    assert "nothing yet" in file.text


async def test_elements_are_found_by_selectors_where_words_do_not_tell(main: Hand) -> None:
    seen = await main.look()
    twice = {"action": "Click", "description": "", "ui_element": {"cssSelector": "#far", "xpath": "", "type": ""}}
    (action,) = await read_reply_on("webaction", json.dumps([twice]), seen.elements, main.context)
    await main.context.act(action)
    assert await main.out() == "far"
    path = {**twice, "ui_element": {"xpath": "//button[text()='Press me']", "label": "renamed since"}}
    (action,) = await read_reply_on("webaction", json.dumps([path]), seen.elements, main.context)
    assert action.args["bid"] == main.ids["Press me"]
    assert list(await main.context.locate(["button", "#no such[", "//nothing", "#far"])) == [
        *(None, None, None),
        main.ids["Far away"],
    ]


async def test_the_page_gives_selectors_that_find_their_elements_again(main: Hand) -> None:
    for name, bid in main.ids.items():
        told = await main.context.selectors(bid)
        assert told is not None, name
        assert list(await main.context.locate(told)) == [bid, bid], (name, told)
    written = await write_reply_on(
        "webaction", [Action("click", {"bid": main.ids["Far away"]})], (await main.look()).elements, main.context
    )
    assert json.loads(written)[0]["ui_element"]["cssSelector"] == "#far"


async def test_a_click_that_gives_no_file_is_a_failed_download(main: Hand) -> None:
    result = await main.attempt("download", "Press me")
    assert result.error is not None and result.error.code == "download_failed"


async def test_uploads_of_urls_and_artifacts_and_only_from_allowed_folders(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    async def fetch(reference: str) -> Upload:
        return Upload(f"{reference}.bin", b"stored")

    options = ContextOptions(hooks=Hooks(fetch=fetch), upload_dirs=(str(tmp_path),))
    hand = Hand(await browser.new_context(options))
    await hand.open(site, "main")
    await hand.do("upload_file", "File", file=f"{site.url}/file/notes.txt")
    assert await hand.out() == "file notes.txt"
    await hand.do("upload_file", "File", file="artifact-7")
    assert await hand.out() == "file artifact-7.bin"
    refused = await hand.attempt("upload_file", "File", file=__file__)
    assert refused.error is not None and refused.error.code == "action_refused"
    await hand.context.close()


async def test_searching_with_a_configured_engine_and_code_when_it_is_allowed(browser: Browser, site: Site) -> None:
    hand = Hand(
        await browser.new_context(ContextOptions(search_url=f"{site.url}/second?q={{query}}", allow_python=True))
    )
    await hand.do("search", query="two words")
    assert hand.context.url == f"{site.url}/second?q=two+words"
    await hand.do("python", code="await page.set_content('<h1>By code</h1>')\nawait send_msg_to_user('done')")
    seen = await hand.context.observe()
    assert "By code" in compact(seen.elements)
    assert seen.messages == (("assistant", "done"),)
    broken = await hand.attempt("python", code="1/0")
    assert broken.error is not None and "ZeroDivisionError" in broken.error.message
    await hand.context.close()


async def test_a_page_that_waits_long_for_its_turn_has_all_its_time_afterwards(browser: Browser, site: Site) -> None:
    async def navigation_guard(url: str) -> None:
        turn = asyncio.Event()
        asyncio.get_running_loop().call_later(6.5, turn.set)  # longer than the action may take, and some grace
        await turn.wait()

    options = ContextOptions(navigation_timeout_s=4, action_timeout_s=4, hooks=Hooks(navigation_guard=navigation_guard))
    hand = Hand(await browser.new_context(options))
    assert (await hand.do("goto", url=f"{site.url}/second")).effect.url == f"{site.url}/second"
    await hand.open(site, "main")
    await hand.do("upload_file", "File", file=f"{site.url}/file/notes.txt")
    assert await hand.out() == "file notes.txt"
    await hand.context.close()


async def test_a_verification_code_is_fetched_and_filled(browser: Browser, site: Site) -> None:
    async def code(url: str) -> str:
        return "123456"

    hand = Hand(await browser.new_context(ContextOptions(hooks=Hooks(verification_code=code))))
    await hand.open(site, "main")
    assert (await hand.do("enter_verification_code", "Text")).effect.value == "123456"
    await hand.context.close()


async def test_control_and_chat_change_nothing(main: Hand) -> None:
    for action in (
        Action("complete"),
        Action("terminate", {"reason": "r", "errors": ["e"]}),
        Action("answer", {"text": "42"}),
        Action("report_infeasible", {"reason": "r"}),
        Action("send_msg_to_user", {"text": "t"}),
        Action("noop", {"wait_ms": 10}),
    ):
        result = await main.context.act(action)
        assert result.error is None
        assert not result.effect.dom_changed


async def test_the_last_action_and_its_error_are_told(main: Hand) -> None:
    await main.context.act(Action("click", {"bid": "98765"}))
    seen = await main.context.observe()
    assert seen.last_action == "click('98765')"
    assert "98765" in seen.last_error
