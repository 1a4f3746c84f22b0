"""`shoal workflows try`: a version of a workflow, run on given pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway, json_from
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table
from shoal.version_trial import TriedPage, VersionTrial

_LONGEST_CELL = 60
_GOOD = ("read", "done", "stopped")


def try_(
    name: Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help="Default of the version: the active one.")],
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Addresses of 1 to 10 pages.")],
    start: Annotated[str, typer.Option(metavar="NODE", help="The node where it begins. Default: the first.")] = "",
    data: Annotated[str, typer.Option(metavar="JSON", help="Details for parameters from the job's data.")] = "",
    item: Annotated[str, typer.Option(metavar="JSON", help="The loop's item, such as a row for a form.")] = "",
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=5, max=300, help="Until the answer comes.")] = 90.0,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Run a version on given pages: each record with what each channel read, or why there is none.

    An action that may send something is named and not done. Nothing is kept.
    """

    async def work() -> Exit:
        workflow, number = named(name)
        asked = {
            "urls": urls,
            "version": number,
            "start": start or None,
            "data": json_from("--data", data) if data else None,
            "item": json_from("--item", item) if item else None,
        }
        async with client_of(gateway) as client:
            answer = await client.try_workflow(workflow, asked, timeout_s=timeout)
        trial = VersionTrial.model_validate(answer)
        if as_json:
            print(json.dumps(answer, ensure_ascii=False))
        else:
            _print(trial)
        good = [page for page in trial.pages if page.end in _GOOD]
        return Exit.DONE if len(good) == len(trial.pages) else Exit.PARTIAL if good else Exit.FAILED

    finish(work())


def named(name: str) -> tuple[str, int | None]:
    """The workflow's name and the version's number of `NAME@2`; None where no version is named.

    Raises:
        Usage: what is behind the name is no number.
    """
    workflow, at, version = name.partition("@")
    if at and not (version.isdecimal() and 0 < int(version) < 10**6):
        raise BadUsage(f"{version!r} is no number of a version: write NAME@2")
    return workflow, int(version) if at else None


def _print(trial: VersionTrial) -> None:
    tell(f"{trial.workflow}@{trial.version}")
    for guard in trial.unchecked:
        tell(f"not checked, since no list led to the page: {guard}")
    if trial.error is not None:
        tell(f"{trial.error.code}: {trial.error.message}")
    for page in trial.pages:
        tell(f"{page.url}: {page.end}{_by(page)}")
        for line in _lines(page):
            tell(f"  {line}")
    print_table(("page", "field", "value", "channel", "read", "place"), _cells(trial))


def _by(page: TriedPage) -> str:
    return f" by {page.tier}" if page.end == "read" and page.tier else ""


def _lines(page: TriedPage) -> Iterator[str]:
    for miss in page.misses:
        yield f"{miss.where}: {miss.reason}: {miss.told}"
    intended = page.intended
    if intended is not None:
        args = ", ".join(f"{name}={_short(value)}" for name, value in intended.args.items())
        located = f", found by {', '.join(intended.found_by)}" if intended.found_by else ""
        yield f"not done: {intended.node}: {intended.action}({args}) on {intended.element!r}{located}"
    if page.error is not None:
        yield f"{page.error.code}: {page.error.message}"


def _cells(trial: VersionTrial) -> Iterator[tuple[str, ...]]:
    for page in trial.pages:
        for name, field in page.fields.items():
            for channel in field.channels:
                read = channel.fault or ("nothing" if channel.value is None else _short(channel.value))
                value = "" if field.value is None else _short(field.value)
                yield page.url[-_LONGEST_CELL:], name, value, channel.family, _short(read), channel.place[:80]


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…"
