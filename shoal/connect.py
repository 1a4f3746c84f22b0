"""Which gateway a program talks to: the named one, else the one that runs on this machine."""

from __future__ import annotations

import httpx

from shoal.api import Api
from shoal.errors import GatewayUnreachable
from shoal.services.cluster.address import running_cluster
from shoal.services.settings import Settings, load_settings


def find_gateway(settings: Settings, url: str = "") -> str | None:
    """The address that the caller, SHOAL_URL, SHOAL_GATEWAY or the cluster that runs here gives; None: none does."""
    return url or settings.url or settings.gateway or running_cluster(settings.data_dir)


def connect(url: str = "", api_key: str = "", *, transport: httpx.AsyncBaseTransport | None = None) -> Api:
    """The API of the gateway at `url`; where one of the two is empty, it is found as the command line finds it.

    Raises:
        GatewayUnreachable: no gateway is named, and none runs on this machine.
        ValueError: `url` is not an HTTP address.
        BadSetting: a SHOAL_ variable of the environment is unknown or wrong.
    """
    if not (url and api_key):
        settings = load_settings()
        url = find_gateway(settings, url) or ""
        api_key = api_key or settings.api_key.get_secret_value()
    if not url:
        raise GatewayUnreachable("no gateway is named (SHOAL_URL), and no Shoal runs on this machine")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"a gateway's address starts with http:// or https://, not like {url!r}")
    return Api(url, api_key, transport=transport)
