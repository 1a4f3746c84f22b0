"""The sites on which a stored secret may be filled in: how they are written, and what they cover.

A site is a host name. It covers the host and its sub-domains by https. `http://HOST` covers plain http too, and a port
limits it to that port. Beside the secret, its owner writes the sites, one a line, with comments behind `#`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from shoal.services.addresses import literal_address, plain_host

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


@dataclass(frozen=True, slots=True)
class SecretSite:
    """One place where a secret may be filled in."""

    host: str
    plain_http: bool = False  # also where nothing is encrypted
    port: int | None = None  # None: any

    def covers(self, url: str) -> bool:
        """Whether the page at `url` belongs to it."""
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


def host_within(host: str, domain: str) -> bool:
    """Whether `host` is `domain` or one of its sub-domains. Addresses and names of one word have none."""
    host, domain = plain_host(host), plain_host(domain)
    if host == domain:
        return True
    has_subdomains = "." in domain and literal_address(domain) is None and literal_address(host) is None
    return has_subdomains and host.endswith("." + domain)


def host_fault(host: str) -> str | None:
    """Why a secret cannot be bound to `host`; None when it can."""
    plain = plain_host(host)
    if not host.isascii():
        return "is written with letters beyond ASCII: write the form that begins with xn--"
    if literal_address(plain) is not None:
        return None
    if not _NAME.fullmatch(plain):
        return "is no host name"
    if _public_suffixes().is_public(plain):
        return "is a public suffix, below which anyone can have a site: name the site itself"
    return None


@cache
def _public_suffixes() -> PublicSuffixList:
    """The list, read once. Names that it does not know, such as those of a company's own network, are no suffixes."""
    return PublicSuffixList(accept_unknown=False)


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
