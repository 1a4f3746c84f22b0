"""Which hosts a browser may not reach: private, loopback, link-local and metadata addresses, in every spelling.

The gateway asks at submission, the worker's egress filter at every request: both by the same function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses, ip_address, ip_network

from shoal.agent.support.sites.sites import Address, literal_address, plain_host

_METADATA = frozenset(
    {
        ip_address("169.254.169.254"),  # AWS, Azure, Google Cloud, DigitalOcean, OpenStack
        ip_address("169.254.170.2"),  # AWS ECS task credentials
        ip_address("168.63.129.16"),  # Azure's platform address: public by its number, but only the host answers
        ip_address("100.100.100.200"),  # Alibaba Cloud
        ip_address("192.0.0.192"),  # Oracle Cloud
        ip_address("fd00:ec2::254"),  # AWS over IPv6
        ip_address("fd20:ce::254"),  # Google Cloud over IPv6
    }
)
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})

# The first network that holds an address gives the reason, so narrow ones stand before wide ones.
_NETWORKS: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared with the carrier"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "private"),
        ("100::/64", "reserved"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved for documentation"),
        ("3fff::/20", "reserved for documentation"),
        ("5f00::/16", "reserved"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")


def refused_networks() -> list[str]:
    """Return what `address_reason` refuses, as networks, IPv4 first:
    for filters that know networks only, such as the chart's.

    Networks that carry IPv4 addresses inside are refused as a whole. IPv4-mapped addresses are not among them: they
    leave a machine as IPv4 and meet its rules.
    """
    wide = [network for network, _ in _NETWORKS] + [_NAT64, _COMPATIBLE, _SIX_TO_FOUR]
    single = [ip_network(address) for address in _METADATA if not any(address in network for network in wide)]
    networks = {*wide, *single}
    v4 = sorted(network for network in networks if isinstance(network, IPv4Network))
    v6 = sorted(network for network in networks if isinstance(network, IPv6Network))
    return [str(network) for network in (*collapse_addresses(v4), *collapse_addresses(v6))]


_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):[0-9]+")

_HOSTS = 4096
"""Addresses that are remembered: of each request of a page, the same is asked about several times."""


def forbidden_reason(host: str, addresses: Iterable[str] = ()) -> str | None:
    """Why a browser may not go to `host`, in words that follow "the address is"; None when it may.

    `host` is a name or a literal address in any spelling that browsers take (`2130706433`, `0x7f.1`,
    `[::ffff:10.0.0.1]`, full-width digits). `addresses` are what the name resolves to: one forbidden address forbids
    the host, since it is unknown which one the browser will take.
    """
    name = plain_host(host)
    literal = literal_address(name)
    if literal is not None:
        return address_reason(literal)
    if name in _METADATA_NAMES:
        return "a metadata service"
    if name == "localhost" or name.endswith((".localhost", ".localdomain")):
        return "loopback"
    for text in addresses:
        address = literal_address(plain_host(text))
        reason = address_reason(address) if address is not None else None
        if reason is not None:
            return f"{reason} ({text})"
    return None


@lru_cache(maxsize=_HOSTS)
def address_reason(address: Address) -> str | None:
    """Why no browser may go to `address`; None when it is a public one. IPv4 inside IPv6 is looked at as IPv4."""
    if address in _METADATA:
        return "a metadata service"
    if isinstance(address, IPv6Address):
        inner = _embedded_ipv4(address)
        if inner is not None:
            return address_reason(inner)
    for network, reason in _NETWORKS:
        if address.version == network.version and address in network:
            return reason
    return None


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, slots=True)
class Reach:
    """Addresses that browsers may reach: everything public, and those that the operator allows besides."""

    allow_private: bool = False  # everything is allowed
    exceptions: tuple[str, ...] = ()  # `HOST`, `HOST:PORT` or `NETWORK/BITS`, as the setting `allow_hosts` has them
    own: tuple[str, ...] = ()  # networks of the installation's machines, which are refused though they may be public

    def with_own(self, networks: Iterable[str]) -> Reach:
        """The same, with further networks of the installation."""
        return replace(self, own=tuple(sorted({*self.own, *networks})))

    def refusal(self, host: str, port: int | None = None, addresses: Sequence[str] = ()) -> str | None:
        """Why a browser may not go to `host`, as `forbidden_reason` says it; None when it may.

        An exception by name or by literal address allows the host whatever it resolves to; one by network allows the
        addresses in it, so that a name that also points elsewhere stays forbidden.
        """
        if self.allow_private or self._is_named(plain_host(host), port):
            return None
        literal = literal_address(plain_host(host))
        if literal is not None:
            return None if self._is_in_network(literal) else address_reason(literal) or self._own_reason(literal)
        outside = [text for text in addresses if not self._is_in_network(literal_address(plain_host(text)))]
        if addresses and not outside:
            return None
        reason = forbidden_reason(host, outside)
        if reason is not None:
            return reason
        for text in outside:
            address = literal_address(plain_host(text))
            own = self._own_reason(address) if address is not None else None
            if own is not None:
                return f"{own} ({text})"
        return None

    def _own_reason(self, address: Address) -> str | None:
        inner = _embedded_ipv4(address) if isinstance(address, IPv6Address) else None
        for candidate in (address, inner) if inner is not None else (address,):
            if any(candidate.version == network.version and candidate in network for network in _networks(self.own)):
                return "in a network of this installation's own machines"
        return None

    def _is_named(self, name: str, port: int | None) -> bool:
        for exception in self.exceptions:
            if "/" in exception:
                continue
            allowed, number = exception, ""
            if _HOST_AND_PORT.fullmatch(exception):
                allowed, _, number = exception.rpartition(":")
            if _same_host(allowed, name) and number in ("", str(port)):
                return True
        return False

    def _is_in_network(self, address: Address | None) -> bool:
        if address is None:
            return False
        networks = _networks(tuple(exception for exception in self.exceptions if "/" in exception))
        return any(address.version == network.version and address in network for network in networks)


@lru_cache(maxsize=64)
def _networks(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)


def _same_host(host: str, name: str) -> bool:
    plain = plain_host(host)
    literal = literal_address(plain)
    return plain == name or (literal is not None and literal == literal_address(name))
