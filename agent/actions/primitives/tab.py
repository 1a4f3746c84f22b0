"""Actions on tabs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shoal.agent.actions.action_context import ActionContext


async def new_tab(on: ActionContext) -> None:
    """Opens an empty tab and turns to it.

    Examples:
        new_tab()
    """
    await on.new_tab()


async def tab_close(on: ActionContext) -> None:
    """Closes the current tab and turns to the one before it.

    Examples:
        tab_close()
    """
    await on.close_tab()


async def tab_focus(on: ActionContext, index: Annotated[int, Field(description="position of the tab, from 0")]) -> None:
    """Turns to another tab.

    Examples:
        tab_focus(2)
    """
    await on.focus_tab(index)
