"""`shoal run`: one job from the terminal, from goal to records."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.connect import find_gateway
from shoal.embedded import spec_checker
from shoal.fields import fields_schema
from shoal.records import SubmittedJob
from shoal.services.cli.commands.job.following import cancel_and_print, follow
from shoal.services.cli.connection import client_or_cluster
from shoal.services.cli.ending import BadUsage, Exit
from shoal.services.cli.options import Gateway, json_from, lines_from, pairs_from
from shoal.services.cli.printing import OrderedLines, binary_stdout
from shoal.services.cli.running import finish, settings_of_process


class Screenshots(StrEnum):
    """Which screenshots are kept."""

    ALL = "all"
    ERRORS = "errors"
    NONE = "none"


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command()(run)


def run(
    goal: Annotated[str, typer.Argument(metavar="[GOAL]", help="What is wanted, in plain language.")] = "",
    url: Annotated[str, typer.Option(metavar="URL", help="Where to start.")] = "",
    spec: Annotated[str, typer.Option(metavar="FILE", help="A job spec to begin with; - reads stdin.")] = "",
    schema: Annotated[str, typer.Option(metavar="FILE|JSON", help="JSON Schema of one record.")] = "",
    fields: Annotated[
        str, typer.Option(metavar="NAMES", help='The fields in place of a schema: "name, price:number, sku?".')
    ] = "",
    extract: Annotated[str, typer.Option(metavar="WORDS", help="What to read from each page.")] = "",
    data: Annotated[str, typer.Option(metavar="FILE|JSON", help="Details for forms and goals.")] = "",
    loop_select: Annotated[str, typer.Option(metavar="CSS|WORDS", help="Loop over what this finds.")] = "",
    loop_next: Annotated[str, typer.Option(metavar="CSS|WORDS", help="The link to the next page of items.")] = "",
    loop_values: Annotated[str, typer.Option(metavar="FILE|JSON", help="Loop over these values, one a line.")] = "",
    max_pages: Annotated[int | None, typer.Option(min=1, help="Collect items from at most so many pages.")] = None,
    max_items: Annotated[int | None, typer.Option(min=1, help="Collect at most so many items.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="At most so many items at once.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Steps of one session.")] = None,
    policy: Annotated[str, typer.Option(help="auto, model or rules.")] = "",
    learn: Annotated[str, typer.Option(help="How a loop learns: auto, off, or a workflow to begin with.")] = "",
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The job must end within this time.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="WORDS", help="What the job is called in lists.")] = "",
    label: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A label; may be given often.")] = None,
    screenshots: Annotated[Screenshots | None, typer.Option(help="Which screenshots are kept.")] = None,
    robots: Annotated[bool, typer.Option(help="Obey robots.txt.")] = True,
    gateway: Gateway = "",
    as_json: Annotated[bool, typer.Option("--json", help="Write progress as JSON lines too.")] = False,
) -> None:
    """Run one job and print its records as JSON lines.

    With no gateway named, a cluster is started on this machine for the job and ended after it.
    """

    async def work() -> Exit:
        asked = json_from("--spec", spec) if spec else {}
        if not isinstance(asked, dict):
            raise BadUsage("--spec: a job spec is a JSON object")
        _put(asked, "goal", goal)
        _put(asked, "url", url)
        _put(asked, "name", name)
        _put(asked, "data", json_from("--data", data) if data else None)
        _put(asked, "policy", policy)
        _put(asked, "learn", learn)
        _put(asked, "max_steps", max_steps)
        _put(asked, "deadline_s", deadline)
        _put(asked, "extract.goal", extract)
        _put(asked, "extract.schema", _schema(schema, fields))
        _put(asked, "loop.from.select", loop_select)
        _put(asked, "loop.from.next", loop_next)
        _put(asked, "loop.from.max_pages", max_pages)
        _put(asked, "loop.values", lines_from("--loop-values", loop_values) if loop_values else None)
        _put(asked, "loop.max_items", max_items)
        _put(asked, "loop.concurrency", concurrency)
        _put(asked, "artifacts.screenshots", screenshots and screenshots.value)
        _put(asked, "politeness.robots", None if robots else False)
        if label:
            asked["labels"] = {**asked.get("labels", {}), **pairs_from("--label", label)}
        if not asked.get("url"):
            raise BadUsage("say where to start: --url https://…")
        if loop_select and loop_values:
            raise BadUsage("--loop-select and --loop-values exclude each other")
        return await run_spec(asked, gateway, as_json)

    finish(work())


async def run_spec(spec: dict[str, Json], gateway: str, as_json: bool) -> Exit:
    """Runs the job that `spec` describes; a canceled run cancels its job."""
    settings = settings_of_process()
    if not find_gateway(settings, gateway):  # a cluster of its own takes seconds to start: too long for a wrong field
        await spec_checker(settings).check(json.dumps(spec).encode(), "default")
    async with client_or_cluster(settings, gateway) as client:
        job = SubmittedJob.model_validate(await client.submit(spec)).id
        nested = isinstance(spec.get("loop"), dict) and "loop" in spec["loop"]
        lines = OrderedLines(client, job, binary_stdout(), early=not nested)
        try:
            return await follow(client, job, lines=lines, as_json=as_json)
        except asyncio.CancelledError:
            # Shielded by being a new await: the cancellation was delivered once, and this is its cleaning up.
            await cancel_and_print(client, job, lines)
            return Exit.FAILED


def _schema(schema: str, fields: str) -> Json:
    """The schema that one of both options gives; None without them.

    Raises:
        BadUsage: both are there, or one cannot be read.
    """
    if schema and fields:
        raise BadUsage("--schema and --fields exclude each other")
    try:
        return fields_schema(fields) if fields else json_from("--schema", schema) if schema else None
    except ValueError as error:
        raise BadUsage(f"--fields: {error}") from error


def _put(spec: dict[str, Json], path: str, value: Json) -> None:
    """Sets a field by its dotted name, unless the option was not given."""
    if value is None or value == "":
        return
    *parents, last = path.split(".")
    for parent in parents:
        inner = spec.get(parent)
        spec[parent] = dict(inner) if isinstance(inner, dict) else {}
        spec = spec[parent]
    spec[last] = value
