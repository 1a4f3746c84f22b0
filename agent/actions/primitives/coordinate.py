"""Actions at a point of the viewport, for models that point and for pages that draw."""

from __future__ import annotations

from shoal.agent.actions.action_context import ActionContext
from shoal.agent.actions.arguments import Files, X, Y
from shoal.agent.types import Button

_STEPS = 8
"""Moves of a drag: libraries that follow the pointer ignore a jump."""


async def mouse_move(on: ActionContext, x: X, y: Y) -> None:
    """Moves the mouse.

    Examples:
        mouse_move(65.2, 158.5)
    """
    with on.faults():
        await on.page.mouse.move(x, y)


async def mouse_down(on: ActionContext, x: X, y: Y, button: Button = "left") -> None:
    """Moves the mouse and presses a button, without letting it go.

    Examples:
        mouse_down(140.2, 580.1)
    """
    with on.faults():
        await on.page.mouse.move(x, y)
        await on.page.mouse.down(button=button)


async def mouse_up(on: ActionContext, x: X, y: Y, button: Button = "left") -> None:
    """Moves the mouse and lets a button go.

    Examples:
        mouse_up(250, 120, 'right')
    """
    with on.faults():
        await on.page.mouse.move(x, y)
        await on.page.mouse.up(button=button)


async def mouse_click(on: ActionContext, x: X, y: Y, button: Button = "left") -> None:
    """Clicks at a point.

    Examples:
        mouse_click(887.2, 68)
    """
    with on.faults():
        await on.page.mouse.click(x, y, button=button)


async def mouse_dblclick(on: ActionContext, x: X, y: Y, button: Button = "left") -> None:
    """Double-clicks at a point.

    Examples:
        mouse_dblclick(5, 236)
    """
    with on.faults():
        await on.page.mouse.dblclick(x, y, button=button)


async def mouse_drag_and_drop(on: ActionContext, from_x: X, from_y: Y, to_x: X, to_y: Y) -> None:
    """Drags from one point to another.

    Examples:
        mouse_drag_and_drop(10.7, 325, 235.6, 24.54)
    """
    mouse = on.page.mouse
    with on.faults():
        await mouse.move(from_x, from_y)
        await mouse.down()
        try:
            await mouse.move(to_x, to_y, steps=_STEPS)
        finally:
            await mouse.up()


async def scroll_at(on: ActionContext, x: X, y: Y, dx: float, dy: float) -> None:
    """Turns the mouse wheel at a point, by so many pixels to the right and down.

    Examples:
        scroll_at(300, 400, 0, 500)
    """
    with on.faults():
        await on.page.mouse.move(x, y)
        await on.page.mouse.wheel(dx, dy)


async def mouse_upload_file(on: ActionContext, x: X, y: Y, file: Files) -> None:
    """Clicks at a point where the page asks for a file, and gives it one or several.

    Examples:
        mouse_upload_file(132.1, 547, '/path/to/my_receipt.pdf')
    """
    paths = await on.upload_paths([file] if isinstance(file, str) else file)
    with on.faults():
        async with on.page.expect_file_chooser(timeout=on.left_ms) as chooser:
            # Playwright asks Chromium for choosers without waiting for it, and a click at a point is quick enough to
            # come first: then the chooser reaches no handler. What is answered after it has passed it.
            await on.page.evaluate("0")
            await on.page.mouse.click(x, y)
        await (await chooser.value).set_files(paths, timeout=on.left_ms)
