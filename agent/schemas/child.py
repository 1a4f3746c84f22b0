"""The process that checks what may take long: schema and value in, verdict and faults out. It is ended from outside."""

from __future__ import annotations

import json
import resource
import sys

from shoal.agent.schemas.engine import compiled, faults, fits

_MEMORY_BYTES = 2 << 30
_CPU_S = 10  # in case the process that started it is gone
_MOST_FAULTS = 20


def main() -> None:
    """Reads two lines of JSON, writes `fits` or `misfit`, then the faults."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    validator, value = compiled(json.loads(sys.stdin.readline())), json.loads(sys.stdin.readline())
    if fits(validator, value):
        print("fits", flush=True)
        return
    print("misfit", flush=True)
    found = [(one.path, one.keyword, one.message, one.missing) for one in faults(validator, value, _MOST_FAULTS)]
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
