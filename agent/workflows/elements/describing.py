"""Every way to find an element again, taken while it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.agent.browser import Context, PageDocument
from shoal.agent.errors import BrowserError
from shoal.agent.observe.tree import CHOOSES
from shoal.agent.support.json_value import Json
from shoal.agent.support.printable import readable_json
from shoal.agent.types import Box
from shoal.agent.workflows.format.target import Locator, Target
from shoal.agent.workflows.script_answer import script_answer

_ORIGIN_JS = "() => self.origin"
_LOCATORS = (Path(__file__).parent / "locators.js").read_text(encoding="utf-8")
LOCATORS_JS = f"(arg) => {{ {CHOOSES} return ({_LOCATORS})(arg); }}"


@dataclass(frozen=True, slots=True)
class Described:
    """One element as it was."""

    target: Target
    box: Box | None = None
    sends: bool = False  # it is a button that sends a form
    # `offer_key` of all that could be acted on in the page's own document; None: not known, or it is in a frame.
    offered: tuple[str, ...] | None = None
    chooses: bool = False  # it is a field, and what it sends is chosen from a list

    @property
    def is_option(self) -> bool:
        """Return whether it is an option of a list that a field opened."""
        return self.target.role == "option"


async def describe(page: Context, bid: str) -> Described | str:
    """The element `bid` of the open page, in whichever frame and open shadow root; or why it is not found again.

    Its box is known only where it is in no frame.

    Raises:
        BrowserError: the page could not be asked.
        NoScriptAnswer: it is no document.
    """
    path = await page.element_path(bid)
    if path is None:
        return "its element was gone, or is in a closed shadow root"
    frames: list[str] = []
    document: PageDocument = page
    for frame in path.frames:
        around = await page.element_path(frame)
        if around is None or around.hosts:
            return "its frame was gone, or is in a shadow root"
        selector = _own_selector(await _described(document, around.css))
        inner = await page.frame_document([*frames, selector]) if selector else None
        if inner is None:
            return "its frame is found by its position alone"
        frames.append(selector)
        document = inner
    shadow: list[str] = []
    for host in path.hosts:
        selector = _own_selector(await _described(document, host, shadow))
        if not selector:
            return "its shadow host is found by its position alone"
        shadow.append(selector)
    element = await _described(document, path.css, shadow)
    if element is None:
        return "its element was gone"
    if not frames and not shadow:
        return element
    origin = await origin_of(document) if frames else ""
    target = element.target.model_copy(
        update={
            "frame": tuple(frames),
            "shadow": tuple(shadow),
            "origin": "" if not frames or origin == await origin_of(page) else origin,
        }
    )
    return Described(target, element.box if not frames else None, element.sends, chooses=element.chooses)


async def _described(document: PageDocument, css: str, hosts: Sequence[str] = ()) -> Described | None:
    answer = await document.read(LOCATORS_JS, {"describe": css, "hosts": list(hosts)})
    return described(script_answer(answer)) if answer is not None else None


def _own_selector(element: Described | None) -> str:
    """A CSS selector that finds this element alone, and not by its position; "" where there is none."""
    ways = element.target.locators if element is not None else ()
    return next((way.value for way in ways if way.family in ("attribute", "css") and way.unique_on), "")


async def origin_of(document: PageDocument) -> str:
    """The origin in whose name a document's scripts run; "null" for one that has none."""
    return str(await document.read(_ORIGIN_JS))


async def describe_all(page: Context, most: int) -> list[Described]:
    """The first elements of the open page that can be seen and acted on, each with its box on the page.

    Raises:
        BrowserError: the page could not be asked.
        NoScriptAnswer: it is no document.
    """
    answer = script_answer(await page.read(LOCATORS_JS, {"most": most}))
    return [known for entry in answer["elements"] if (known := described(entry)) is not None]


async def count(page: Context, target: Target) -> list[int]:
    """Return how many elements that can be seen each locator of `target` finds in its document or shadow root.

    Nothing is found where the frame or the shadow host is not there.

    Raises:
        BrowserError: the page could not be asked.
    """
    document = await page.frame_document(target.frame) if target.frame else page
    if document is None:
        return [0 for _ in target.locators]
    answer = await document.read(LOCATORS_JS, {"count": locator_parameters(target), "hosts": list(target.shadow)})
    if answer is None and target.shadow:
        return [0 for _ in target.locators]
    counts = readable_json(answer) if isinstance(answer, str) else answer
    if not isinstance(counts, list) or len(counts) != len(target.locators):
        raise BrowserError("the page counted no elements")
    return [int(number) for number in counts]


def locator_parameters(target: Target) -> list[Json]:
    """The locators of `target` as `locators.js` takes them."""
    return [{"family": way.family, "value": way.value, "role": way.role} for way in target.locators]


def described(entry: Mapping[str, Json]) -> Described | None:
    """The element that `locators.js` tells of; None where nothing finds it."""
    locators = tuple(
        Locator(family=way["family"], value=way["value"], role=way["role"], unique_on=int(way["n"] == 1))
        for way in entry["ways"]
        if way["n"]
    )
    if not locators:
        return None
    form = entry.get("form")
    sends = isinstance(form, Mapping) and form.get("type") in ("submit", "image")
    box = Box(*map(float, entry["box"]))
    target = Target(
        role=str(entry["role"]),
        name=str(entry["name"]),
        locators=locators,
        fingerprint=tuple(map(str, entry["around"])),
    )
    offered = entry.get("offered")
    keys = None if offered is None else tuple(dict.fromkeys(offer_key(str(role), str(name)) for role, name in offered))
    return Described(target, box, sends, keys, chooses=entry.get("chooses") is True)


def offer_key(role: str, name: str) -> str:
    """The hash of what an element is called: the same on each page. A name may hold a value that is kept nowhere."""
    role_and_name = f"{role} {' '.join(name.lower().split()).rstrip(' :：*')}"
    return hashlib.sha256(role_and_name.encode("utf-8", "replace")).hexdigest()[:10]
