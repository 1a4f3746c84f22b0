"""Choosing options: in selects, in widgets of other elements, and from what a field suggests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, TypeVar

from shoal.agent.actions.action_context import ActionContext, ActionTarget
from shoal.agent.actions.arguments import Option
from shoal.agent.errors import ActionTimeout, ElementMissing, ElementNotUsable

_Item = TypeVar("_Item", str, int, Option)

PATIENCE_MS = 3000.0
"""Milliseconds to wait for an element to come into the open before it is clicked by force."""
_TYPED_CHARS = 60
"""Of a text so much at its end is typed key by key."""
_TOLD_CHARS = 200
"""An error tells no option that is longer: a part of one could be a part of a secret, which is hidden only whole."""
_OPTION_TRIES = 6
_OPTION_PAUSE_S = 0.25
"""Seconds that a list of options may take to open."""
_SUGGEST_S = 3.0
"""Seconds that a list may take to show the options that fit the typed text, once no request is open any more."""
_QUIET_S = 0.5
_TAKEN_S = 2.0
"""Seconds that a field may take to show or send the chosen option."""
_CLICK_MS = 1000.0
"""Milliseconds for one click on an option: a list that is drawn anew has no such option any more."""
_RESERVE_MS = 1500.0
"""Milliseconds of an action's time that are left for the choice itself."""


async def type_over(on: ActionContext, element: Any, target: ActionTarget, value: str) -> None:
    """Types over what is in the field. Of a long text only the end is typed; the rest is put in at once."""
    await element.focus(timeout=min(PATIENCE_MS, on.left_ms))
    if target.value or (await on.target(target.bid, again=True)).value:  # its focus may have brought a text
        await element.select_text(timeout=min(PATIENCE_MS, on.left_ms))
    put, typed = value[:-_TYPED_CHARS], value[-_TYPED_CHARS:]
    with on.faults():  # what was just told of it holds no longer
        if put:
            await on.page.keyboard.insert_text(put)
        await on.page.keyboard.type(typed)


async def select_native(on: ActionContext, bid: str, element: Any, items: list[Option], *, hidden: bool) -> None:
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
    named = ", ".join(_option_text(item) for item in missing)
    return ElementNotUsable(f"there is no option {named}; there are: {_listed([label for label, _, _ in there[:30]])}")


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(label if len(label) <= _TOLD_CHARS else _too_long(label) for label in labels) or "none"


def _option_text(item: Option) -> str:
    return _too_long(item) if isinstance(item, str) and len(item) > _TOLD_CHARS else repr(item)


def _too_long(text: str) -> str:
    return f"a text of {len(text)} characters"


async def fill_suggested(
    on: ActionContext, element: Any, there: list[tuple[str, str, bool]], items: list[Option]
) -> None:
    """Fills in what the field suggests; which its list, drawn by the browser, would do when it is clicked."""
    for item in items:
        index = _option_index(there, item)
        if index is None:
            raise _no_option([item], there)
        await element.fill(there[index][1], timeout=min(PATIENCE_MS, on.left_ms))


def _option_index(there: list[tuple[str, str, bool]], asked: Option) -> int | None:
    """Return where the option is: by label or value, exactly or else but for case; a number is its position."""
    if isinstance(asked, int):
        return asked if 0 <= asked < len(there) else _option_index(there, str(asked))
    word = " ".join(asked.split())
    tests = (
        lambda option: word == option[0],
        lambda option: word == option[1],
        lambda option: word.lower() in (option[0].lower(), option[1].lower()),
    )
    return next((i for test in tests for i, option in enumerate(there) if test(option)), None)


async def select_in_widget(on: ActionContext, element: Any, target: ActionTarget, items: list[Option]) -> None:
    """Chooses in a widget made of other elements: opened by a click or by typing, unless it is a list already."""
    for index, item in enumerate(items):
        clicked = False
        if target.tag == "input" and isinstance(item, str) and not target.readonly:
            await _choose_suggested(on, element, target, item, first=index == 0)
            continue
        if target.role != "listbox" and not await _is_open(on, target.bid, item, first=index == 0):
            await on.before_opening(target.bid)
            await element.click(timeout=min(PATIENCE_MS, on.left_ms))
            clicked = True
        choice, labels = await _choice(on, target.bid, item)
        if choice is None and clicked and not labels:  # it was open without saying so, and the click closed it
            await element.click(timeout=min(PATIENCE_MS, on.left_ms))
            choice, labels = await _choice(on, target.bid, item)
        if choice is None:
            raise ElementNotUsable(f"there is no option {_option_text(item)}; there are: {_listed(labels)}")
        label = labels[item] if isinstance(item, int) and item < len(labels) else str(item)
        await _take(on, target.bid, choice, label)


async def _choose_suggested(on: ActionContext, element: Any, target: ActionTarget, item: str, *, first: bool) -> None:
    """Types a text and chooses the suggestion that is the same text, and sees that the field took it.

    Raises:
        ElementNotUsable: there is no such suggestion, there are several, or the field does not take it.
    """
    await on.network_quiet_s()  # from here on requests are seen
    if first:  # later on its own list may be open already
        await on.before_opening(target.bid)
    await type_over(on, element, await on.target(target.bid, again=True), item)
    choice, labels = await _suggestion(on, target.bid, item)
    if choice is None:
        alike = sum(label.casefold() == _normalized(item).casefold() for label in labels)
        reason = (
            f"{alike} options are called {_option_text(item)}"
            if alike > 1
            else f"there is no option {_option_text(item)}"
        )
        raise ElementNotUsable(f"{reason}; there are: {_listed(labels)}")
    await _take(on, target.bid, choice, item)


async def choose_same(on: ActionContext, bid: str, typed: str) -> None:
    """Chooses the one suggestion that is the text that was typed, waited for while it may still come.

    Without one the field stays as it is, and its form is not sent: see `unchosen` of a `Prospect`.

    Raises:
        ElementNotUsable: the field does not take it.
    """
    choice, _ = await _suggestion(on, bid, typed)
    if choice is not None:
        await _take(on, bid, choice, typed)


async def _take(on: ActionContext, bid: str, choice: str, label: str) -> None:
    """Clicks on an option, unless it is chosen already, and sees that it was taken.

    A list may be drawn anew meanwhile: then it is looked for again.

    Raises:
        ElementNotUsable: the option is disabled, or the field does not take it.
        ElementMissing, ActionTimeout: the option cannot be clicked.
    """
    await on.before_choosing(bid)
    ends = time.monotonic() + _SUGGEST_S
    while True:
        try:
            option = await on.target(choice, again=True)
            if option.selected:
                return
            if option.disabled:
                raise ElementNotUsable(f"the option {label!r} is disabled")
            await _click(on, choice)
            break
        except (ElementMissing, ActionTimeout):
            if time.monotonic() >= ends:
                raise
        await asyncio.sleep(_OPTION_PAUSE_S)
        choice = (await on.choice(bid, _normalized(label), exact=True))[0] or choice
    await _wait_until_taken(on, bid, choice, label)


async def _click(on: ActionContext, choice: str) -> None:
    with on.faults():
        await (await on.element(choice)).click(timeout=min(_CLICK_MS, on.left_ms))


async def _wait_until_taken(on: ActionContext, bid: str, choice: str, item: str) -> None:
    """Waits until the widget shows, or its form sends, what was chosen.

    Raises:
        ElementNotUsable: it does not take it.
    """
    ends = time.monotonic() + _TAKEN_S
    while not await on.took(bid, choice, _normalized(item)):
        if time.monotonic() >= ends:
            raise ElementNotUsable(
                f"element {bid} did not take the option {item!r}: neither the field shows it nor its form sends "
                "anything else than before"
            )
        await asyncio.sleep(_OPTION_PAUSE_S)


async def _suggestion(on: ActionContext, bid: str, item: str) -> tuple[str | None, list[str]]:
    """The id of the suggestion to choose, waited for while it may still come, and all that are suggested."""
    ends = time.monotonic() + _SUGGEST_S
    while True:
        choice, labels = await on.choice(bid, _normalized(item), exact=True)
        late = time.monotonic() >= ends and await on.network_quiet_s() >= _QUIET_S
        if choice is not None or late or on.left_ms <= _RESERVE_MS:
            return choice, labels
        await asyncio.sleep(_OPTION_PAUSE_S)


async def _is_open(on: ActionContext, bid: str, item: Option, *, first: bool) -> bool:
    """Return whether the widget's list is open: as it says itself, or, once it was opened, as the item can be seen."""
    expanded = (await on.target(bid, again=True)).expanded
    if expanded is not None or first:
        return bool(expanded)
    return (await on.choice(bid, _normalized(item)))[0] is not None


def _normalized(item: _Item) -> _Item:
    return item if isinstance(item, int) else " ".join(item.split())


async def _choice(on: ActionContext, bid: str, item: Option) -> tuple[str | None, list[str]]:
    """The id of the item to choose, waited for while the list opens, and what there is to choose from."""
    for attempt in range(_OPTION_TRIES):
        choice, labels = await on.choice(bid, _normalized(item))
        if choice is not None:
            break
        if attempt + 1 < _OPTION_TRIES:
            await asyncio.sleep(_OPTION_PAUSE_S)
    return choice, labels
