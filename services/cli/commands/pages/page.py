"""Commands about one page and about this machine: actions, observe, act, doctor."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from importlib import import_module
from typing import Annotated

import typer

from shoal.services.cli import heavy
from shoal.services.cli.ending import Exit
from shoal.services.cli.options import AsJson
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.cli.tables import print_table

Url = Annotated[str, typer.Argument(metavar="URL", help="The page to open.")]
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser's window.")]


class ObservationOptions(StrEnum):
    """Formats of an observation."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    AXTREE = "axtree"
    CHOICES = "choices"


class Dialect(StrEnum):
    """Notations of actions."""

    BROWSERGYM = "browsergym"
    WEBVOYAGER = "webvoyager"
    SEEACT = "seeact"
    STEPJSON = "stepjson"
    WEBACTION = "webaction"
    AUTOMA = "automa"


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    for command in (actions, observe, act, doctor):
        app.command()(command)


def actions(
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only this set; may be given often.")] = None,
    as_json: AsJson = False,
) -> None:
    """List every action that can be taken in a page, by group."""

    async def work() -> Exit:
        heavy.pages().list_actions(tuple(sets or ()), as_json=as_json)
        return Exit.DONE

    finish(work())


def observe(
    url: Url,
    form: Annotated[
        ObservationOptions,
        typer.Option("--format", help="text, json, html, axtree, or choices: the letters of --dialect seeact."),
    ] = ObservationOptions.TEXT,
    marks: Annotated[str, typer.Option(metavar="FILE.png", help="Also write a screenshot with numbered marks.")] = "",
    screenshot: Annotated[str, typer.Option(metavar="FILE.png", help="Also write a screenshot of the window.")] = "",
    full_page: Annotated[bool, typer.Option("--full-page", help="The screenshot shows the whole page.")] = False,
    element: Annotated[str, typer.Option(metavar="ID", help="The screenshot shows this element.")] = "",
    region: Annotated[str, typer.Option(metavar="X,Y,W,H", help="The screenshot shows this part, in pixels.")] = "",
    pdf: Annotated[str, typer.Option(metavar="FILE.pdf", help="Also write the page as a PDF.")] = "",
    max_chars: Annotated[int, typer.Option(min=0, help="Cut the text to fit; 0: the whole page.")] = 0,
    max_elements: Annotated[int, typer.Option(min=0, help="So many elements at most; 0: all of them.")] = 0,
    part: Annotated[int, typer.Option(min=0, help="With --max-elements: which part of the page, from 0.")] = 0,
    word: Annotated[list[str] | None, typer.Option(help="Elements with it come first; may be given often.")] = None,
    viewport: Annotated[bool, typer.Option("--viewport", help="Only what can be seen without scrolling.")] = False,
    headed: Headed = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Show a page the way a model sees it."""

    async def work() -> Exit:
        chosen = ObservationOptions.JSON if as_json else form
        options = heavy.pages().PageOptions(
            settings_of_process(),
            headed=headed,
            max_chars=max_chars or None,
            max_elements=max_elements or None,
            part=part,
            words=tuple(word or ()),
            viewport_only=viewport,
        )
        picture = heavy.pages().WantedPicture(screenshot, full_page, element, region)
        await heavy.pages().observe_page(url, chosen.value, options, marks=marks, picture=picture, pdf=pdf)
        return Exit.DONE

    finish(work())


def act(
    url: Url,
    calls: Annotated[list[str], typer.Argument(metavar="CALL…", help="Actions, such as \"click('12')\".")],
    dialect: Annotated[Dialect, typer.Option(help="The notation of the calls.")] = Dialect.BROWSERGYM,
    form: Annotated[
        ObservationOptions, typer.Option("--format", help="How the last observation is written.")
    ] = ObservationOptions.TEXT,
    downloads: Annotated[str, typer.Option(metavar="FOLDER", help="Keep files that the page gives here.")] = "",
    headed: Headed = False,
    as_json: AsJson = False,
) -> None:
    """Take actions in a page; prints each result and the page as it then is. Ends with 1 when an action failed."""

    async def work() -> Exit:
        options = heavy.pages().PageOptions(settings_of_process(), headed=headed, max_chars=None, downloads=downloads)
        worked = await heavy.pages().act_on_page(url, calls, dialect.value, form.value, options, as_json=as_json)
        return Exit.DONE if worked else Exit.FAILED

    finish(work())


def doctor(as_json: AsJson = False) -> None:
    """Say what this machine and these settings lack, and how to get it. Ends with 3 when something is missing."""

    async def work() -> Exit:
        findings = await heavy.examine(settings_of_process())
        if as_json:
            for finding in findings:
                print(json.dumps(asdict(finding), ensure_ascii=False))
        else:
            text = import_module("rich.text").Text
            marks = {True: text("ok", "green"), False: text("no", "red")}
            cells = [(marks[part.ok], part.name, part.detail, part.remedy) for part in findings]
            print_table(("", "part", "found", "what to do"), cells)
        return Exit.DONE if all(finding.ok for finding in findings) else Exit.ENVIRONMENT

    finish(work())
