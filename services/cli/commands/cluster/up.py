"""`shoal up`: the whole cluster on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer

from shoal.services.cli import heavy
from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson
from shoal.services.cli.running import finish, settings_of_process


def add_to(app: typer.Typer) -> None:
    """Adds this command to `app`."""
    app.command()(up)


def up(
    host: Annotated[str, typer.Option(help="Address to listen on; default: SHOAL_HOST, 127.0.0.1.")] = "",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; default: SHOAL_PORT, 8700; 0: a free one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start Ray, dispatcher, browsers, gateway and dashboard here, until Ctrl-C or SIGTERM; show how the jobs go."""

    async def work() -> Exit:
        given: dict[str, object] = {"host": host} if host else {}
        settings = settings_of_process(serves=True, **given, **({} if port is None else {"port": port}))
        async with heavy.embedded_cluster(settings, lambda stage: tell(f"{stage} …")) as cluster:
            if as_json:
                print(json.dumps({"url": cluster.url, "data_dir": str(cluster.data_dir)}), flush=True)
            else:
                tell(f"Shoal is up at {cluster.url} (dashboard and API); data in {cluster.data_dir}; Ctrl-C ends it")
            try:
                watching = heavy.watching()
                with watching.jobs_display(as_json=as_json) as show:
                    await watching.watch(cluster.store, show, cluster.artifacts.check)
            except asyncio.CancelledError:  # asked to end: leave in order
                return Exit.DONE
        return Exit.DONE

    finish(work(), serves=True)
