"""Commands about sites: what goes on there, and the limits that an operator sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from shoal.agent.support.json_value import Json
from shoal.services.cli.command_table import command_group
from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import BadUsage, Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_rows

Host = Annotated[str, typer.Argument(metavar="HOST", help="The site's host name, such as shop.example.")]
_NONE = "none"


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    sites = command_group(
        no_args_is_help=True, help="Sites: list, limit, pause, resume. For keys with the scope admin."
    )
    sites.command("list")(listing)
    sites.command("limit")(limit)
    sites.command("pause")(pause)
    sites.command("resume")(resume)
    app.add_typer(sites, name="sites")


def listing(gateway: Gateway = "", as_json: AsJson = False) -> None:
    """List sites that are worked on or limited, the busiest first; figures are those of the last five minutes."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            page = await client.sites(limit=500)
        print_rows(
            page["sites"],
            ("site", "running", "attempts", "failed", "at most", "between starts", "robots.txt", ""),
            lambda row: [
                row["host"],
                str(row["running"]),
                str(row["attempts"]),
                str(row["failed"]),
                "" if row["concurrency"] is None else str(row["concurrency"]),
                "" if row["delay_s"] is None else f"{row['delay_s']:g} s",
                row["robots"],
                "paused" if row["paused"] else "asked for a pause" if row["asked_pause_s"] else "",
            ],
            as_json=as_json,
        )
        return Exit.DONE

    finish(work())


def limit(
    host: Host,
    concurrency: Annotated[str, typer.Option(metavar="N", help="Sessions at once; `none`: the general limit.")] = "",
    delay: Annotated[str, typer.Option(metavar="SECONDS", help="Between session starts; `none`: no delay.")] = "",
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Set limits of a site. They hold for all tenants, from the next session on."""

    def changes() -> dict[str, Json]:
        named: dict[str, Json] = {}
        if concurrency:
            named["concurrency"] = _number("--concurrency", concurrency, int)
        if delay:
            named["delay_s"] = _number("--delay", delay, float)
        if not named:
            raise BadUsage("say what is to change: --concurrency or --delay")
        return named

    _change(host, changes, gateway, as_json, f"the limits of {host} are set")


def pause(
    host: Host,
    minutes: Annotated[
        float | None, typer.Option(metavar="MINUTES", help="How long; default: until it is lifted.", min=0.01)
    ] = None,
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Let no session start on a site. Sessions that run go on to their end."""
    lasts = {} if minutes is None else {"pause_s": minutes * 60}
    _change(host, lambda: {"paused": True, **lasts}, gateway, as_json, f"{host} is paused")


def resume(host: Host, gateway: Gateway = "", as_json: AsJson = False) -> None:
    """Lift the pause of a site."""
    _change(host, lambda: {"paused": False}, gateway, as_json, f"{host} is open")


def _change(host: str, changes: Callable[[], Mapping[str, Json]], gateway: str, as_json: bool, message: str) -> None:
    async def work() -> Exit:
        made = changes()
        async with client_of(gateway) as client:
            site = await client.change_site(host, made)
        if as_json:
            print(json.dumps(site, ensure_ascii=False))
        else:
            tell(message)
        return Exit.DONE

    finish(work())


def _number(option: str, text: str, kind: type[int] | type[float]) -> int | float | None:
    if text == _NONE:
        return None
    try:
        return kind(text)
    except ValueError:
        raise BadUsage(f"{option}: write a number or {_NONE}, not {text!r}") from None
