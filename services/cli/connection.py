"""Which gateway a command talks to: the named one, the one that runs here, or one of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from services.cli import heavy
from services.cli.ending import Usage, tell
from services.client import Client, GatewayAway
from services.cluster.address import running_cluster
from services.settings import Settings

_OWN_BODY_KIB = 256 * 1024
"""What a cluster for one job takes from the command that started it: some million addresses."""


def client_of(settings: Settings, gateway: str) -> Client:
    """A client of the gateway that the option or the setting names, or of the cluster that runs on this machine.

    Raises:
        GatewayAway: there is none.
        Usage: its address is none.
    """
    url = gateway_of(settings, gateway)
    if not url:
        raise GatewayAway("no gateway is named, and no Shoal runs on this machine with this data folder")
    if not url.startswith(("http://", "https://")):
        raise Usage(f"a gateway's address starts with http:// or https://, not like {url!r}")
    return Client(url, settings.api_key.get_secret_value())


def gateway_of(settings: Settings, gateway: str) -> str | None:
    """The address that the option, the setting or the cluster that runs here gives; None: there is no gateway."""
    return gateway or settings.gateway or running_cluster(settings.data_dir)


@asynccontextmanager
async def client_or_cluster(settings: Settings, gateway: str) -> AsyncIterator[Client]:
    """A client of a gateway that exists, else of a cluster that lives as long as the context."""
    if gateway_of(settings, gateway):
        async with client_of(settings, gateway) as client:
            yield client
        return
    # A free port: a cluster for one job must not get in the way of what listens on the usual one.
    # What this user's own files are is this user's own business: those of the current folder may be uploaded, and a
    # list of loop values may be as long as it is.
    own = settings.model_copy(
        update={
            "host": "127.0.0.1",
            "port": 0,
            "upload_dirs": (*settings.upload_dirs, Path.cwd()),
            "body_limit_kib": max(settings.body_limit_kib, _OWN_BODY_KIB),
        }
    )
    async with (
        heavy.embedded_cluster(own, lambda stage: tell(f"{stage} …")) as cluster,
        Client(cluster.url, settings.api_key.get_secret_value()) as client,
    ):
        yield client
