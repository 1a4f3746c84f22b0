"""Which gateway a command talks to: the named one, the one that runs here, or one of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shoal.api import Api
from shoal.connect import find_gateway
from shoal.errors import GatewayUnreachable
from shoal.services.cli import heavy
from shoal.services.cli.ending import BadUsage, tell
from shoal.services.settings import Settings, load_settings


def client_of(gateway: str) -> Api:
    """Return a client of the gateway that the option or the setting names, or of the cluster that runs on this machine.

    Logs are not set up: nothing of ours logs in a command that asks a gateway.

    Raises:
        GatewayUnreachable: there is none.
        BadUsage: its address is none.
    """
    return _client(load_settings(), gateway)


def _client(settings: Settings, gateway: str) -> Api:
    url = find_gateway(settings, gateway)
    if not url:
        raise GatewayUnreachable("no gateway is named, and no Shoal runs on this machine with this data folder")
    if not url.startswith(("http://", "https://")):
        raise BadUsage(f"a gateway's address starts with http:// or https://, not like {url!r}")
    return Api(url, settings.api_key.get_secret_value())


@asynccontextmanager
async def client_or_cluster(settings: Settings, gateway: str) -> AsyncIterator[Api]:
    """A client of a gateway that exists, else of a cluster that lives as long as the context."""
    if find_gateway(settings, gateway):
        async with _client(settings, gateway) as client:
            yield client
        return
    async with heavy.own_gateway(settings, lambda stage: tell(f"{stage} …")) as client:
        yield client
