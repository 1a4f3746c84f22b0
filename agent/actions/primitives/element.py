"""Actions on an element that an observation gave an id."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from shoal.agent.actions.action_context import ActionContext, ActionTarget, Direction
from shoal.agent.actions.arguments import Bid, Button, Files, Keys, Modifier, Option, Options, Times, keys
from shoal.agent.errors import ActionTimeout, ElementNotUsable
from shoal.agent.types import Download

_PATIENCE_MS = 3000.0
"""How long to wait for an element to come into the open before it is clicked by force."""
_FORCE_MS = 2000.0
"""How much of an action's time is kept for a click by force."""
_LIST_S = 0.5
"""How long a list of suggestions may take to open after the last key: widgets wait 100 to 400 ms before they ask."""
_TYPED_CHARS = 60
"""Of a text so much at its end is typed key by key."""
_WRITTEN = frozenset({"text", "search", "email", "url", "tel", "password", ""})
_OPTION_TRIES = 6
_OPTION_PAUSE_S = 0.25
"""How long a list of options may take to open."""


async def click(on: ActionContext, bid: Bid, button: Button = "left", modifiers: Sequence[Modifier] = ()) -> None:
    """Clicks an element: scrolls to it, waits until it takes clicks. Fails, saying so, when the click hits another.

    Examples:
        click('12')
        click('a46', button='right')
        click('48', modifiers=['Shift', 'Control'])
    """
    await _click(on, bid, 1, button, modifiers)


async def dblclick(on: ActionContext, bid: Bid, button: Button = "left", modifiers: Sequence[Modifier] = ()) -> None:
    """Double-clicks an element.

    Examples:
        dblclick('12')
    """
    await _click(on, bid, 2, button, modifiers)


async def _click(on: ActionContext, bid: str, count: int, button: Button, modifiers: Sequence[Modifier]) -> None:
    """Clicks once, whatever the page does: what may have reached the page is never sent again."""
    target = await on.target(bid)
    if target.disabled:
        raise ElementNotUsable(f"element {bid} is disabled")
    element = await on.element(bid, clickable=True)
    how: dict[str, Any] = {"button": button, "modifiers": list(modifiers), "click_count": count}
    if target.spot is not None:
        with on.faults():
            await element.click(**how, **_on_picture(target.spot), timeout=on.left_ms)
        return
    if not (target.open or await on.opens(bid) or await _takes_clicks(on, element)):
        await _force(on, bid, element, how)
        return
    try:
        with on.faults():
            await element.click(**how, timeout=max(on.left_ms - _FORCE_MS, on.left_ms / 2))
    except ElementNotUsable as error:
        if not _held_back(error):
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
    """How the mouse comes to an area: by force, since the area takes what is meant for its picture."""
    return {"position": {"x": spot[0], "y": spot[1]}, "force": True}


async def _takes_clicks(on: ActionContext, element: Any) -> bool:
    """Whether the element comes into the open within some time; nothing is clicked for it."""
    try:
        with on.faults():
            await element.click(trial=True, timeout=min(_PATIENCE_MS, on.left_ms / 2))
    except ActionTimeout:
        return False
    except ElementNotUsable as error:
        if not _held_back(error):
            raise
        return False
    return True


def _held_back(error: ElementNotUsable) -> bool:
    """Whether something lay over the element or it did not come to rest, and so no click reached it."""
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
            await element.hover(timeout=min(_PATIENCE_MS, on.left_ms))
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
        await element.clear(timeout=min(_PATIENCE_MS, on.left_ms))


async def fill(on: ActionContext, bid: Bid, value: str, enable_autocomplete_menu: bool = False) -> None:
    """Replaces what is in a field: text, number, date (2026-03-14), time (14:30), colour (#ff0000), range.

    Fields that listen for keys or suggest values, or enable_autocomplete_menu, are typed into key by key; a list that
    opens is waited for.

    Examples:
        fill('237', 'example value')
        fill('45', 'multi-line\\nexample')
        fill('a12', 'Par', enable_autocomplete_menu=True)
    """
    target = await on.target(bid)
    if target.disabled:
        raise ElementNotUsable(f"element {bid} is disabled")
    if target.tag == "select":
        await select_option(on, bid, value)
        return
    element = await on.element(bid)
    typed = _is_typed(target, value, enable_autocomplete_menu)
    if typed:
        await on.before_opening(bid)
    with on.faults():
        if not _fillable(target):
            await _type_inside(on, element, value)
        elif typed:
            await _type(on, element, target, value)
            if (now := (await on.target(bid, again=True)).value) == target.value and now != value:
                with on.faults():  # it takes no keys at all; what was just told of it holds no longer
                    await element.fill(value, timeout=min(_PATIENCE_MS, on.left_ms))
        else:
            await element.fill(value, timeout=min(_PATIENCE_MS, on.left_ms))
    if value and target.tag == "input" and not (await on.target(bid, again=True)).value:
        raise ElementNotUsable(f"the {target.type} field {bid} does not take {value!r}")
    if typed and (target.suggests or enable_autocomplete_menu):
        await on.list_opens(bid, _LIST_S)


def _is_typed(target: ActionTarget, value: str, asked: bool) -> bool:
    """Whether a field is filled key by key, as a person does: it listens for keys, or opens a list as one types."""
    written = target.editable or target.tag == "textarea" or (target.tag == "input" and target.type in _WRITTEN)
    return (
        written
        and (asked or target.keys or target.suggests)
        and not target.readonly
        and "\n" not in value
        and value != ""
    )


async def _type(on: ActionContext, element: Any, target: ActionTarget, value: str) -> None:
    """Types over what is in the field. Of a long text only the end is typed; the rest is put in at once."""
    if target.value:
        await element.select_text(timeout=min(_PATIENCE_MS, on.left_ms))
    else:
        await element.focus(timeout=min(_PATIENCE_MS, on.left_ms))
    put, typed = value[:-_TYPED_CHARS], value[-_TYPED_CHARS:]
    if put:
        await on.page.keyboard.insert_text(put)
    await on.page.keyboard.type(typed)


def _fillable(target: ActionTarget) -> bool:
    return target.tag in ("input", "textarea") or target.editable


async def _type_inside(on: ActionContext, element: Any, value: str) -> None:
    """Fills a widget whose real field is inside it, or gets the focus when the widget is clicked."""
    field = element.locator("input:not([type=hidden]), textarea, [contenteditable]:not([contenteditable=false])").first
    if await field.count():
        await field.fill(value, timeout=min(_PATIENCE_MS, on.left_ms))
        return
    await element.click(timeout=min(_PATIENCE_MS, on.left_ms))
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
    target = await on.target(bid)
    if target.disabled:
        raise ElementNotUsable(f"element {bid} is disabled")
    if _is_checked(target) is checked:
        return
    if _is_checked(target) is None:
        raise ElementNotUsable(
            f"element {bid} cannot be checked: it is neither a check box, a radio button nor a switch"
        )
    await _click(on, bid, 1, "left", ())
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
    target = await on.target(bid)
    if target.disabled:
        raise ElementNotUsable(f"element {bid} is disabled")
    element = await on.element(bid)
    with on.faults():
        if target.tag == "select":
            await _select_native(on, bid, element, items, hidden=target.label)
        elif target.tag == "input" and (suggested := await on.options(bid)):
            await _fill_suggested(on, element, suggested, items)
        else:
            await _select_in_widget(on, element, target, items)


async def _select_native(on: ActionContext, bid: str, element: Any, items: list[Option], *, hidden: bool) -> None:
    """Chooses in the select itself. One that is `hidden` behind a script's widget tells the widget by its events."""
    for attempt in range(_OPTION_TRIES):
        there = await on.options(bid)
        indices = [_option_index(there, item) for item in items]
        if None not in indices:
            if off := [there[index][0] for index in indices if index is not None and there[index][2]]:
                raise ElementNotUsable(f"the option {', '.join(map(repr, off))} is disabled")
            await element.select_option(index=indices, timeout=on.left_ms, force=hidden)
            return
        if attempt + 1 < _OPTION_TRIES:  # options that depend on another field come a moment later
            await asyncio.sleep(_OPTION_PAUSE_S)
    raise _no_option([item for item, index in zip(items, indices, strict=True) if index is None], there)


def _no_option(missing: Sequence[Option], there: list[tuple[str, str, bool]]) -> ElementNotUsable:
    listed = ", ".join(label for label, _, _ in there[:30])
    return ElementNotUsable(f"there is no option {', '.join(map(repr, missing))}; there are: {listed}")


async def _fill_suggested(
    on: ActionContext, element: Any, there: list[tuple[str, str, bool]], items: list[Option]
) -> None:
    """Fills in what the field suggests; which its list, drawn by the browser, would do when it is clicked."""
    for item in items:
        index = _option_index(there, item)
        if index is None:
            raise _no_option([item], there)
        await element.fill(there[index][1], timeout=min(_PATIENCE_MS, on.left_ms))


def _option_index(there: list[tuple[str, str, bool]], asked: Option) -> int | None:
    """Where the option is: by label or value, exactly or else but for case; a number is its position."""
    if isinstance(asked, int):
        return asked if 0 <= asked < len(there) else _option_index(there, str(asked))
    word = " ".join(asked.split())
    tests = (
        lambda option: word == option[0],
        lambda option: word == option[1],
        lambda option: word.lower() in (option[0].lower(), option[1].lower()),
    )
    return next((i for test in tests for i, option in enumerate(there) if test(option)), None)


async def _select_in_widget(on: ActionContext, element: Any, target: ActionTarget, items: list[Option]) -> None:
    """Chooses in a widget made of other elements: opened by a click or by typing, unless it is a list already."""
    for index, item in enumerate(items):
        clicked = False
        if target.tag == "input" and isinstance(item, str) and not target.readonly:
            if index == 0:  # later on its own list may be open already
                await on.before_opening(target.bid)
            await _type(on, element, await on.target(target.bid, again=True), item)
        elif target.role != "listbox" and not await _is_open(on, target.bid, item, first=index == 0):
            await on.before_opening(target.bid)
            await element.click(timeout=min(_PATIENCE_MS, on.left_ms))
            clicked = True
        choice, labels = await _choice(on, target.bid, item)
        if choice is None and clicked and not labels:  # it was open without saying so, and the click closed it
            await element.click(timeout=min(_PATIENCE_MS, on.left_ms))
            choice, labels = await _choice(on, target.bid, item)
        if choice is None:
            raise ElementNotUsable(f"there is no option {item!r}; there are: {', '.join(labels) or 'none'}")
        chosen = await on.element(choice)
        await chosen.click(timeout=min(_PATIENCE_MS, on.left_ms))


async def _is_open(on: ActionContext, bid: str, item: Option, *, first: bool) -> bool:
    """Whether the widget's list is open: as it says itself, or, once it was opened, as the item can be seen."""
    expanded = (await on.target(bid, again=True)).expanded
    if expanded is not None or first:
        return bool(expanded)
    return (await on.choice(bid, _wanted(item)))[0] is not None


def _wanted(item: Option) -> Option:
    return item if isinstance(item, int) else " ".join(item.split())


async def _choice(on: ActionContext, bid: str, item: Option) -> tuple[str | None, list[str]]:
    """The id of the item to choose, waited for while the list opens, and what there is to choose from."""
    for attempt in range(_OPTION_TRIES):
        choice, labels = await on.choice(bid, _wanted(item))
        if choice is not None:
            break
        if attempt + 1 < _OPTION_TRIES:
            await asyncio.sleep(_OPTION_PAUSE_S)
    return choice, labels


async def drag_and_drop(on: ActionContext, from_bid: Bid, to_bid: Bid) -> None:
    """Drags one element onto another.

    Examples:
        drag_and_drop('56', '498')
    """
    source, goal = await on.element(from_bid), await on.element(to_bid)
    mouse = on.page.mouse
    with on.faults():
        await source.hover(timeout=min(_PATIENCE_MS, on.left_ms))
        await mouse.down()
        try:
            # Twice: the first move begins a drag, and only a further one tells the target of it.
            await goal.hover(force=True, timeout=on.left_ms)
            await goal.hover(force=True, timeout=on.left_ms)
        finally:
            await mouse.up()


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
            await element.click(timeout=min(_PATIENCE_MS, on.left_ms))
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
    return _told(await on.next_download(begun, sure=sure))


def _told(file: Download) -> dict[str, Any]:
    return {"filename": file.filename, "bytes": file.bytes, "url": file.url, "text": file.text[:2000]}
