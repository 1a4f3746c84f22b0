"""Takes the ends of a browser's DevTools pipe over from its starter (`fence.py`), by a socket in its folder."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

from shoal.agent.chromium.process.fence import socket_address
from shoal.agent.chromium.wire.shared_pipe import SharedPipe


class PipeHandover:
    """Waits for the starter of one browser, in a folder that no other user may open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "devtools"
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            with socket_address(str(self.path)) as address:
                self._listener.bind(address)
            self._listener.listen(1)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise

    async def shared(self) -> SharedPipe:
        """The pipe of the browser whose starter comes first.

        Raises:
            OSError: the starter went away.
        """
        try:
            starter, _ = await asyncio.get_running_loop().sock_accept(self._listener)
        finally:
            self._listener.close()
            self.path.unlink(missing_ok=True)
        with starter:
            calls, answers = await _handed_over(starter)
            calls_in, calls_out = os.pipe()
            answers_in, answers_out = os.pipe()
            try:
                socket.send_fds(starter, [b"."], [calls_in, answers_out])
            finally:
                os.close(calls_in)
                os.close(answers_out)
        pipe = SharedPipe()
        await pipe.open((calls, answers), (answers_in, calls_out))
        return pipe


async def _handed_over(starter: socket.socket) -> tuple[int, int]:
    """The two ends that a starter sends."""
    await _readable(starter)
    _, ends, _, _ = socket.recv_fds(starter, 1, 2)
    for end in ends:
        os.set_inheritable(end, False)
    if len(ends) != 2:
        for end in ends:
            os.close(end)
        raise ConnectionError("the browser's starter went away")
    return ends[0], ends[1]


async def _readable(some: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(some, wake)
    try:
        await ready
    finally:
        loop.remove_reader(some)
