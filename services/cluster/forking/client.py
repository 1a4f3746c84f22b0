"""A process that has the fork server become what it should run itself; that is what it does where no server answers.

A script that imports next to nothing. Its arguments: the server's socket, a file descriptor to hand on beside the first
three ("-": none), and what it would give Python. With a descriptor it lives as long as what runs in its place, and ends
as that does; without one it ends once that has begun.
"""

import json
import os
import select
import signal
import socket
import struct
import sys

_FOR_RAYS_SCRIPT = ("--serialized-runtime-env-context=", "--language=")
"""Arguments that Ray gives the script whose place this one takes. It makes the environments of workers; here there is
one. It also imports all of Ray before it starts Python anew, which imports it again."""


def main() -> None:
    place, kept, *given = sys.argv[1:]
    files = [0, 1, 2] if kept == "-" else [0, 1, 2, int(kept)]
    command = [part for part in given if not part.startswith(_FOR_RAYS_SCRIPT)]
    message = json.dumps({"files": files, "command": command, "environment": dict(os.environ)}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(place)
            socket.send_fds(connection, [struct.pack("!I", len(message))], files)
            connection.sendall(message)
            # However long it takes, unless the server ends: who gave up would be a second worker of the same name.
            begun = connection.recv(4)
        except OSError:
            begun = b""
        if begun and kept != "-":
            _end_as_it_does(connection, *struct.unpack("!I", begun))
    if not begun:
        os.execv(sys.executable, [sys.executable, *command])


def _end_as_it_does(connection: socket.socket, pid: int) -> None:
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    try:
        handle = os.pidfd_open(pid)
    except OSError:  # an old kernel, or a profile of a container that forbids it
        handle = None
    for file in (0, 1, 2, int(sys.argv[2])):
        os.close(file)
    status = connection.recv(4)
    if not status:  # the server has ended: how that process ends is not told
        if handle is None:
            os.kill(pid, signal.SIGKILL)
        else:
            select.select([handle], [], [])
        os._exit(1)
    code = os.waitstatus_to_exitcode(*struct.unpack("!I", status))
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):  # these have no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
