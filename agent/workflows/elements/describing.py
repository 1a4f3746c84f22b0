"""Every way to find an element again, taken while it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.support.json_value import Json
from shoal.agent.types import Box
from shoal.agent.workflows.format.target import Locator, Target
from shoal.agent.workflows.told import told_by

LOCATORS_JS = (Path(__file__).parent / "locators.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Described:
    """One element as it was."""

    target: Target
    box: Box | None = None
    sends: bool = False  # it is a button that sends a form


async def describe(page: Context, bid: str) -> Described | None:
    """The element `bid` of the open page; None for one in a frame or a shadow root, and for one that is gone.

    Raises:
        BrowserError: the page could not be asked.
        NothingTold: it is no document.
    """
    selectors = await page.selectors(bid)
    if selectors is None:
        return None
    told = await page.read(LOCATORS_JS, {"describe": selectors[0]})
    if told is None:
        return None
    return described(told_by(told))


def described(said: Mapping[str, Json]) -> Described | None:
    """The element that `locators.js` tells of; None where nothing finds it."""
    locators = tuple(
        Locator(family=way["family"], value=way["value"], role=way["role"], unique_on=int(way["n"] == 1))
        for way in said["ways"]
        if way["n"]
    )
    if not locators:
        return None
    form = said.get("form")
    sends = isinstance(form, Mapping) and form.get("type") in ("submit", "image")
    box = Box(*map(float, said["box"]))
    target = Target(
        role=str(said["role"]), name=str(said["name"]), locators=locators, fingerprint=tuple(map(str, said["around"]))
    )
    return Described(target, box, sends)
