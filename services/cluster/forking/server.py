"""A process that has imported what the parts of an embedded cluster need, and forks itself into each of them.

They start at once then, and what was imported is in memory once. The server has one thread and is connected to nothing:
there is nothing that a fork could break. `client` asks it, and only where the cluster's own process or its raylet has
started the client: a fork has the rights that a browser lacks.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

from shoal.services.cluster.forking import client
from shoal.services.interpreter import collect_rarely, import_less

GATEWAY = "shoal.services.cluster.gateway_process"
_WORKERS = ("shoal.services.dispatch.dispatcher", "shoal.services.browsers.session_parts.real_parts")
_WITH_RAY = ("ray._private.workers.default_worker", "shoal.services.dispatch.actor")
_READ_S = 10.0
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group at the other end of a Unix socket."""
_NUMBER = struct.Struct("!I")
_STANDARD = (0, 1, 2)
_ABOVE = 64
"""File descriptors from here on are none that a fork is to have."""


@contextmanager
def fork_server(folder: Path) -> Iterator[Path | None]:
    """A fork server for as long as the context lasts, or this process; gives its socket, where it answers once it can.

    None where there is no Linux: what it needs of the system is Linux's.

    Args:
        folder: where the socket lies; private to this user.
    """
    if sys.platform != "linux":
        yield None
        return
    place = folder / "fork"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env={**os.environ, "TMPDIR": str(folder / "tmp")},  # by which the watchdog knows it
            process_group=0,  # what a terminal sends is for the cluster's process alone
        )
    try:
        yield place
    finally:
        process.kill()
        process.communicate()
        place.unlink()


def client_command(place: Path | None, kept: int | None = None) -> list[str]:
    """Return what stands for Python in a command, so that the server at `place` becomes it. None: Python itself.

    Args:
        kept: a file descriptor that it is to have beside its standard ones. The client lives as long as it does.
    """
    if place is None:
        return [sys.executable]
    return [sys.executable, "-I", "-S", client.__file__, str(place), "-" if kept is None else str(kept)]


@dataclass(frozen=True, slots=True)
class _Wish:
    """A process that the server is to become."""

    connection: socket.socket  # of the client, which would be that process otherwise
    files: list[int]  # the client's, as they are here
    numbers: list[int]  # and their descriptors there
    command: list[str]
    environment: dict[str, str]

    @property
    def is_of_ray(self) -> bool:
        """Return whether it is one of Ray's workers."""
        return "RAY_RAYLET_PID" in self.environment

    @property
    def for_ray(self) -> Mapping[str, str]:
        """Variables that Ray reads once, when it is loaded, such as the raylet with which a worker ends."""
        return {name: value for name, value in self.environment.items() if name.startswith("RAY_")}

    @property
    def is_watched(self) -> bool:
        """Return whether the client waits for its end."""
        return len(self.files) > len(_STANDARD)


def _read(listener: socket.socket) -> _Wish | None:
    """The wish of who has connected; None: it has gone."""
    connection, _ = listener.accept()
    if not _is_of_cluster(_peer(connection)):
        connection.close()
        return None
    connection.settimeout(_READ_S)
    files: list[int] = []
    try:
        head, files, _, _ = socket.recv_fds(connection, _NUMBER.size, len(_STANDARD) + 1)
        with connection.makefile("rb") as stream:
            message = json.loads(stream.read(*_NUMBER.unpack(head)))
    except (OSError, ValueError, struct.error):
        connection.close()
        _close(files)
        return None
    return _Wish(connection, files, message["files"], message["command"], message["environment"])


def _peer(connection: socket.socket) -> int:
    """The process that has connected."""
    return int(_CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0])


def _is_of_cluster(process: int) -> bool:
    """Return whether a process was started by the server's owner, or by the raylet that this one has started."""
    try:
        parent, _ = _parent(process)
        above, name = _parent(parent)
    except OSError:  # it has gone
        return False
    return parent == os.getppid() or (above == os.getppid() and name == "raylet")


def _parent(process: int) -> tuple[int, str]:
    """The process that has started this one, and this one's name."""
    name, _, rest = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(") ")
    return int(rest.split()[1]), name


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


@dataclass(slots=True)
class _Server:
    """The server in its own process."""

    listener: socket.socket
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    clients: dict[int, socket.socket] = field(default_factory=dict)  # who waits for the end of a process
    ray: Mapping[str, str] = field(default_factory=dict)  # the variables that it was loaded with

    def run(self) -> _Wish:
        """In each fork what it is to become. The server itself ends here, with its owner."""
        wakes, woken = socket.socketpair()
        woken.setblocking(False)
        signal.signal(signal.SIGCHLD, _do_nothing)
        signal.set_wakeup_fd(woken.fileno())
        self.selector.register(wakes, selectors.EVENT_READ, partial(self._reap, wakes))
        self.selector.register(self.listener, selectors.EVENT_READ, self._fork)
        self.selector.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        _import((GATEWAY, *_WORKERS))  # all before the first fork: whatever comes later parts what both have
        wish = None
        while wish is None:
            wish = self._serve()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.selector.close()
        for end in (wakes, woken, self.listener, *self.clients.values()):
            end.close()
        return wish

    def _serve(self) -> _Wish | None:
        """Does what has to be done next; in a fork what it is to become."""
        for key, _ in self.selector.select():
            wish: _Wish | None = key.data()
            if wish is not None:
                return wish
        return None

    def _fork(self) -> _Wish | None:
        wish = _read(self.listener)
        if wish is None:
            return None
        if wish.is_of_ray and not self.ray:
            os.environ.update(wish.environment)
            _import(_WITH_RAY)
            self.ray = wish.for_ray
        pid = None
        if not wish.is_of_ray or wish.for_ray == self.ray:
            gc.freeze()  # a pass of the collector would write to the memory that is shared
            pid = os.fork()
        if pid == 0:
            return wish
        if pid is not None and wish.is_watched:
            self.clients[pid] = wish.connection
            self.selector.register(wish.connection, selectors.EVENT_READ, partial(self._end, pid))
        else:
            wish.connection.close()  # without an answer where there is no fork: then the client becomes it itself
        _close(wish.files)
        return None

    def _reap(self, wakes: socket.socket) -> None:
        """Takes notice of all processes that have ended. Until the server does, Ray takes them as alive."""
        wakes.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = ended
                if (client := self.clients.pop(pid, None)) is not None:
                    self.selector.unregister(client)
                    with client, contextlib.suppress(OSError):  # it has gone
                        client.sendall(_NUMBER.pack(status))

    def _end(self, pid: int) -> None:
        """Ends a process whose client has ended."""
        if pid in self.clients:  # not waited for yet, so the number is still its own
            self.selector.unregister(self.clients[pid])
            self.clients.pop(pid).close()
            os.kill(pid, signal.SIGKILL)


def _do_nothing(number: int, frame: object) -> None:
    """Lets a signal wake the server."""


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


def _become(wish: _Wish) -> None:
    """Runs what is wished for, as the client would."""
    client_pid = _peer(wish.connection)
    os.setpgid(0, os.getpgid(client_pid))  # Ray makes a group for each worker, and ends it as one
    # It also has the kernel end workers first where memory runs out.
    Path("/proc/self/oom_score_adj").write_text(Path(f"/proc/{client_pid}/oom_score_adj").read_text())
    wish.connection.sendall(_NUMBER.pack(os.getpid()))  # raises where the client has gone
    wish.connection.close()
    above = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for file in wish.files]
    _close(wish.files)
    for file, number in zip(above, wish.numbers, strict=True):
        os.dup2(file, number, inheritable=number < len(_STANDARD))
        os.close(file)
    os.environ.clear()
    os.environ.update(wish.environment)
    kind, *rest = wish.command
    if kind == "-m":
        sys.argv = rest
        import_module(rest[0]).main()
    else:
        sys.argv = wish.command
        runpy.run_path(kind, run_name="__main__")


def main() -> None:
    collect_rarely()
    import_less()
    wish = _Server(socket.socket(fileno=int(sys.argv[1]))).run()
    _become(wish)


if __name__ == "__main__":
    main()
