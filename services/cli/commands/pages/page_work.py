"""The work of `shoal actions`, `observe` and `act`: one page in a browser of its own. Loaded when it is needed."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from PIL import Image

from shoal.agent.actions import ACTION_SETS, catalogue
from shoal.agent.actions.dialects.browsergym import format_call
from shoal.agent.actions.dialects.notations import Dialect, read_reply_on
from shoal.agent.actions.effect_words import effect_words
from shoal.agent.actions.primitives.navigation import web_address
from shoal.agent.browser import Context, ObserveOptions
from shoal.agent.errors import ActionInvalid, ActionRefused
from shoal.agent.observe.renderings import Format, render
from shoal.agent.observe.renderings import as_json as as_json_value
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import WEB
from shoal.agent.types import Action, ActionResult, Box, Effect, Observation
from shoal.page import opened
from shoal.services.browsers.configs import worker_config
from shoal.services.cli.ending import BadUsage, tell
from shoal.services.settings import Settings

_SCHEMES = (*WEB, "data", "file")
"""Schemes that a person may open on their own machine by their own word."""
_WITH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|about:|data:")


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options for opening and writing a page."""

    settings: Settings
    headed: bool
    max_chars: int | None
    max_elements: int | None = None
    part: int = 0
    words: tuple[str, ...] = ()
    viewport_only: bool = False
    downloads: str = ""  # folder for files that the page gives; "": they go with the browser

    @property
    def chosen(self) -> bool:
        """Return whether elements are left out, of which a look at the whole page would give ids to more."""
        return bool(self.max_chars or self.max_elements or self.words or self.viewport_only or self.part)

    def look(self, *, marks: bool) -> ObserveOptions:
        """Return what to look at, and how much of it."""
        return ObserveOptions(
            marks=marks,
            max_chars=self.max_chars,
            max_elements=self.max_elements,
            part=self.part,
            words=self.words,
            viewport_only=self.viewport_only,
        )


@dataclass(frozen=True, slots=True)
class WantedPicture:
    """A screenshot that is asked for, and what it shows: the window unless more is said."""

    file: str  # "": none is wanted
    full_page: bool = False
    element: str = ""
    region: str = ""  # "x,y,width,height"

    def __post_init__(self) -> None:
        for option, value in (("full-page", self.full_page), ("element", self.element), ("region", self.region)):
            if value and not self.file:
                raise BadUsage(
                    f"--{option} says what a screenshot shows, and none is asked for: --screenshot FILE.png takes it"
                )

    async def take(self, page: Context) -> None:
        """Writes it."""
        if not self.file:
            return
        shot = await page.screenshot(
            full_page=self.full_page, bid=self.element or None, region=_box(self.region) if self.region else None
        )
        _write(self.file, _encoded(shot.data, self.file))


def _box(region: str) -> Box:
    try:
        x, y, width, height = (float(part) for part in region.split(","))
    except ValueError as error:
        raise BadUsage(f"a region is X,Y,W,H in pixels, not {region!r}") from error
    return Box(x, y, width, height)


def list_actions(sets: Sequence[str], *, as_json: bool) -> None:
    """Prints the catalogue, or the parts of it that `sets` name."""
    if unknown := [name for name in sets if name not in ACTION_SETS]:
        raise BadUsage(f"there is no action set {unknown[0]!r}; there are {', '.join(ACTION_SETS)}")
    actions = catalogue(sets) if sets else catalogue()
    if as_json:
        print(json.dumps(actions, indent=2, ensure_ascii=False))
        return
    group = ""
    for action in actions:
        if action["group"] != group:
            group = action["group"]
            print(f"\n{group}")
        print(f"  {action['signature']}{'   (off unless the operator allows it)' if action['unsafe'] else ''}")
        for line in action["text"].splitlines():
            print(f"      {line}".rstrip())


async def observe_page(
    url: str, form: str, options: PageOptions, *, marks: str, picture: WantedPicture, pdf: str
) -> None:
    """Opens a page and prints it; `marks` and `pdf` name files for the screenshot with marks and for the print."""
    if form == "choices" and options.chosen:
        raise BadUsage("the letters of --format choices are those of the whole page: it takes no budget, part or word")
    async with _opened(url, options) as page:
        if options.chosen:  # ids come in the order of looking: `shoal act` looks at the whole page, and shares them
            await page.observe()
        for part in range(options.part):  # a part is what those before it did not show
            await page.observe(replace(options, part=part).look(marks=False))
        seen = await page.observe(options.look(marks=bool(marks)))
        await picture.take(page)
        if pdf:
            await _print_to(pdf, page)
    if marks and seen.marked_screenshot is not None:
        _write(marks, _encoded(seen.marked_screenshot, marks))
    print(_rendered(seen, form, options.max_chars))


async def act_on_page(
    url: str, calls: Sequence[str], dialect: str, form: str, options: PageOptions, *, as_json: bool
) -> bool:
    """Takes the actions that `calls` spell out, each on the page as the last one left it; True when all worked."""
    worked = True
    if options.downloads:
        _have_folder(options.downloads)
    async with _opened(url, options) as page:
        for call in calls:
            seen = await page.observe()
            for action in await read_reply_on(cast("Dialect", dialect), call, seen.elements, page):
                result = await page.act(action)
                worked = worked and result.error is None
                _tell_result(result, as_json=as_json)
        seen = await page.observe()
    if as_json:
        print(json.dumps({"observation": as_json_value(seen)}, ensure_ascii=False))
    else:
        print(_rendered(seen, form, None))
    return worked


@asynccontextmanager
async def _opened(url: str, options: PageOptions) -> AsyncIterator[Context]:
    # A person at this machine says where to go and which files to give; what a job may do is no question here.
    config = worker_config(options.settings.model_copy(update={"allow_private": True}))
    context = replace(config.context, downloads_dir=options.downloads or None, upload_dirs=None, schemes=_SCHEMES)
    local = replace(config, headless=not options.headed, artifacts_url="memory:", context=context)
    async with opened(_address(url), local) as page:
        if page.status >= 400:
            tell(f"{page.url} answered with {page.status}")
        yield page.context


def _address(text: str) -> str:
    """Return what the browser is to open: with the scheme that it names, whichever that is, or as a web address."""
    if _WITH_SCHEME.match(text):
        return text
    try:
        return web_address(text)
    except (ActionInvalid, ActionRefused) as error:
        raise BadUsage(error.message) from error


def _rendered(seen: Observation, form: str, max_chars: int | None) -> str:
    return render(seen, cast("Format", form), max_chars=max_chars)


def _tell_result(result: ActionResult, *, as_json: bool) -> None:
    call = format_call(result.action)
    error = result.error
    if as_json:
        payload: dict[str, Json] = {"action": call, "ok": error is None, "seconds": round(result.seconds, 3)}
        if error is not None:
            payload["error"] = {"class": error.cls, "code": error.code, "message": error.message}
        if result.value is not None:
            payload["value"] = result.value
        nothing = (None, False, 0, ())
        payload["effect"] = {name: value for name, value in asdict(result.effect).items() if value not in nothing}
        print(json.dumps(payload, ensure_ascii=False))
    elif error is not None:
        print(f"{call}: {error.message}")
    else:
        print(f"{call}: ok in {result.seconds:.1f} s{_describe_effect(result.effect)}")


def _describe_effect(effect: Effect) -> str:
    """Return what an action changed, in words."""
    parts = list(effect_words(effect))
    parts += ["the page changed"] if effect.dom_changed and not parts else []
    parts += [f"the focus is on {effect.focus}"] if effect.focus else []
    return "".join(f", {part}" for part in parts)


async def _print_to(name: str, page: Context) -> None:
    result = await page.act(Action("save_as_pdf"))
    if result.error is not None:
        raise BadUsage(f"the page could not be printed: {result.error.message}")
    (*_, file) = await page.downloads()
    _write(name, await asyncio.to_thread(Path(file.path).read_bytes))


def _encoded(image: bytes, name: str) -> bytes:
    """The picture in the format that the file's name asks for."""
    if Path(name).suffix.lower() in (".jpg", ".jpeg"):
        return image
    out = io.BytesIO()
    Image.open(io.BytesIO(image)).save(out, "PNG")
    return out.getvalue()


def _have_folder(name: str) -> None:
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(f"cannot keep files in {name}: {error.strerror or error}") from error


def _write(name: str, data: bytes) -> None:
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise BadUsage(f"cannot write {name}: {error.strerror or error}") from error
