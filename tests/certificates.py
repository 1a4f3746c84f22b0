"""Private certificate authorities, and servers on loopback that show their certificates."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_SSL_REQUEST, _GSS_REQUEST = 80877103, 80877104
"""Codes of a PostgreSQL client's requests before it says anything else (the manual's "Message Formats")."""


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority of one's own, as files."""

    certificate: Path  # what clients trust
    server: ssl.SSLContext  # of a server whose certificate it gave, for the name `localhost`


def private_authority(folder: Path) -> Authority:
    """A new authority with one server's certificate, below `folder`."""
    folder.mkdir(parents=True)
    key, name = ec.generate_private_key(ec.SECP256R1()), _name(f"authority {folder.name}")
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    own = _builder(name, name, key.public_key()).add_extension(constraint, critical=True).sign(key, hashes.SHA256())
    server_key = ec.generate_private_key(ec.SECP256R1())
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    server = _builder(_name("localhost"), name, server_key.public_key()).add_extension(names, critical=False)
    (folder / "ca.crt").write_bytes(own.public_bytes(Encoding.PEM))
    (folder / "server.crt").write_bytes(server.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(
        server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    return Authority(folder / "ca.crt", context)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    times = x509.CertificateBuilder().not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    return times.subject_name(subject).issuer_name(issuer).public_key(key).serial_number(x509.random_serial_number())


@contextmanager
def postgres_over_tls(url: str, authority: Authority) -> Iterator[int]:
    """A port of loopback that speaks TLS before the server at `url`, which listens on a Unix socket without it."""
    (folder,) = parse_qs(urlsplit(url).query)["host"]

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := int.from_bytes((await reader.readexactly(8))[4:])) == _GSS_REQUEST:
            writer.write(b"N")
        if asked != _SSL_REQUEST:
            return  # it would speak in clear
        writer.write(b"S")
        await writer.drain()
        await writer.start_tls(authority.server)
        up_reader, up_writer = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
        try:
            await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))
        finally:
            up_writer.close()

    with _listening(client) as port:
        yield port


@contextmanager
def answering_over_tls(authority: Authority) -> Iterator[int]:
    """A port of loopback with an HTTPS server that answers 200 to everything."""

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()

    with _listening(client, authority.server) as port:
        yield port


_Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def _listening(client: _Client, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server on loopback, in a thread of its own."""
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Clients that do not trust the certificate go away in the middle; that is what they are here for.
        with suppress(ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
            await client(reader, writer)
        writer.close()

    async def serve() -> None:
        ended = asyncio.Event()
        async with await asyncio.start_server(closing, "127.0.0.1", 0, ssl=context) as server:
            ready.set_result((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), ended))
            await ended.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="tls")
    thread.start()
    port, loop, ended = ready.result(10)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
