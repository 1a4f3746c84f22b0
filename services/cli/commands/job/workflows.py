"""Commands about workflows: learn one from a job, look, compare, try, activate, retire, import, export, delete."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.agent.workflows.exchange.file_formats import ExportFormat, ImportFormat
from shoal.api import rows
from shoal.services.cli import heavy
from shoal.services.cli.command_table import command_group
from shoal.services.cli.commands.job import try_version
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the workflow.")]
Number = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="Number of the version.")]


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    workflows = command_group(
        no_args_is_help=True,
        help="Workflows: list, show, compare, try, print fields, activate, retire, import, export, delete.",
    )
    workflows.command("list")(listing)
    workflows.command("show")(show)
    workflows.command("diff")(difference)
    workflows.command("try")(try_version.try_)
    workflows.command("fields")(fields)
    workflows.command("activate")(activate)
    workflows.command("retire")(retire)
    workflows.command("import")(take)
    workflows.command("export")(export)
    workflows.command("delete")(delete)
    app.add_typer(workflows, name="workflows")
    app.command()(learn)


def listing(
    site: Annotated[str, typer.Option(metavar="HOST", help="Only those for this host.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List workflows by name."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            read = partial(client.workflows, site=site or None)
            kept, more = await rows(read, "workflows", limit)
        if as_json:
            for workflow in kept:
                print(json.dumps(workflow, ensure_ascii=False))
            return Exit.DONE
        cells = [
            [row["name"], row["scope"]["site"], str(row["active"] or ""), str(len(row["versions"])), row["changed_at"]]
            for row in kept
        ]
        print_table(("workflow", "site", "active", "versions", "changed"), cells)
        if more:
            tell(f"there are more; --limit shows them ({limit} now)")
        return Exit.DONE

    finish(work())


def show(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Show a workflow with its versions and what became of them."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            _print(await client.workflow(name), as_json=as_json)
        return Exit.DONE

    finish(work())


def _print(workflow: Json, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(workflow, ensure_ascii=False))
        return
    scope = workflow["scope"]
    tell(f"{workflow['name']} for {scope['site']}")
    cells = []
    for version in workflow["versions"]:
        figures = version["figures"]
        done = f"{figures.get('replays', 0):g} replayed, {figures.get('misses', 0):g} missed"
        done += f", {figures.get('audits', 0):g} audited, {figures.get('audits_wrong', 0):g} wrong"
        cells.append(
            [
                str(version["number"]),
                str(version["parent"] or ""),
                version["state"],
                version["by"],
                done,
                version["why"],
            ]
        )
    print_table(("version", "from", "state", "by", "items", "why"), cells)
    for version in workflow["versions"]:
        for decision in version["open"]:
            tell(f"version {version['number']} leaves to the model: {decision['what']}: {decision['why']}")


def difference(
    name: Name,
    before: Annotated[int, typer.Argument(metavar="BEFORE", min=1, help="Number of the earlier version.")],
    after: Annotated[int, typer.Argument(metavar="AFTER", min=1, help="Number of the later version.")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Show what differs between two versions."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            changed = await client.workflow(name, "diff", before=before, after=after)
        if as_json:
            print(json.dumps(changed, ensure_ascii=False))
            return Exit.DONE
        change_rows = [
            [change["path"], _short(change["before"]), _short(change["after"])] for change in changed["changes"]
        ]
        print_table(("place", f"version {before}", f"version {after}"), change_rows)
        return Exit.DONE

    finish(work())


def _short(value: Json) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)[:80]


def activate(name: Name, version: Number, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Let jobs with `policy: workflow:NAME` get this version from now on."""
    _move(name, version, "activate", gateway, as_json=as_json)


def retire(name: Name, version: Number, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Let no new job get this version; it stays, and can be activated again."""
    _move(name, version, "retire", gateway, as_json=as_json)


def _move(name: str, version: int, verb: str, gateway: str, *, as_json: bool) -> None:
    async def work() -> Exit:
        async with client_of(gateway) as client:
            _print(await client.move_version(name, version, verb), as_json=as_json)
        return Exit.DONE

    finish(work())


def take(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The workflow's file; - for standard input.")],
    kind: Annotated[
        ImportFormat,
        typer.Option("--format", help="shoal, a recording of Chrome's DevTools Recorder, or a file of Automa."),
    ] = ImportFormat.SHOAL,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the workflow, where the format has none. Default: the file's.")
    ] = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Import a workflow; its versions are drafts until one is activated. What the file says and a workflow cannot is
    told."""

    async def work() -> Exit:
        if name and kind is ImportFormat.SHOAL:
            raise BadUsage("--name: a workflow's own file says its name")
        if file == "-" and not name and kind is not ImportFormat.SHOAL:
            raise BadUsage("--name NAME is needed: standard input has no name")
        body = _bytes_of(file)
        if kind is not ImportFormat.SHOAL:
            workflow, lost = heavy.exchanging().import_workflow(kind, body, name or Path(file).stem)
            body = json.dumps(workflow).encode()
            for loss in lost:
                tell(f"not taken over: {loss}")
        async with client_of(gateway) as client:
            _print(await client.take_workflow(body), as_json=as_json)
        return Exit.DONE

    finish(work())


def _bytes_of(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadUsage(f"{file} cannot be read: {error.strerror}") from error


def export(
    name: Name,
    version: Annotated[
        int | None,
        typer.Option(
            min=1, help="This version alone. Default: all; for other formats the active one, else the newest."
        ),
    ] = None,
    kind: Annotated[
        ExportFormat,
        typer.Option("--format", help="shoal can be imported again; recorder, automa; playwright: a Python script."),
    ] = ExportFormat.SHOAL,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Print a workflow as a file. What another program's format cannot say is told."""

    async def work() -> Exit:
        chosen = version
        async with client_of(gateway) as client:
            if chosen is None and kind is not ExportFormat.SHOAL:
                row = await client.workflow(name)
                chosen = row["active"] or row["versions"][-1]["number"]
            exported = await client.workflow(name, "export", version=chosen)
        if kind is ExportFormat.SHOAL:
            print(json.dumps(exported, ensure_ascii=False, indent=None if as_json else 2))
            return Exit.DONE
        written = heavy.exchanging().export_workflow(kind, exported)
        for loss in written.lost:
            tell(f"not exported: {loss}")
        print(written.text)
        return Exit.DONE

    finish(work())


def fields(
    name: Annotated[
        str, typer.Argument(metavar="NAME[@VERSION]", help="Without a version: the active one, else the newest.")
    ],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Print what a version reads as `extract` of a job, with `fields` to edit. What a job cannot say is told."""

    async def work() -> Exit:
        workflow, number = try_version.named(name)
        async with client_of(gateway) as client:
            if number is None:
                row = await client.workflow(workflow)
                number = row["active"] or row["versions"][-1]["number"]
            conversion = await client.workflow(workflow, f"versions/{number}/fields")
        for loss in conversion["lost"]:
            tell(f"not in the fields: {loss}")
        if not conversion["fields"]:
            return Exit.FAILED
        extract = {"fields": conversion["fields"]} | (
            {"schema": conversion["schema"]} if conversion["schema"] is not None else {}
        )
        print(json.dumps({"extract": extract}, ensure_ascii=False, indent=None if as_json else 2))
        return Exit.DONE

    finish(work())


def delete(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Delete a workflow with all its versions. Jobs that were handed in with it keep the version that they have."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.drop_workflow(name)
        if as_json:
            print(json.dumps({"deleted": name}))
        else:
            tell(f"{name} is deleted")
        return Exit.DONE

    finish(work())


def learn(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="A finished job whose items a model worked out, or one that a person showed."
        ),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the workflow. Default: made of its site.")] = "",
    items: Annotated[int, typer.Option(min=2, max=20, help="Items to learn from.")] = 5,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Make a workflow of what a model did, or a person showed, in a finished job; a draft until it is activated."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            made = await heavy.learning().learned(client, job, name, items)
            if made.session:
                _print(await client.keep_shown(made.session, name or None), as_json=as_json)
                return Exit.DONE
            for decision in made.open:
                tell(f"not learned: {decision.what}: {decision.why}")
            if made.workflow is None:
                tell(f"nothing was learned from {made.runs} items of {job}")
                return Exit.FAILED
            _print(await client.take_workflow(made.workflow), as_json=as_json)
        return Exit.DONE

    finish(work())
