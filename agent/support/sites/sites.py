"""Sites as a job names them, and the pages that belong to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shoal.agent.support.sites.hosts import host_fault, literal_address, plain_host, registrable_domain
from shoal.agent.support.web_addresses import WEB, address_parts

_WITH_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):([0-9]{1,5})")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Site:
    """A host, with all below it where `below` says so."""

    host: str  # see `plain_host`
    port: int | None = None  # None: any
    below: bool = True  # its sub-domains belong to it

    def covers(self, url: str) -> bool:
        """Whether the page at `url` belongs to it."""
        parts = address_parts(url)
        if parts.scheme not in WEB or not parts.hostname:
            return False
        host = plain_host(parts.hostname)
        within = self.below and host.endswith(f".{self.host}")
        if host != self.host and not within and not _same_address(host, self.host):
            return False
        return self.port is None or self.port == (parts.port or _PORTS[parts.scheme])

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def _same_address(host: str, other: str) -> bool:
    address = literal_address(host)
    return address is not None and address == literal_address(other)


@dataclass(frozen=True, slots=True)
class Sites:
    """Sites of one job."""

    all: tuple[Site, ...]

    def cover(self, url: str) -> bool:
        """Whether the page at `url` belongs to one of them."""
        return any(site.covers(url) for site in self.all)

    def __str__(self) -> str:
        return ", ".join(map(str, self.all))


def named_site(text: str) -> Site:
    """The site that `HOST` or `HOST:PORT` names. Addresses and names of one word have no sub-domains.

    Raises:
        ValueError: it is no host name, or one below which anyone can have a site.
    """
    match = _WITH_PORT.fullmatch(text.strip())
    host, port = (match[1], int(match[2])) if match else (text.strip(), None)
    plain = plain_host(host)
    if fault := host_fault(plain):
        raise ValueError(fault)
    if port is not None and not 0 < port < 65_536:
        raise ValueError(f"names port {port}, which no server has")
    return Site(plain, port, below="." in plain and literal_address(plain) is None)


def site_of(url: str) -> Site | None:
    """The site of the page at `url`: its registrable domain with all below it; None where it is no web address.

    An address, a name of one word and a public suffix are sites of their own, with their port: what else listens
    there belongs to somebody else.
    """
    parts = address_parts(url)
    if parts.scheme not in WEB or not parts.hostname:
        return None
    domain = registrable_domain(parts.hostname)
    if domain is not None:
        return Site(domain)
    return Site(plain_host(parts.hostname), parts.port or _PORTS[parts.scheme], below=False)


def sites_of(urls: Iterable[str]) -> Sites:
    """The sites of these pages, each once."""
    return Sites(tuple(dict.fromkeys(site for url in urls if (site := site_of(url)) is not None)))
