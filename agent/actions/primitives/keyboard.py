"""Actions on whatever has the keyboard focus."""

from __future__ import annotations

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.arguments import Keys, Times, keys


async def keyboard_down(on: ActionContext, key: Keys) -> None:
    """Presses a key and holds it.

    Examples:
        keyboard_down('Shift')
    """
    with on.faults():
        await on.page.keyboard.down(keys(key))


async def keyboard_up(on: ActionContext, key: Keys) -> None:
    """Lets a held key go.

    Examples:
        keyboard_up('Shift')
    """
    with on.faults():
        await on.page.keyboard.up(keys(key))


async def keyboard_press(on: ActionContext, key_comb: Keys, times: Times = 1) -> None:
    """Presses a key or a combination of keys, one or several times.

    Examples:
        keyboard_press('Enter')
        keyboard_press('Meta+Shift+t')
        keyboard_press('ArrowDown', times=3)
    """
    with on.faults():
        for _ in range(times):
            await on.page.keyboard.press(keys(key_comb))


async def keyboard_type(on: ActionContext, text: str) -> None:
    """Types text key by key, so that the page sees every key.

    Examples:
        keyboard_type('Hello world!')
    """
    with on.faults():
        await on.page.keyboard.type(text)


async def keyboard_insert_text(on: ActionContext, text: str) -> None:
    """Puts text in at once, as pasting does; the page sees an input event but no keys.

    Examples:
        keyboard_insert_text('Hello world!')
    """
    with on.faults():
        await on.page.keyboard.insert_text(text)
