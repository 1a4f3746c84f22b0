"""Which user of this machine is at the other end of a connection over loopback.

A gateway without keys serves the user who started it. Its address keeps other machines out, and no other user of this
one. The kernel knows whose socket a caller has, so that nobody has to show anything.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from ipaddress import IPv6Address, ip_address
from typing import Any

import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

from shoal.services.events import LogEvent

log = structlog.get_logger()

Place = tuple[str, int]
"""Address and port of one end."""

# linux/netlink.h, linux/inet_diag.h: a question about one socket, and its answer.
_SOCK_DIAG = 4
_BY_FAMILY = 20
_REQUEST = 1
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_ASKED = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
_ANY = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # interface and cookie
_OWNER = struct.Struct("=II")  # user id and inode, which is 0 of a socket that its process has closed
_OWNER_AT = _HEADER.size + 4 + 48 + 12
_ALL_STATES = 0xFFFFFFFF
_TIMEOUT_S = 1.0
_LINGER_S = 2.0
_ROOT = 0

_REFUSED = (
    b"HTTP/1.1 403 Forbidden\r\ncontent-type: application/problem+json\r\nconnection: close\r\n\r\n"
    b'{"status":403,"code":"not_allowed","title":"Not allowed","detail":"Another user of this machine started this '
    b'gateway. Without keys it serves that user alone: SHOAL_AUTH=on and `shoal keys create` let others in."}'
)


def owner_of(end: Place, other: Place) -> int | None:
    """The user id that the TCP socket at `end` belongs to, whose other end is at `other`; None where no process has it.

    What came over a socket that its process has closed since may be anyone's.

    Raises:
        OSError: this system does not tell.
    """
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError("this system does not tell whose sockets are whose")
    family, own, its = _packed(end, other)
    sockets = _PORTS.pack(end[1], other[1]) + own + its + _ANY
    question = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + sockets
    header = _HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_S)
        kernel.send(header + question)
        answer = kernel.recv(1 << 16)
    if _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return None  # there is no such socket
    user, inode = _OWNER.unpack_from(answer, _OWNER_AT)
    return int(user) if inode else None


def _packed(end: Place, other: Place) -> tuple[int, bytes, bytes]:
    """The family of both addresses, and these as the kernel takes them; IPv4 within IPv6 is IPv4 to it."""
    addresses = [ip_address(host.partition("%")[0]) for host, _ in (end, other)]
    plain = [(isinstance(address, IPv6Address) and address.ipv4_mapped) or address for address in addresses]
    family = socket.AF_INET if plain[0].version == 4 else socket.AF_INET6
    return family, plain[0].packed.ljust(16, b"\0"), plain[1].packed.ljust(16, b"\0")


def can_tell() -> bool:
    """Return whether this system tells whose sockets are whose; tried with a connection of our own."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as own:
        try:
            owner = owner_of(own.getsockname(), listener.getsockname())
        except OSError as error:
            log.warning(LogEvent.LOCAL_USERS_UNKNOWN, error=str(error))
            return False
    if owner != os.geteuid():
        log.warning(LogEvent.LOCAL_USERS_UNKNOWN, error=f"an own connection is said to be of user {owner}")
    return owner == os.geteuid()


class OwnUserProtocol(H11Protocol):
    """Serves connections of the user who runs this process, and of root, who may read its memory anyway."""

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._refused = not self._is_own(transport)
        if self._refused:
            transport.write(_REFUSED)
            transport.write_eof()
            # Closed at once, with what came unread, the connection would be reset before the answer is read.
            self.loop.call_later(_LINGER_S, transport.close)

    def _is_own(self, transport: asyncio.Transport) -> bool:
        caller: Any = transport.get_extra_info("peername")
        here: Any = transport.get_extra_info("sockname")
        try:
            return owner_of(caller[:2], here[:2]) in (os.geteuid(), _ROOT)
        except OSError as error:
            log.warning(LogEvent.LOCAL_USERS_UNKNOWN, error=str(error))
            return False

    def data_received(self, data: bytes) -> None:
        """Ignore what a caller sends who is refused."""
        if not self._refused:
            super().data_received(data)
