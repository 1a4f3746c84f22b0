"""The work of `shoal actions`, `observe` and `act`: one page in a browser of its own. Loaded when it is needed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from agent.actions import ACTION_SETS, catalogue
from agent.actions.dialects.browsergym import format_call
from agent.actions.dialects.notations import Dialect, read_reply_on
from agent.browser import Context, ContextOptions, ObserveOptions
from agent.chromium import LaunchOptions, launch
from agent.observe.renderings import Format, render
from agent.observe.renderings import as_json as as_json_value
from agent.spec import BrowserSpec
from agent.types import ActionResult, Observation
from services.cli.ending import Usage, tell
from services.settings import Settings

Json = Any

_SANDBOX: Mapping[str, Literal["auto", "yes", "no"]] = {"auto": "auto", "on": "yes", "off": "no"}


@dataclass(frozen=True, slots=True)
class PageOptions:
    """How the page is opened and written."""

    settings: Settings
    headed: bool
    max_chars: int | None


def list_actions(sets: Sequence[str], *, as_json: bool) -> None:
    """Prints the catalogue, or the parts of it that `sets` name."""
    if unknown := [name for name in sets if name not in ACTION_SETS]:
        raise Usage(f"there is no action set {unknown[0]!r}; there are {', '.join(ACTION_SETS)}")
    found = catalogue(sets) if sets else catalogue()
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    group = ""
    for one in found:
        if one["group"] != group:
            group = one["group"]
            print(f"\n{group}")
        print(f"  {one['signature']}{'   (off unless the operator allows it)' if one['unsafe'] else ''}")
        for line in one["text"].splitlines():
            print(f"      {line}".rstrip())


async def observe_page(url: str, form: str, marks: str, options: PageOptions) -> None:
    """Opens a page and prints it; `marks` names a file for the screenshot with marks."""
    async with _opened(url, options) as page:
        seen = await page.observe(ObserveOptions(marks=bool(marks), max_chars=options.max_chars))
    if marks:
        _write(marks, seen.marked_screenshot)
    print(_rendered(seen, form, options.max_chars))


async def act_on_page(
    url: str, calls: Sequence[str], dialect: str, form: str, options: PageOptions, *, as_json: bool
) -> bool:
    """Takes the actions that `calls` spell out, each on the page as the last one left it; True when all worked."""
    worked = True
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
    settings = options.settings
    browser = await launch(
        LaunchOptions(
            executable=str(settings.chromium) if settings.chromium else None,
            sandbox=_SANDBOX[settings.sandbox],
            headless=not options.headed,
        )
    )
    try:
        page = await browser.new_context(
            ContextOptions(
                browser=BrowserSpec(headless=not options.headed),
                action_timeout_s=settings.action_timeout_s,
                navigation_timeout_s=settings.navigation_timeout_s,
                allow_python=settings.allow_python,
            )
        )
        landing = await page.goto(url if "://" in url or url.startswith(("about:", "data:")) else f"https://{url}")
        if landing.status >= 400:
            tell(f"{landing.url} answered with {landing.status}")
        yield page
    finally:
        await browser.close()


def _rendered(seen: Observation, form: str, max_chars: int | None) -> str:
    return render(seen, cast("Format", form), max_chars=max_chars)


def _tell_result(result: ActionResult, *, as_json: bool) -> None:
    call = format_call(result.action)
    error = result.error
    if as_json:
        told: dict[str, Json] = {"action": call, "ok": error is None, "seconds": round(result.seconds, 3)}
        if error is not None:
            told["error"] = {"class": error.cls, "code": error.code, "message": error.message}
        if result.value is not None:
            told["value"] = result.value
        if result.effect.url:
            told["url"] = result.effect.url
        print(json.dumps(told, ensure_ascii=False))
    elif error is not None:
        print(f"{call}: {error.message}")
    else:
        went = f", now at {result.effect.url}" if result.effect.url else ""
        print(f"{call}: ok in {result.seconds:.1f} s{went}")


def _write(name: str, image: bytes | None) -> None:
    if image is None:
        raise Usage("the page gave no picture with marks")
    try:
        Path(name).write_bytes(image)
    except OSError as error:
        raise Usage(f"cannot write {name}: {error.strerror or error}") from error
