"""The networks that this machine is on."""

from __future__ import annotations

import socket
from ipaddress import ip_interface

import psutil


def own_networks() -> tuple[str, ...]:
    """The addresses of this machine's interfaces, each with the network that its interface reaches without a router.

    As `NETWORK/BITS`, public ones and private ones. An interface that says it reaches everything counts as its address.
    """
    networks = set[str]()
    for addresses in psutil.net_if_addrs().values():
        for address in addresses:
            if address.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            interface = ip_interface(address.address.partition("%")[0])
            bits = _bits(address.netmask) or interface.max_prefixlen
            networks.add(str(ip_interface(f"{interface.ip}/{bits}").network))
            if address.ptp:
                networks.add(str(ip_interface(address.ptp.partition("%")[0]).network))
    return tuple(sorted(networks))


def _bits(netmask: str | None) -> int:
    """Bits of a netmask such as 255.255.0.0 or ffff:ffff::; 0 where there is none."""
    return 0 if netmask is None else int(ip_interface(netmask.partition("/")[0]).ip).bit_count()
