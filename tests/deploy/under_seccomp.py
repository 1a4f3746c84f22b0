"""Runs a command as nobody under a seccomp profile of the container kind: python under_seccomp.py PROFILE COMMAND…

What a container runtime does with the profile, by libseccomp: first match of a name's rules wins, everything else is
refused with the profile's error number.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

_NOBODY = 65534
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_OPERATORS = {"SCMP_CMP_NE": 1, "SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}
_MINE = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}


class _Argument(ctypes.Structure):
    """`struct scmp_arg_cmp`."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def apply(profile: dict[str, Any]) -> None:
    """Puts this process and all below it under `profile`, for good."""
    assert _MINE[platform.machine()] in profile["architectures"]
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ERRNO | profile["defaultErrnoRet"])))
    for rule in profile["syscalls"]:
        allow = rule["action"] == "SCMP_ACT_ALLOW"
        action = ctypes.c_uint32(_ALLOW if allow else _ERRNO | rule["errnoRet"])
        arguments = (_Argument * len(rule.get("args", ())))(
            *(_Argument(a["index"], _OPERATORS[a["op"]], a["value"], 0) for a in rule.get("args", ()))
        )
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:  # negative: not of this architecture
                code = library.seccomp_rule_add_array(context, action, number, len(arguments), arguments)
                assert code == 0, (name, code)
    assert library.seccomp_load(context) == 0, "the kernel refused the profile"


def main() -> None:
    profile = json.loads(Path(sys.argv[1]).read_text())
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    apply(profile)  # sets no_new_privs too, as allowPrivilegeEscalation: false does
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
