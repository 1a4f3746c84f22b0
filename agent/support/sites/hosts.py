"""Names and addresses of hosts: how browsers read them, and which of them are one site."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote

from publicsuffixlist import PublicSuffixList

from shoal.agent.support.bounded_cache import bounded_cache

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
    """Whether `host` is `domain` or one of its sub-domains. Addresses and names of one word have none."""
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
