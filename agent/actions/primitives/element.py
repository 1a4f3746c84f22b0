"""Actions on an element that an observation gave an id."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from shoal.agent.actions.action_context import ActionContext, ActionTarget, Direction
from shoal.agent.actions.arguments import Bid, Files, Keys, Option, Options, Place, Times, keys
from shoal.agent.actions.primitives.options import (
    PATIENCE_MS,
    choose_same,
    fill_suggested,
    select_in_widget,
    select_native,
    type_over,
)
from shoal.agent.errors import ActionTimeout, ElementNotUsable
from shoal.agent.types import Button, Download, Modifier

_FORCE_MS = 2000.0
"""Milliseconds of an action's time that are kept for a click by force."""
_LIST_S = 0.5
"""Seconds that a list of suggestions may take to open after the last key: widgets wait 100 to 400 ms before they ask.
"""
_ENABLED_POLL_S = 0.1
_EDGE_PX = 3.0
_WRITTEN = frozenset({"text", "search", "email", "url", "tel", "password", ""})


async def click(on: ActionContext, bid: Bid, button: Button = "left", modifiers: Sequence[Modifier] = ()) -> None:
    """Clicks an element: scrolls to it, waits until it takes clicks. Fails, saying so, when the click hits another.

    Examples:
        click('12')
        click('a46', button='right')
        click('48', modifiers=['Shift', 'Control'])
    """
    await _click(on, bid, 1, button, modifiers)


async def _enabled(on: ActionContext, bid: str) -> ActionTarget:
    """An element once it is enabled: what was filled in just before may enable it a moment later.

    Raises:
        ElementNotUsable: it stays disabled.
    """
    target, ends = await on.target(bid), time.monotonic() + min(PATIENCE_MS, on.left_ms / 2) / 1000
    while target.disabled:
        if time.monotonic() >= ends:
            raise ElementNotUsable(f"element {bid} is disabled, and stays so")
        with on.faults():  # what was told of it holds no longer
            await asyncio.sleep(_ENABLED_POLL_S)
        target = await on.target(bid, again=True)
    return target


async def dblclick(on: ActionContext, bid: Bid, button: Button = "left", modifiers: Sequence[Modifier] = ()) -> None:
    """Double-clicks an element.

    Examples:
        dblclick('12')
    """
    await _click(on, bid, 2, button, modifiers)


async def _click(
    on: ActionContext,
    bid: str,
    count: int,
    button: Button,
    modifiers: Sequence[Modifier],
    at: tuple[float, float] | None = None,
) -> None:
    """Clicks once, whatever the page does: what may have reached the page is never sent again.

    Args:
        at: in pixels from the element's corner; None: in its middle.
    """
    target = await _enabled(on, bid)
    element = await on.element(bid, clickable=True)
    how: dict[str, Any] = {"button": button, "modifiers": list(modifiers), "click_count": count}
    if at is not None:
        how["position"] = {"x": at[0], "y": at[1]}
    if target.spot is not None:
        with on.faults():
            await element.click(**how, **_on_picture(target.spot), timeout=on.left_ms)
        return
    if target.forced or not (target.open or await on.opens(bid) or await _takes_clicks(on, element)):
        await _force(on, bid, element, how)
        return
    try:
        with on.faults():
            await element.click(**how, timeout=max(on.left_ms - _FORCE_MS, on.left_ms / 2))
    except ElementNotUsable as error:
        if not _is_obstructed(error):
            raise
        await _force(on, bid, element, how)


async def _force(on: ActionContext, bid: str, element: Any, how: dict[str, Any]) -> None:
    """Clicks where the element is although something lies over it.

    Raises:
        ElementNotUsable: the click would go to another control or to a dialog, and was not made; or it hit something
            else than the element.
    """
    if (cover := await on.over(bid)) is not None and cover.bid:
        raise ElementNotUsable(f"element {bid} is covered by [{cover.bid}] {cover.name}; nothing was clicked")
    await on.watch_click(bid)
    with on.faults():
        await element.click(**how, force=True, timeout=on.left_ms)
    if (hit := await on.click_hit(bid)) is not None:
        raise ElementNotUsable(f"the click hit {hit}, which lies over element {bid}")


def _on_picture(spot: tuple[float, float]) -> dict[str, Any]:
    """Return how the mouse comes to an area: by force, since the area takes what is meant for its picture."""
    return {"position": {"x": spot[0], "y": spot[1]}, "force": True}


async def _takes_clicks(on: ActionContext, element: Any) -> bool:
    """Return whether the element comes into the open within some time; nothing is clicked for it."""
    try:
        with on.faults():
            await element.click(trial=True, timeout=min(PATIENCE_MS, on.left_ms / 2))
    except ActionTimeout:
        return False
    except ElementNotUsable as error:
        if not _is_obstructed(error):
            raise
        return False
    return True


def _is_obstructed(error: ElementNotUsable) -> bool:
    """Return whether something lay over the element or it did not come to rest, and so no click reached it."""
    return "intercepts pointer events" in error.message or "not stable" in error.message


async def hover(on: ActionContext, bid: Bid) -> None:
    """Moves the mouse over an element, for example to open a menu.

    Examples:
        hover('b8')
    """
    element, spot = await on.element(bid, clickable=True), (await on.target(bid)).spot
    if spot is not None:
        with on.faults():
            await element.hover(**_on_picture(spot), timeout=on.left_ms)
        return
    try:
        with on.faults():
            await element.hover(timeout=min(PATIENCE_MS, on.left_ms))
    except (ElementNotUsable, ActionTimeout):
        with on.faults():
            await element.hover(force=True, timeout=on.left_ms)


async def focus(on: ActionContext, bid: Bid) -> None:
    """Gives an element the keyboard focus.

    Examples:
        focus('b45')
    """
    element = await on.element(bid)
    with on.faults():
        await element.focus(timeout=on.left_ms)


async def clear(on: ActionContext, bid: Bid) -> None:
    """Empties a field.

    Examples:
        clear('996')
    """
    element = await on.element(bid)
    with on.faults():
        await element.clear(timeout=min(PATIENCE_MS, on.left_ms))


async def fill(on: ActionContext, bid: Bid, value: str, enable_autocomplete_menu: bool = False) -> None:
    """Replaces what is in a field: text, number, date (2026-03-14), time (14:30), colour (#ff0000), range.

    Fields that listen for keys or suggest values, or enable_autocomplete_menu, are typed into key by key; a list that
    opens is waited for. In a combo box the one option that is the same text is chosen.

    Examples:
        fill('237', 'example value')
        fill('45', 'multi-line\\nexample')
        fill('a12', 'Par', enable_autocomplete_menu=True)
    """
    target = await _enabled(on, bid)
    if target.tag == "select":
        await select_option(on, bid, value)
        return
    element = await on.element(bid)
    typed = _is_typed(target, value, enable_autocomplete_menu)
    if typed:
        await on.before_opening(bid)
    with on.faults():
        await _put(on, element, target, value, typed=typed)
    if value and target.tag == "input" and not (await on.target(bid, again=True)).value:
        raise ElementNotUsable(f"the {target.type} field {bid} does not take {value!r}")
    if typed and (target.suggests or enable_autocomplete_menu):
        await on.list_opens(bid, _LIST_S)
        if target.chooses:
            await choose_same(on, bid, value)


async def _put(on: ActionContext, element: Any, target: ActionTarget, value: str, *, typed: bool) -> None:
    """Puts a text into a field in place of what it holds."""
    if not _fillable(target):
        await _type_inside(on, element, value)
        return
    if typed:
        await type_over(on, element, target, value)
        now = (await on.target(target.bid, again=True)).value
        if now != target.value or now == value:
            return  # else it takes no keys at all
    else:  # a focus that comes once its text is selected may bring another one
        await element.focus(timeout=min(PATIENCE_MS, on.left_ms))
    with on.faults():  # what was just told of it holds no longer
        await element.fill(value, timeout=min(PATIENCE_MS, on.left_ms))


def _is_typed(target: ActionTarget, value: str, asked: bool) -> bool:
    """Return whether a field is filled key by key, as a person does:
    it listens for keys, or opens a list as one types.
    """
    written = target.editable or target.tag == "textarea" or (target.tag == "input" and target.type in _WRITTEN)
    return (
        written
        and (asked or target.keys or target.suggests)
        and not target.readonly
        and "\n" not in value
        and value != ""
    )


def _fillable(target: ActionTarget) -> bool:
    return target.tag in ("input", "textarea") or target.editable


async def _type_inside(on: ActionContext, element: Any, value: str) -> None:
    """Fills a widget whose real field is inside it, or gets the focus when the widget is clicked."""
    field = element.locator("input:not([type=hidden]), textarea, [contenteditable]:not([contenteditable=false])").first
    if await field.count():
        await field.fill(value, timeout=min(PATIENCE_MS, on.left_ms))
        return
    await element.click(timeout=min(PATIENCE_MS, on.left_ms))
    await on.page.keyboard.press("ControlOrMeta+a")
    await on.page.keyboard.insert_text(value)


async def check(on: ActionContext, bid: Bid) -> None:
    """Checks a check box or radio button, or turns a switch on. Does nothing when it is on already.

    Examples:
        check('55')
    """
    await _set_checked(on, bid, True)


async def uncheck(on: ActionContext, bid: Bid) -> None:
    """Unchecks a check box, or turns a switch off. Does nothing when it is off already.

    Examples:
        uncheck('a5289')
    """
    await _set_checked(on, bid, False)


async def _set_checked(on: ActionContext, bid: str, checked: bool) -> None:
    target = await _enabled(on, bid)
    if _is_checked(target) is checked:
        return
    if _is_checked(target) is None:
        raise ElementNotUsable(
            f"element {bid} cannot be checked: it is neither a check box, a radio button nor a switch"
        )
    spot = await on.setting_spot(bid)
    if spot == "nowhere":  # its label is nothing but links; the box itself is not drawn
        await on.set_by_script(bid)
    else:
        await _click(on, bid, 1, "left", (), None if spot == "anywhere" else spot)
    if _is_checked(await on.target(bid, again=True)) is not checked:
        raise ElementNotUsable(f"element {bid} did not change its state when it was clicked")


def _is_checked(target: ActionTarget) -> bool | None:
    """None when the element is of no kind that can be checked."""
    if target.tag == "input" and target.type in ("checkbox", "radio"):
        return target.value == "checked"
    return {"true": True, "false": False, "mixed": False}.get(target.value or "")


async def press(on: ActionContext, bid: Bid, key_comb: Keys, times: Times = 1) -> None:
    """Focuses an element and presses a key or a combination of keys, one or several times.

    Examples:
        press('88', 'Backspace')
        press('a26', 'Control+a')
        press('88', 'ArrowRight', times=4)
    """
    element = await on.element(bid)
    with on.faults():
        for _ in range(times):
            await element.press(keys(key_comb), timeout=on.left_ms)


async def select_option(on: ActionContext, bid: Bid, options: Options) -> None:
    """Chooses one or several options by label, value or index, in a select, list box or combo box of any make.

    Examples:
        select_option('48', 'blue')
        select_option('48', ['red', 'green'])
        select_option('48', 2)
    """
    items: list[Option] = list(options) if isinstance(options, list) else [options]
    target = await _enabled(on, bid)
    element = await on.element(bid)
    with on.faults():
        if target.tag == "select":
            await select_native(on, bid, element, items, hidden=target.label)
        elif target.tag == "input" and (suggested := await on.options(bid)):
            await fill_suggested(on, element, suggested, items)
        else:
            await select_in_widget(on, element, target, items)


async def drag_and_drop(on: ActionContext, from_bid: Bid, to_bid: Bid, place: Place = "on") -> None:
    """Drags one element onto another, or between two: to just before or after the other one.

    Examples:
        drag_and_drop('56', '498')
        drag_and_drop('12', '15', place='before')
    """
    source, goal = await on.element(from_bid), await on.element(to_bid)
    mouse = on.page.mouse
    with on.faults():
        at = await _edge_of(goal, place)
        await source.hover(timeout=min(PATIENCE_MS, on.left_ms))
        await mouse.down()
        try:
            # Twice: the first move begins a drag, and only a further one tells the target of it.
            await goal.hover(force=True, timeout=on.left_ms)
            await goal.hover(force=True, timeout=on.left_ms, **at)
        finally:
            await mouse.up()


async def _edge_of(element: Any, place: Place) -> dict[str, Any]:
    """The point in an element that stands for what lies before or after it in a list, as an argument of a move."""
    box = await element.bounding_box() if place != "on" else None
    if box is None:
        return {}
    inset = min(_EDGE_PX, box["height"] / 4)
    return {"position": {"x": box["width"] / 2, "y": inset if place == "before" else box["height"] - inset}}


async def upload_file(on: ActionContext, bid: Bid, file: Files) -> None:
    """Gives a file, or several, to a file field, or to a button that asks for a file.

    Examples:
        upload_file('572', '/path/to/my_receipt.pdf')
        upload_file('63', ['/path/to/bob/Documents/image.jpg', 'https://example.com/terms.pdf'])
    """
    paths = await on.upload_paths([file] if isinstance(file, str) else file)
    target = await on.target(bid)
    element = await on.element(bid)
    with on.faults():
        if target.tag == "input" and target.type == "file":
            await element.set_input_files(paths, timeout=on.left_ms)
            return
        async with on.page.expect_file_chooser(timeout=on.left_ms) as chooser:
            await element.click(timeout=min(PATIENCE_MS, on.left_ms))
        await (await chooser.value).set_files(paths, timeout=on.left_ms)


async def scroll_element(on: ActionContext, bid: Bid, direction: Direction) -> str | None:
    """Scrolls the region of the page that holds the element, by most of its height or width.

    Examples:
        scroll_element('a12', 'down')
    """
    moved = await on.scroll_region(bid, direction)
    return None if moved else f"the region around element {bid} is at its end: it does not go further {direction}"


async def download(on: ActionContext, bid: Bid) -> dict[str, Any]:
    """Clicks an element that gives a file, and waits for the file. A PDF's text comes with the next observation.

    Examples:
        download('17')
    """
    begun, sure = on.downloads_begun(), (await on.target(bid)).file
    await _click(on, bid, 1, "left", ())
    return _download_details(await on.next_download(begun, sure=sure))


def _download_details(file: Download) -> dict[str, Any]:
    return {"filename": file.filename, "bytes": file.bytes, "url": file.url, "text": file.text[:2000]}
