"""The process that reads documents first: each as it comes in, what that cost out. It is ended from outside.

In: a line of JSON (`url`, `status`, `headers`, `arg`, `bytes`), then so many bytes of the body. Out: a line with the
seconds of CPU time that reading took.
"""

from __future__ import annotations

import json
import sys
import time

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.support.process_limits import limit_this_process

_MEMORY_BYTES = 2 << 30
_CPU_S = 600  # for all its documents; another process follows it. In case the one that started it is gone


def main() -> None:
    """Serves until its input ends."""
    limit_this_process(memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S)
    print("ready", flush=True)
    while line := sys.stdin.buffer.readline():
        told = json.loads(line)
        raw = RawDocument(told["url"], told["status"], told["headers"], sys.stdin.buffer.read(told["bytes"]))
        began = time.process_time()
        try:
            document = HtmlDocument(raw)
            if told["arg"] is not None:
                document.read(told["arg"])
        except BeyondDocument:
            pass  # that it says so is no cost
        print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main()
