"""The parts of a cluster alone, as Kubernetes or systemd runs them: `shoal gateway`, `shoal supervise`."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Annotated

import typer

from shoal.services.cli import heavy
from shoal.services.cli.ending import Exit, tell
from shoal.services.cli.options import AsJson
from shoal.services.cli.running import finish, settings_of_process
from shoal.services.cluster.address import make_data_folder

Host = Annotated[str, typer.Option(help="Address to listen on; default: SHOAL_HOST, 127.0.0.1.")]


def add_to(app: typer.Typer) -> None:
    """Adds these commands to `app`."""
    app.command()(gateway)
    app.command()(supervise)


def gateway(
    host: Host = "",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; default: SHOAL_PORT, 8700; 0: a free one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve API and dashboard alone, over SHOAL_STORE_URL and SHOAL_ARTIFACTS_URL, until SIGTERM.

    Needs no Ray. Several may run beside each other; give them the same SHOAL_COOKIE_SECRET. A PostgreSQL database must
    have been brought up to date by `shoal migrate` before.
    """

    async def work() -> Exit:
        given: dict[str, object] = {"host": host} if host else {}
        settings = settings_of_process(serves=True, **given, **({} if port is None else {"port": port}))
        make_data_folder(settings.data_dir)
        async with heavy.gateway_alone(settings) as url:
            if as_json:
                print(json.dumps({"url": url}), flush=True)
            else:
                tell(f"the gateway answers at {url}; Ctrl-C ends it")
            return await _until_stopped()

    finish(work(), serves=True)


def supervise(
    health_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of /healthz and /readyz, on SHOAL_HOST; default: none.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Keep the dispatcher of the Ray cluster at SHOAL_RAY_ADDRESS running, until SIGTERM.

    Starts it as a detached actor, replaces it when its settings have changed, and comes back by itself when the Ray
    cluster was replaced. Ending the supervisor leaves the dispatcher running.
    """

    async def work() -> Exit:
        settings = settings_of_process(serves=True)
        async with heavy.supervised(settings, health_port=health_port):
            if as_json:
                print(json.dumps({"ray": settings.ray_address}), flush=True)
            else:
                tell(f"looking after the dispatcher of {settings.ray_address}; Ctrl-C ends this, not the dispatcher")
            return await _until_stopped()

    finish(work(), serves=True)


async def _until_stopped() -> Exit:
    with suppress(asyncio.CancelledError):  # SIGTERM or Ctrl-C: leave in order
        await asyncio.Event().wait()
    return Exit.DONE
