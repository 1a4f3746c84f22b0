"""Every way to find an element again, taken while it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.agent.browser import Context
from shoal.agent.errors import BrowserError
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
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
    offered: tuple[str, ...] | None = None  # `offer_key` of all that could be acted on; None: not known


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


async def describe_all(page: Context, most: int) -> list[Described]:
    """The first elements of the open page that can be seen and acted on, each with its box on the page.

    Raises:
        BrowserError: the page could not be asked.
        NothingTold: it is no document.
    """
    told = told_by(await page.read(LOCATORS_JS, {"most": most}))
    return [known for said in told["elements"] if (known := described(said)) is not None]


async def count(page: Context, locators: Sequence[Locator]) -> list[int]:
    """How many elements of the open page that can be seen each locator finds.

    Raises:
        BrowserError: the page could not be asked.
    """
    asked = [{"family": locator.family, "value": locator.value, "role": locator.role} for locator in locators]
    told = await page.read(LOCATORS_JS, {"count": asked}) if asked else []
    counts = readable_json(told) if isinstance(told, str) else told
    if not isinstance(counts, list) or len(counts) != len(asked):
        raise BrowserError("the page counted no elements")
    return [int(number) for number in counts]


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
    offered = said.get("offered")
    keys = None if offered is None else tuple(dict.fromkeys(offer_key(str(role), str(name)) for role, name in offered))
    return Described(target, box, sends, keys)


def offer_key(role: str, name: str) -> str:
    """The hash of what an element is called: the same on each page. A name may hold a value that is kept nowhere."""
    said = f"{role} {' '.join(name.lower().split()).rstrip(' :：*')}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:10]
