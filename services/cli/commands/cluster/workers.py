"""Commands about browser workers: how they stand, and the replacing of one."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from shoal.services.cli.connection import client_of
from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson, Gateway
from shoal.services.cli.pace import duration
from shoal.services.cli.running import finish
from shoal.services.cli.tables import print_rows

_MIB = 1024 * 1024


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    app.command()(workers)
    app.command()(drain)


def workers(gateway: Gateway = "", as_json: AsJson = False) -> None:
    """List the browser workers."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            page = await client.workers()
        print_rows(
            page["workers"],
            ("worker", "node", "age", "slots busy", "waiting", "browsers", "oldest", "restarts", "memory", ""),
            lambda row: [
                row["name"],
                row["node"],
                _span(row["age_s"]),
                f"{row['busy']} of {row['slots']}",
                str(row["waiting"]),
                str(row["browsers"]),
                _span(row["browser_age_s"]),
                str(row["browser_restarts"]),
                f"{row['rss_bytes'] // _MIB} MiB",
                "leaving" if row["leaving"] else "",
            ],
            as_json=as_json,
        )
        return Exit.DONE

    finish(work())


def drain(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Its name, as `shoal workers` shows it.")],
    gateway: Gateway = "",
    as_json: AsJson = False,
) -> None:
    """Replace a browser worker: it gets no more sessions, and what it runs may end first."""

    async def work() -> Exit:
        async with client_of(gateway) as client:
            await client.drain(worker)
        if as_json:
            print(json.dumps({"worker": worker, "leaving": True}))
        else:
            tell(f"{worker} is being replaced")
        return Exit.DONE

    finish(work())


def _span(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)
