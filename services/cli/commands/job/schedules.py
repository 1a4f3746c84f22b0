"""Commands about schedules: put, list, show, runs, pause, resume, fire, accept, delete, and keys to their results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.api import rows
from shoal.services.cli.command_table import command_group
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_table

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the schedule.")]
VERBS = {
    "pause": "Let a schedule fire no more.",
    "resume": "Let a paused schedule fire again, from its next time on.",
    "fire": "Let a schedule run now; its times stay what they are.",
    "accept": "Take the newest run as the measure of later ones, and its mark away.",
}


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    schedules = command_group(
        no_args_is_help=True,
        help="Schedules: put, list, show, runs, pause, resume, fire, accept, delete; keys to their results.",
    )
    schedules.command("put")(put)
    schedules.command("list")(listing)
    schedules.command("show")(show)
    schedules.command("runs")(runs)
    schedules.command("key")(make_key)
    schedules.command("keys")(list_keys)
    schedules.command("revoke")(revoke_key)
    for verb, help_text in VERBS.items():
        schedules.command(verb, help=help_text)(_command(verb))
    schedules.command("delete")(delete)
    app.add_typer(schedules, name="schedules")


def put(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON of the schedule; -: standard input.")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Make a schedule, or change the one of its name."""

    async def work() -> Exit:
        spec = _read(file)
        async with client_of(gateway) as client:
            _tell(await client.put_schedule(spec), as_json=as_json)
        return Exit.DONE

    finish(work())


def read_json(file: str) -> Json:
    """Return what a file, or standard input (`-`),
    says in JSON.

    Raises:
        BadUsage.
    """
    try:
        return json.loads(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadUsage(f"{file}: cannot be read as JSON: {error}") from error


def _read(file: str) -> dict[str, Json]:
    spec = read_json(file)
    if not isinstance(spec, dict):
        raise BadUsage(f"{file}: must be a JSON object with `name`, `job`, and `cron` or `every`")
    return spec


def listing(
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List schedules by name."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            kept, more = await rows(client.schedules, "schedules", limit)
        _print(kept, ("schedule", "when", "next"), _cells, as_json=as_json)
        if more:
            tell(f"there are more; --limit shows them ({limit} now)")
        return Exit.DONE

    finish(work())


def _cells(schedule: Json) -> list[str]:
    spec = schedule["spec"]
    when = f"{spec['cron']} {spec.get('time_zone', 'UTC')}" if "cron" in spec else f"every {spec['every']}"
    return [schedule["name"], when, schedule["next"][0] if schedule["next"] else "paused"]


def show(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Show a schedule with its next five times."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            schedule = await client.schedule(name)
        if as_json:
            print(json.dumps(schedule, ensure_ascii=False))
        else:
            print(json.dumps(schedule["spec"], ensure_ascii=False, indent=2))
            _tell(schedule, as_json=False)
        return Exit.DONE

    finish(work())


def runs(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 30,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """List a schedule's runs, newest first, with why one is degraded."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            kept, _ = await rows(partial(client.schedule, name, "runs"), "runs", limit)
        _print(kept, ("time", "state", "job", "records", "why"), _run_cells, as_json=as_json)
        return Exit.DONE

    finish(work())


def make_key(
    name: Name,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What the key is for.")],
    days: Annotated[
        float | None, typer.Option(help="It expires after so many days. Default: as your own key does.", min=0.001)
    ] = None,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Make a key that reads a schedule's newest results alone, and print it: it is not shown again."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            key = await client.make_schedule_key(name, label, days)
            at = f"{client.url}/v1/schedules/{name}/results"
        if as_json:
            print(json.dumps(key, ensure_ascii=False))
        else:
            print(key["key"])
            tell(f"key {key['id']} ({label}) reads {at} and nothing else: send it as Authorization: Bearer …")
        return Exit.DONE

    finish(work())


def list_keys(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """List the keys to a schedule's results, without the keys themselves."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            kept = (await client.schedule(name, "keys"))["keys"]
        _print(kept, ("id", "for", "created", "expires", "last used"), _key_cells, as_json=as_json)
        return Exit.DONE

    finish(work())


def _key_cells(key: Json) -> list[str]:
    return [str(key["id"]), key["name"], *(key[name] or "" for name in ("created_at", "expires_at", "used_at"))]


def revoke_key(
    name: Name,
    key: Annotated[int, typer.Argument(metavar="ID", min=1, help="Id of the key, from `shoal schedules keys`.")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Make a key to a schedule's results useless."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.revoke_schedule_key(name, key)
        if as_json:
            print(json.dumps({"schedule": name, "key": key, "revoked": True}))
        else:
            tell(f"key {key} of {name} is revoked; gateways that have just used it forget it within 5 s")
        return Exit.DONE

    finish(work())


def _run_cells(run: Json) -> list[str]:
    state = "degraded" if run["degraded"] else run["status"] or run["state"]
    why = "; ".join(reason["text"] for reason in run["degraded"]) or run["why"]
    return [run["at"], state, run["job"] or "", "" if run["records"] is None else str(run["records"]), why]


def _command(verb: str) -> Callable[..., None]:
    def command(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
        async def work() -> Exit:
            async with client_of(gateway) as client:
                _tell(await client.command_schedule(name, verb), as_json=as_json)
            return Exit.DONE

        finish(work())

    return command


def delete(name: Name, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Delete a schedule; its jobs stay."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.drop_schedule(name)
        if as_json:
            print(json.dumps({"name": name, "deleted": True}))
        else:
            tell(f"{name} is deleted")
        return Exit.DONE

    finish(work())


def _print(kept: list[Json], names: tuple[str, ...], cells: Callable[[Json], list[str]], *, as_json: bool) -> None:
    if as_json:
        for row in kept:
            print(json.dumps(row, ensure_ascii=False))
    else:
        print_table(names, [cells(row) for row in kept])


def _tell(schedule: Json, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(schedule, ensure_ascii=False))
        return
    times = ", ".join(schedule["next"]) or "never: it is paused"
    tell(f"{schedule['name']} runs next: {times}")
