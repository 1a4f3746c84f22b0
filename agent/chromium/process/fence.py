"""Starts a program that reads no files of this machine but the system's and those in its own folder.

The kernel keeps the fence (Landlock, Linux 5.13 and later), around the program and all that it starts: whatever makes a
browser open a local file, it finds none. Run by path, with nothing of ours imported:

    python -I -S fence.py OWN_FOLDER PROGRAM ARGUMENTS...

Without a folder ("") there is no fence. Where a socket is named by the environment, the ends of a browser's DevTools
pipe are handed over there before, and those that come back take their place.
"""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VARIABLES = "SHOAL_FENCE"
"""Prefix of the variables that name the parts to the starter; a browser gets none of them."""

_PIPE = (3, 4)
"""A browser's ends of its DevTools pipe: where calls come, and where answers go."""
_LONGEST_ADDRESS = 100
"""Characters of a socket's path; systems take 103 to 107."""

# linux/landlock.h
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_BY_VERSION = (0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1)
"""Everything that versions 1, 2 and 3 know of files; what later ones add is no reading."""
_OF_FILES = _EXECUTE | _WRITE | _READ | 1 << 14

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt/google", "/opt/chromium", "/nix/store", "/sys"),
    *("/etc/alternatives", "/etc/ca-certificates", "/etc/chromium", "/etc/chromium.d", "/etc/drirc", "/etc/fonts"),
    *("/etc/glvnd", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache", "/etc/localtime"),
    *("/etc/mime.types", "/etc/nsswitch.conf", "/etc/opt/chrome", "/etc/os-release", "/etc/passwd", "/etc/pki"),
    *("/etc/resolv.conf", "/etc/ssl", "/etc/timezone", "/etc/vulkan", "/run/systemd/resolve", "/var/cache/fontconfig"),
)
_FONTS = (".fonts", ".fonts.conf", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig")
"""In a person's home, of which nothing else is read."""
_WORKED_ON = ("/dev", "/proc")


def version() -> int:
    """The version of Landlock that this kernel has; 0 when it has none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_CREATE, None, 0, _VERSION_FLAG)))


def close(own: Iterable[str], readable: Iterable[str]) -> None:
    """Puts the fence around this process, which may work on what is its `own`, and read what is `readable`.

    Raises:
        OSError: the kernel refuses.
    """
    everything = _BY_VERSION[min(version(), len(_BY_VERSION) - 1)]
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(everything)
    rules = _checked(libc.syscall(_CREATE, ctypes.byref(handled), ctypes.sizeof(handled), 0))
    home = Path(os.environ.get("HOME", "/nonexistent"))
    for path in (*_SYSTEM, *(str(home / font) for font in _FONTS), *readable):
        _allow(libc, rules, path, _EXECUTE | _READ | _READ_FOLDER)
    for path in (*_WORKED_ON, *own):
        _allow(libc, rules, path, everything)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(libc: Any, rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        access &= _OF_FILES & _BY_VERSION[min(version(), 3)]
    _checked(libc.syscall(_ADD, rules, _PATH_BENEATH, ctypes.byref(_Beneath(access, place)), 0))
    os.close(place)


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


@contextmanager
def socket_address(path: str) -> Iterator[str]:
    """An address by which a socket in the file system is bound or reached, however long its path is."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield path
        return
    folder = os.open(Path(path).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{Path(path).name}"
    finally:
        os.close(folder)


def hand_over(path: str) -> None:
    """Hands the ends of this process's DevTools pipe over at a socket, and takes those that come back.

    Raises:
        OSError: no process listens there, or it hands nothing back.
    """
    with socket.socket(socket.AF_UNIX) as taker:
        with socket_address(path) as address:
            taker.connect(address)
        socket.send_fds(taker, [b"."], list(_PIPE))
        _, ends, _, _ = socket.recv_fds(taker, 1, len(_PIPE))
    if len(ends) != len(_PIPE):
        raise ConnectionError("the worker has not taken the browser's pipe over")
    for end, place in zip(ends, _PIPE, strict=True):
        os.dup2(end, place)
        os.close(end)


def main() -> None:
    own, program, *arguments = sys.argv[1:]
    profiles = [argument.partition("=")[2] for argument in arguments if argument.startswith("--user-data-dir=")]
    taker = os.environ.get(f"{VARIABLES}_PIPE", "")
    for name in [name for name in os.environ if name.startswith(VARIABLES)]:
        del os.environ[name]
    if taker:
        hand_over(taker)
    if own:
        os.environ["TMPDIR"] = own
        close((own, *profiles), (str(Path(program).resolve().parent),))
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main()
