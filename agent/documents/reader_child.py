"""The process that reads documents, one after another, and says what that cost. It is ended from outside.

In: a line of JSON (`url`, `status`, `headers`, `bytes`), a line of JSON with what is asked, then so many bytes of the
body. Out: a line with the number of bytes that follow, then JSON: `seconds` of CPU time that reading took, and `read`,
or `beyond` with the reason why only a browser can read the document.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from shoal.agent.documents.beyond import BeyondDocument
from shoal.agent.documents.document import HtmlDocument, RawDocument
from shoal.agent.support.process_limits import limit_this_process

_MEMORY_BYTES = 2 << 30
_CPU_S = 600  # for all its documents; another process follows it. In case the one that started it is gone


def main() -> None:
    """Serves until its input ends."""
    limit_this_process(memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S)
    out = sys.stdout.buffer
    out.write(b"ready\n")
    out.flush()
    last, arg = b"", dict[str, Any]()
    while line := sys.stdin.buffer.readline():
        request, asked = json.loads(line), sys.stdin.buffer.readline()
        if asked != last:
            last, arg = asked, json.loads(asked)
        raw = RawDocument(
            request["url"], request["status"], request["headers"], sys.stdin.buffer.read(request["bytes"])
        )
        began = time.process_time()
        try:
            answer: dict[str, Any] = {"read": HtmlDocument(raw).read(arg).to_json()}
        except BeyondDocument as beyond:
            answer = {"beyond": str(beyond)}
        encoded = json.dumps({**answer, "seconds": time.process_time() - began}).encode()
        out.write(b"%d\n" % len(encoded) + encoded)
        out.flush()


if __name__ == "__main__":
    main()
