"""The sites on which a stored secret may be filled in: how they are written, and what they cover.

A site is a host name. It covers the host and its sub-domains by https. `http://HOST` covers plain http too, and a port
limits it to that port. Beside the secret, its owner writes the sites, one a line, with comments behind `#`.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from shoal.agent.support.sites.sites import host_fault, host_within, plain_host


@dataclass(frozen=True, slots=True)
class SecretSite:
    """One place where a secret may be filled in."""

    host: str
    plain_http: bool = False  # also where nothing is encrypted
    port: int | None = None  # None: any

    def covers(self, url: str) -> bool:
        """Return whether the page at `url` belongs to it."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (self.plain_http and parts.scheme == "http"):
            return False
        if not parts.hostname or not host_within(parts.hostname, self.host):
            return False
        return self.port is None or self.port == (parts.port or {"http": 80, "https": 443}[parts.scheme])

    def __str__(self) -> str:
        port = "" if self.port is None else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.plain_http else 'https'}://{host}{port}"


def parse_sites(text: str) -> tuple[SecretSite, ...]:
    """The sites that a binding names.

    Raises:
        ValueError: naming the first line that is wrong.
    """
    lines = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return tuple(_site(line, number) for number, line in lines if line)


def _site(line: str, number: int) -> SecretSite:
    try:
        parts = urlsplit(line if "://" in line else f"https://{line}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"line {number}: {line!r} is no host: {error}") from None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.path.strip("/") or parts.query:
        raise ValueError(f"line {number}: {line!r} must be HOST, HOST:PORT or http://HOST")
    if fault := host_fault(host):
        raise ValueError(f"line {number}: {line!r} {fault}")
    return SecretSite(plain_host(host), parts.scheme == "http", port)
