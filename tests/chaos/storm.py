"""`load-tests/chaos.py` as the tests run it."""

from __future__ import annotations

import json
import subprocess
import sys

from shoal.agent.support.json_value import Json
from tests.embedded import ROOT


def survived(*arguments: str) -> Json:
    """Return what the command tells after a storm with these arguments. The command itself holds what the site received
    against the store, and nothing of it may be wrong."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "load-tests" / "chaos.py"), *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1) and ran.stdout, ran.stderr[-20_000:]
    told: Json = json.loads(ran.stdout)
    assert told["wrong"] == [], "\n".join((*told["wrong"][:20], ran.stderr[-5_000:]))
    assert ran.returncode == 0
    return told
