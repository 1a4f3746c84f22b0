"""Python that may compute for ever, in a process of its own: there it has an end, and holds up nothing else.

A thread would not do. It holds Python's lock while it computes, so that the event loop stands, and it cannot be ended.
"""

from __future__ import annotations

import asyncio
import os
import sys

_PIECE = 1 << 16


async def run_module(module: str, *arguments: str, stdin: bytes = b"", within_s: float, most_bytes: int) -> bytes:
    """Return what a module of ours says on its standard output, up to `most_bytes`,
    until `within_s` is over.

    What was said until then counts; the module says with its last line whether it came to its end. It gets none of
    this process's environment.
    """
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # not our keys
    )
    assert child.stdin is not None and child.stdout is not None
    output = b""
    try:
        async with asyncio.timeout(within_s):
            child.stdin.write(stdin)
            await child.stdin.drain()
            child.stdin.close()
            while len(output) < most_bytes and (piece := await child.stdout.read(_PIECE)):
                output += piece
    except (TimeoutError, ConnectionError):
        pass  # what it said until then counts
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()
    return output[:most_bytes]
