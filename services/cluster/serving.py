"""Servers in this process: their sockets and their lives. Knows nothing of Ray, nor of what is served."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import structlog
import uvicorn

from shoal.services.cluster.local_user import OwnUserProtocol, can_tell
from shoal.services.errors import ClusterFailed, StoreAway, StoreBroken
from shoal.services.events import LogEvent

log = structlog.get_logger()

T = TypeVar("T")

_STORE_S = 20.0
"""Seconds that a part that starts waits for a store that is away; one whose address is wrong is told by then."""
_AGAIN_S = 0.5
_GRACE_S = 3
"""Seconds that open requests get to end; event streams and long downloads go on elsewhere, at the place they have
reached.
"""
_PROXY = "127.0.0.1"
"""From where a proxy's word of its caller is believed."""


class Server(uvicorn.Server):
    """Uvicorn without its signal handlers: its owner decides when it ends."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def patiently(call: Callable[[], Awaitable[T]], tell: Callable[[str], None] = lambda message: None) -> T:
    """Return what a call of the store gives;
    made again while the store is away: a connection may drop while a part starts.

    `tell` hears what is waited for.

    Raises:
        StoreAway: it was not back within `_STORE_S`, or is broken.
    """
    until_s, last_message = time.monotonic() + _STORE_S, ""
    while True:
        try:
            return await call()
        except StoreBroken:
            raise
        except StoreAway as error:
            if time.monotonic() >= until_s:
                raise
            if error.message != last_message:
                log.warning(LogEvent.STORE_AWAY, error=error.message)
                tell(f"{error.message}; trying again for {_STORE_S:g} s")
            last_message = error.message
            await asyncio.sleep(_AGAIN_S)


@contextmanager
def listening(host: str, port: int, *, setting: str = "SHOAL_PORT") -> Iterator[socket.socket]:
    """A socket on `host` and `port` (0: any free one), which is the value of `setting`.

    Raises:
        ClusterFailed: the address is taken, or none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only on sockets that name their protocol. Without that every
    # answer waits some 40 ms for the acknowledgement of its own headers.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise ClusterFailed(
                f"cannot listen on {host}, port {port} ({error.strerror}): "
                f"set {setting}{', 0 for any free one,' if setting == 'SHOAL_PORT' else ''} or SHOAL_HOST"
            ) from error
        yield listener


@asynccontextmanager
async def served(
    app: Any, listener: socket.socket, name: str, *, believes_proxies: bool = True, own_user: bool = False
) -> AsyncIterator[str]:
    """An ASGI app behind `listener` for as long as the context lasts; gives its address once it answers.

    Args:
        app: the app.
        listener: bound already.
        name: for logs and messages.
        believes_proxies: what a proxy on this machine says of its caller is taken for the caller, address included.
        own_user: other users of this machine are refused, where the system tells who calls.

    Raises:
        ClusterFailed: it did not start.
    """
    config = uvicorn.Config(
        app,
        interface="asgi3",
        # Not httptools, which uvicorn prefers where it is installed: it takes headers without end into memory.
        http=OwnUserProtocol if own_user and can_tell() else "h11",
        log_config=None,
        lifespan="off",
        proxy_headers=believes_proxies,
        forwarded_allow_ips=_PROXY,  # said here: uvicorn would take it from the environment
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name=name)
    try:
        while not server.started and not task.done():
            await asyncio.wait([task], timeout=0.02)
        if task.done():
            raise ClusterFailed(f"the {name} did not start") from task.exception()
        host, port = listener.getsockname()[:2]
        yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await asyncio.wait([task])
