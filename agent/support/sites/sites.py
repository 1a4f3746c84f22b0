"""Hosts and sites as jobs name them, the pages that belong to them, and where a job may act."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote

from publicsuffixlist import PublicSuffixList

from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import WEB, address_parts, host_of, is_web, without_fragment

Address = IPv4Address | IPv6Address

# Characters that URL parsers drop from host names or read as a dot.
_IGNORED = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff\u200c\u200d\t\n\r"))
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")

LONGEST_HOST = 253
"""Characters of a name (RFC 1035, 2.3.4, without the last dot)."""
_HOSTS = 4096
"""Hosts that are remembered: of a submission, and of each request of a page, the same is asked about several times."""


@bounded_cache(_HOSTS, longest=LONGEST_HOST)
def plain_host(host: str) -> str:
    """`host` as a browser would read it: decoded, folded, lower case, without brackets, zone and last dot."""
    text = unquote(host).translate(_DOTS).translate(_IGNORED)
    text = unicodedata.normalize("NFKC", text).translate(_DOTS).strip().lower()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if ":" in text:
        text = text.split("%", 1)[0]
    return text.removesuffix(".")


@bounded_cache(_HOSTS, longest=LONGEST_HOST)
def literal_address(host: str) -> Address | None:
    """The address that `host` (see `plain_host`) spells out; None when it is a name."""
    if ":" in host:
        try:
            return IPv6Address(host)
        except ValueError:
            return None
    return _legacy_ipv4(host)


def _legacy_ipv4(host: str) -> IPv4Address | None:
    """IPv4 as URL parsers read it: one to four decimal, octal or hexadecimal numbers, the last filling the rest."""
    parts = host.split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    if None in numbers:
        return None
    *heads, last = (number for number in numbers if number is not None)
    if any(head > 255 for head in heads) or last >= 256 ** (4 - len(heads)):
        return None
    return IPv4Address(sum(head << (8 * (3 - place)) for place, head in enumerate(heads)) + last)


def _number(text: str) -> int | None:
    try:
        if text.startswith("0x"):
            return int(text[2:] or "0", 16)
        return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
    except ValueError:  # an octal number with 8 or 9 in it, or far too many digits
        return None


def host_within(host: str, domain: str) -> bool:
    """Return whether `host` is `domain` or one of its sub-domains. Addresses and names of one word have none."""
    host, domain = plain_host(host), plain_host(domain)
    if host == domain:
        return True
    has_subdomains = "." in domain and literal_address(domain) is None and literal_address(host) is None
    return has_subdomains and host.endswith("." + domain)


def host_fault(host: str) -> str | None:
    """Why `host` names no site; None when it does."""
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


@bounded_cache(_HOSTS, longest=LONGEST_HOST)
def registrable_domain(host: str) -> str | None:
    """The domain of `host` that somebody registered; None for an address, a name of one word, or a public suffix.

    Names that the list does not know, such as those of a company's own network, are registered by their last two
    labels.
    """
    plain = plain_host(host)
    if literal_address(plain) is not None:
        return None
    return _registered().privatesuffix(plain)


@cache
def _registered() -> PublicSuffixList:
    return PublicSuffixList()


_WITH_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):([0-9]{1,5})")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Site:
    """A host, with all below it where `below` says so."""

    host: str  # see `plain_host`
    port: int | None = None  # None: any
    below: bool = True  # its sub-domains belong to it

    def covers(self, url: str) -> bool:
        """Return whether the page at `url` belongs to it."""
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
        """Return whether the page at `url` belongs to one of them."""
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


_HOST = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,20}")


def is_other_site(url: str, other: str) -> bool:
    """Return whether two addresses belong to two owners:
    no registered domain has both, and they are not one host either.

    Scheme and sub-domain do not matter. An address of a machine and a name of one word are owners with their port.
    """
    return site_of(url) != site_of(other)


def is_led_elsewhere(link: str, landed: str) -> bool:
    """Return whether a link ended on a site that it does not name, as "/out?url=https://b.example/7" does."""
    named = (f"https://{host}" for host in _HOST.findall(unquote(unquote(link))))
    return is_web(landed) and is_other_site(link, landed) and all(is_other_site(site, landed) for site in named)


def sites_of(urls: Iterable[str]) -> Sites:
    """The sites of these pages, each once."""
    return Sites(tuple(dict.fromkeys(site for url in urls if (site := site_of(url)) is not None)))


_ADDRESS = re.compile(
    r"\b(?:https?://[^\s<>\"'`]{1,2000}|(?:[a-z0-9-]{1,63}\.){1,20}[a-z]{2,63}(?::[0-9]{1,5})?(?:/[^\s<>\"'`]{0,2000})?)",
    re.IGNORECASE,
)
_AT_END = ".,;:!?)]}"


def named_addresses(words: Iterable[str]) -> frozenset[str]:
    """Whole addresses that the job's own words name: they were not composed by a model."""
    addresses = (match.rstrip(_AT_END) for text in words for match in _ADDRESS.findall(text))
    return frozenset(bare_address(address if "://" in address else f"https://{address}") for address in addresses)


def texts_of(value: Json) -> Iterator[str]:
    """All texts and numbers in `value`, keys aside."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts_of(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_of(part)


def bare_address(url: str) -> str:
    """An address without what need not be written: scheme, fragment and the slash at its end."""
    parts = address_parts(without_fragment(url))
    query = f"?{parts.query}" if parts.query else ""
    return f"{host_of(url)}{parts.path.rstrip('/')}{query}"
