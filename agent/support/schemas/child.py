"""The process that checks what may take long: schema and value in, verdict and faults out. It is ended from outside."""

from __future__ import annotations

import json
import sys

from shoal.agent.support.process_limits import limit_this_process
from shoal.agent.support.schemas.engine import compiled, faults, fits

_MEMORY_BYTES = 2 << 30
_CPU_S = 10  # in case the process that started it is gone
_MOST_FAULTS = 20


def main() -> None:
    """Reads two lines of JSON, writes `fits` or `misfit`, then the faults."""
    limit_this_process(memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S)
    validator, value = compiled(json.loads(sys.stdin.readline())), json.loads(sys.stdin.readline())
    if fits(validator, value):
        print("fits", flush=True)
        return
    print("misfit", flush=True)
    misfits = [
        (fault.path, fault.keyword, fault.message, fault.missing) for fault in faults(validator, value, _MOST_FAULTS)
    ]
    print(json.dumps(misfits), flush=True)


if __name__ == "__main__":
    main()
